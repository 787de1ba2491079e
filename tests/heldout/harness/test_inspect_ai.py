from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from rlchecks.errors import InputError
from rlchecks.heldout import ComparisonRequest, compare, read_rows
from rlchecks.heldout.harness.archive_file import ArchiveFile


def header(**changes: Any) -> dict[str, Any]:
    spec = {
        "task": "sums",
        "model": "vllm/policy",
        "dataset": {"name": "sums", "samples": 2, "sample_ids": ["q1", "q2"]},
        "config": {"epochs": 1},
        "scorers": [{"name": "match", "options": {}}],
    }
    spec.update(changes.pop("eval", {}))
    return {"version": 2, "status": "success", "eval": spec, **changes}


def sample(number: int, scores: Any, **changes: Any) -> dict[str, Any]:
    return {
        "id": f"q{number}",
        "epoch": 1,
        "input": f"What is {number}?",
        "target": str(number),
        "output": {"completion": str(number)},
        "scores": scores,
        **changes,
    }


def archive(members: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            packed.writestr(name, content if isinstance(content, bytes | str) else json.dumps(content))
    return out.getvalue()


def log(*samples: dict[str, Any], head: dict[str, Any] | None = None) -> bytes:
    members: dict[str, Any] = {f"samples/{one['id']}_epoch_{one['epoch']}.json": one for one in samples}
    return archive({"_journal/start.json": header(), **members, "header.json": header() if head is None else head})


C = {"value": "C", "answer": "x"}
I_ = {"value": "I", "answer": "x"}


def test_a_real_log_with_zstandard_members(logs: Path, scores: Any, mean: Any) -> None:
    path = logs / "inspect_ai/base/log.eval"
    with zipfile.ZipFile(path) as packed:
        assert {entry.compress_type for entry in packed.infolist()} == {93}
    rows = read_rows([path])
    found = scores(rows)
    assert set(found) == {("base", "match"), ("base", "model_graded_qa@mockllm/judge")}
    assert found["base", "match"] == {
        f"sums/q{number}#{epoch}": float(number < 2) for number in range(4) for epoch in (1, 2)
    }
    row = next(row for row in rows.table.to_pylist() if row["question_id"] == "sums/q1")
    assert row | {"prompt": "What is 1+1?", "target": "2", "answer": "2", "decoding": "greedy", "step": 0} == row
    facts = {one.name: one for one in rows.judges}
    assert (facts["match"].kind, facts["match"].models) == ("rule", ())
    graded = facts["model_graded_qa@mockllm/judge"]
    assert (graded.kind, graded.models) == ("model", ("mockllm/judge",))


def test_a_grade_that_cannot_be_read_is_unscored(logs: Path, scores: Any) -> None:
    found = scores(read_rows([logs / "inspect_ai/checkpoint-100/log.eval"]))
    graded = found["checkpoint-100", "model_graded_qa@mockllm/judge"]
    assert [question for question, score in graded.items() if score is None] == ["sums/q0#1", "sums/q0#2"]


def test_two_logs_are_compared_by_the_names_of_their_directories(logs: Path) -> None:
    rows = read_rows([logs / "inspect_ai/base", logs / "inspect_ai/checkpoint-100"])
    answer = compare(rows, ComparisonRequest(judges=(), graders_known=True))
    assert (answer.baseline, answer.candidate, answer.candidate_step) == ("base", "checkpoint-100", 100)
    assert answer.evidence["judge_chosen"] is False  # two judges, none of them named
    assert answer.decoding == "greedy"


def test_json_logs_read_like_archives(logs: Path, scores: Any) -> None:
    found = scores(read_rows([f"base={logs / 'inspect_ai/json/log.json'}"]))
    assert found == {("base", "match"): {"sums/q0#1": 1.0, "sums/q1#1": 1.0, "sums/q2#1": 0.0}}


def test_the_evaluated_model_judging_itself_is_refused(logs: Path, scores: Any) -> None:
    with pytest.raises(InputError, match=r"the evaluated model judged itself \(model_graded_qa\).*--model-role grader"):
        read_rows([logs / "inspect_ai/self/log.eval"])
    rows = read_rows([logs / "inspect_ai/self-and-rule/log.eval"])
    assert set(scores(rows)) == {("mockllm/model", "match")}
    assert any("judged itself (model_graded_qa); these scores are left out" in said for said in rows.warnings)


@pytest.mark.parametrize(
    ("roles", "refused"),
    [
        (None, True),
        ({"grader": {"model": "vllm/policy"}}, True),
        ({"grader": {"model": "openai/gpt-5"}}, False),
        ({"grader": {"model": "vllm/policy", "base_url": "http://other/v1"}}, False),
    ],
)
def test_without_events_the_roles_tell_who_judged(write: Any, scores: Any, roles: Any, refused: bool) -> None:
    spec = {"model_roles": roles, "scorers": [{"name": "model_graded_qa", "options": {}}]}
    path = write("x.eval", log(sample(1, {"model_graded_qa": C}), head=header(eval=spec)))
    if refused:
        with pytest.raises(InputError, match="judged itself"):
            read_rows([path])
    else:
        judge = f"model_graded_qa@{roles['grader']['model']}"
        assert set(scores(read_rows([path]))) == {("vllm/policy", judge)}


def test_events_of_the_answer_do_not_tell_who_scored_it_later(write: Any) -> None:
    solving = [{"event": "span_begin", "id": "a", "type": "solver"}, {"event": "model", "span_id": "a", "model": "x"}]
    spec = {"scorers": [{"name": "model_graded_qa", "options": {}}]}
    path = write("x.eval", log(sample(1, {"model_graded_qa": C}, events=solving), head=header(eval=spec)))
    with pytest.raises(InputError, match="judged itself"):
        read_rows([path])


def test_a_model_asked_deep_within_the_scorer_is_the_judge(write: Any, scores: Any) -> None:
    events = [
        {"event": "span_begin", "id": "a", "type": "scorer", "name": "own"},
        {"event": "span_begin", "id": "b", "parent_id": "a", "type": "agent", "name": "ask"},
        {"event": "model", "span_id": "b", "model": "openai/gpt-5"},
    ]
    rows = read_rows([write("x.eval", log(sample(1, {"own": C}, events=events)))])
    assert set(scores(rows)) == {("vllm/policy", "own@openai/gpt-5")}
    events[2]["model"] = "vllm/policy"
    with pytest.raises(InputError, match="judged itself"):
        read_rows([write("x.eval", log(sample(1, {"own": C}, events=events)))])
    old = [
        {"event": "step", "action": "begin", "type": "scorer", "name": "own"},
        {"event": "model", "model": "openai/gpt-5"},
        {"event": "step", "action": "end", "type": "scorer", "name": "own"},
        {"event": "model", "model": "vllm/policy"},
    ]
    rows = read_rows([write("x.eval", log(sample(1, {"own": C}, events=old)))])
    assert set(scores(rows)) == {("vllm/policy", "own@openai/gpt-5")}


def test_another_grader_is_another_judge(write: Any, scores: Any) -> None:
    for name, grader in (("base", "openai/gpt-5"), ("step_10", "anthropic/claude")):
        spec = {"model_roles": {"grader": {"model": grader}}, "scorers": [{"name": "model_graded_qa"}]}
        write(f"{name}/x.eval", log(sample(1, {"model_graded_qa": C}), head=header(eval=spec)))
    rows = read_rows([write("base/ignored.txt", b"").parent.parent])
    assert {judge for _, judge in scores(rows)} == {"model_graded_qa@openai/gpt-5", "model_graded_qa@anthropic/claude"}


@pytest.mark.parametrize(
    ("value", "score"),
    [
        ("C", 1.0),
        ("I", 0.0),
        ("P", 0.5),
        ("N", 0.0),
        (True, 1.0),
        (0.25, 0.25),
        ("0.5", 0.5),
        ("yes", 1.0),
        (None, None),
        (float("nan"), None),
        ("", None),
        ("N/A", None),
        ("blue", None),
        ([1, 0], None),
    ],
)
def test_values(write: Callable[..., Path], scores: Any, value: Any, score: float | None) -> None:
    given = [sample(1, {"match": {"value": value}}), sample(2, {"match": C})]
    rows = read_rows([write("x.eval", log(*given))])
    assert scores(rows)["vllm/policy", "match"] == {"sums/q1#1": score, "sums/q2#1": 1.0}
    assert bool(rows.warnings) == (value == "blue" or isinstance(value, list))


def test_parts_of_a_score_are_judges_of_their_own(logs: Path, scores: Any) -> None:
    rows = read_rows([logs / "inspect_ai/parts/log.eval"])
    found = scores(rows)
    assert set(found["mockllm/model", "parts/half"].values()) == {0.5}
    assert set(found["mockllm/model", "parts/none"].values()) == {None}
    assert set(found["mockllm/model", "parts/colour"].values()) == {None}
    assert any("'parts/colour' ('blue') cannot be read" in said for said in rows.warnings)


def test_what_is_missing_is_unscored_and_said(write: Any, scores: Any) -> None:
    half = log(sample(1, {"match": C}), head=header(status="cancelled"))
    rows = read_rows([write("x.eval", half)])
    assert scores(rows)["vllm/policy", "match"] == {"sums/q1#1": 1.0, "sums/q2#1": None}
    assert [said.split(": ", 1)[1] for said in rows.warnings] == [
        "the evaluation did not end well (status 'cancelled').",
        "1 planned answers are not in the log and count as unscored.",
    ]
    failed = log(sample(1, {"match": C}), sample(2, {}, error={"message": "no answer"}))
    assert scores(read_rows([write("y.eval", failed)]))["vllm/policy", "match"] == {"sums/q1#1": 1.0, "sums/q2#1": None}


def test_a_log_that_is_still_written_is_read_as_far_as_it_goes(write: Any, scores: Any) -> None:
    path = write(
        "x.eval", archive({"_journal/start.json": header(), "samples/q1_epoch_1.json": sample(1, {"match": C})})
    )
    rows = read_rows([path])
    assert scores(rows)["vllm/policy", "match"] == {"sums/q1#1": 1.0, "sums/q2#1": None}
    assert "status 'started'" in rows.warnings[0]


@pytest.mark.parametrize("status", ["cancelled", "error", "started", "success"])
def test_a_log_without_a_scored_answer_is_refused(write: Any, status: str) -> None:
    with pytest.raises(InputError, match=f"no scored answer.*{status}"):
        read_rows([write("x.eval", log(head=header(status=status)))])


def test_a_long_text_is_found_among_the_attachments(write: Any) -> None:
    given = sample(1, {"match": C}, input="attachment://abc", attachments={"abc": "the question"})
    given["output"] = {"choices": [{"message": {"content": [{"type": "text", "text": "the answer"}]}}]}
    row = read_rows([write("x.eval", log(given))]).table.to_pylist()[0]
    assert (row["prompt"], row["answer"]) == ("the question", "the answer")


def test_the_same_id_for_another_question_is_refused(write: Any) -> None:
    write("base/x.eval", log(sample(1, {"match": C}), sample(2, {"match": I_})))
    write("step_5/x.eval", log(sample(1, {"match": C}), sample(2, {"match": C}, input="Another question?")))
    rows = read_rows([write("step_5/note.txt", b"").parent.parent])
    with pytest.raises(InputError, match=r"1 of 2 questions are not the same for 'base' and 'step_5'.*'sums/q2'"):
        compare(rows, ComparisonRequest())


def test_members_never_name_a_path(write: Any, scores: Any, tmp_path: Path) -> None:
    given = sample(1, {"match": C})
    members = {"header.json": header(), "samples/../../../etc/passwd_epoch_1.json": given, "/samples/q2.json": given}
    rows = read_rows([write("x.eval", archive(members))])
    assert scores(rows)["vllm/policy", "match"]["sums/q1#1"] == 1.0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.eval"]


def zstandard(name: str, frames: list[bytes], size: int | None = None) -> bytes:
    """An archive whose one member is packed as Zstandard frames."""
    content = b"".join(frames)
    packed = b"".join(pa.compress(frame, codec="zstd", asbytes=True) for frame in frames)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr(name, packed)
    data = bytearray(out.getvalue())
    real = zlib.crc32(content)
    for signature, method, crc, length in ((b"PK\x03\x04", 8, 14, 22), (b"PK\x01\x02", 10, 16, 24)):
        at = data.index(signature)
        data[at + method : at + method + 2] = (93).to_bytes(2, "little")
        data[at + crc : at + crc + 4] = real.to_bytes(4, "little")
        data[at + length : at + length + 4] = (len(content) if size is None else size).to_bytes(4, "little")
    return bytes(data)


def test_members_of_several_frames_are_read_whole() -> None:
    frames = [b'{"a": 1,', b' "b": 2}']
    assert ArchiveFile(zstandard("x", frames), Path("x.eval")).read("x") == b"".join(frames)


@pytest.mark.parametrize("size", [5, 100, 2**31])
def test_a_member_that_lies_about_its_size_is_refused(size: int) -> None:
    with pytest.raises(InputError, match=r"checksum does not match|larger than is read"):
        ArchiveFile(zstandard("x", [b"0" * 16], size), Path("x.eval")).read("x")


def test_a_bomb_is_not_unpacked() -> None:
    with pytest.raises(InputError, match="checksum does not match"):
        ArchiveFile(zstandard("x", [b"\0" * 200_000_000], 1000), Path("x.eval")).read("x")
    many = ArchiveFile(archive({f"{number}": b"\0" * 1000 for number in range(3)}), Path("x.eval"))
    for entry in many._entries.values():
        entry.file_size = 2**28
    with pytest.raises(InputError):
        many.read("0")


def test_an_encrypted_or_unknown_member_is_refused() -> None:
    data = bytearray(archive({"x": b"content"}))
    at = data.index(b"PK\x01\x02")
    for place, value, problem in ((at + 8, 1, "encrypted"), (at + 10, 14, "method 14 is not known")):
        changed = bytearray(data)
        changed[place] = value
        with pytest.raises(InputError, match=problem):
            ArchiveFile(bytes(changed), Path("x.eval")).read("x")
