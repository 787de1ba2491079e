"""Which files are read, and which checkpoint they are of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rlchecks.errors import InputError, UsageError
from rlchecks.heldout import read_rows
from rlchecks.heldout.harness.places import names_for, step_of
from rlchecks.heldout.harness.registry import formats, named


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("checkpoint-120", 120),
        ("out/checkpoint-7", 7),
        ("global_step_40", 40),
        ("step40", 40),
        ("ckpt_3", 3),
        ("base", 0),
        ("models/baseline", 0),
        ("qwen-2024", None),
        ("my-checkpoint-7", None),
        ("checkpoint-", None),
        ("checkpoint-" + "9" * 30, None),
        ("", None),
    ],
)
def test_steps_in_names(name: str, step: int | None) -> None:
    assert step_of(name) == step


@pytest.mark.parametrize(
    ("logs", "names"),
    [
        # A directory called like a checkpoint counts more than a model's name that both logs share ...
        ([("base/a.eval", "served"), ("step_9/a.eval", "served")], ["base", "step_9"]),
        # ... but not where logs of two models lie in such a directory.
        ([("base/a.eval", "one"), ("base/b.eval", "two")], ["one", "two"]),
        ([("x/a.eval", "one"), ("x/b.eval", "two")], ["one", "two"]),
        ([("x/a.eval", "out/checkpoint-3"), ("x/b.eval", "Qwen/Qwen3-8B")], ["checkpoint-3", "Qwen/Qwen3-8B"]),
        ([("x/a", "sft/checkpoint-3"), ("x/b", "grpo/checkpoint-3")], ["sft/checkpoint-3", "grpo/checkpoint-3"]),
        ([("x/new.jsonl", None)], ["new"]),
    ],
)
def test_names_of_checkpoints(logs: list[tuple[str, str | None]], names: list[str]) -> None:
    assert names_for([(Path("/somewhere") / path, model) for path, model in logs]) == names


def answer(number: int = 1, **changes: Any) -> dict[str, Any]:
    return {"id": f"t{number}", "prompt": "p", "raw_generation": "g", "correct": True, **changes}


def test_logs_are_found_below_a_directory_and_row_files_only_in_it(write: Any) -> None:
    row = {"question_id": "a", "checkpoint": "x", "judge": "j", "score": 1}
    write("rows.jsonl", [row])
    write("deep/rows.jsonl", [row | {"question_id": "b"}])
    write("deep/er/base/eval_samples.jsonl", [answer()])
    write("deep/.hidden/eval_samples.jsonl", [answer(2)])
    top = write("notes.txt", b"").parent
    assert sorted(read_rows([top]).table["question_id"].to_pylist()) == ["a", "t1"]


def test_links_to_directories_are_not_followed(write: Any, tmp_path: Path) -> None:
    write("elsewhere/base/eval_samples.jsonl", [answer()])
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "loop").symlink_to(tmp_path / "logs")
    (tmp_path / "logs" / "out").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="no evaluation logs"):
        read_rows([tmp_path / "logs"])


def test_a_directory_can_be_declared_as_a_whole(write: Any, scores: Any) -> None:
    folder = write("x/eval_samples.jsonl", [answer()]).parent
    assert set(scores(read_rows([f"checkpoint-3={folder}"]))) == {("checkpoint-3", "correct")}


def test_the_same_answers_in_two_logs_are_refused(write: Any) -> None:
    one = write("base/eval_samples.jsonl", [answer()])
    other = write("copy/base/eval_samples.jsonl", [answer()])
    with pytest.raises(UsageError, match=r"both hold answers of 'base' to question 't1'.*--heldout NAME=PATH"):
        read_rows([one, other])
    assert read_rows([one, f"new={other}"]).table["checkpoint"].to_pylist() == ["base", "new"]


def test_a_log_that_is_given_twice_is_read_once(write: Any) -> None:
    path = write("base/eval_samples.jsonl", [answer()])
    assert read_rows([path, path.parent, f"new={path}"]).table["checkpoint"].to_pylist() == ["base"]


def test_a_question_twice_in_one_log_stays_twice(write: Any) -> None:
    # So that the comparison counts it as a duplicate.
    assert len(read_rows([write("base/eval_samples.jsonl", [answer(), answer()])]).table) == 2


def test_logs_and_rows_can_be_given_together(write: Any, scores: Any) -> None:
    row = {"question_id": "t1", "checkpoint": "base", "judge": "person", "score": 0}
    rows = read_rows([write("rows.jsonl", [row]), write("base/eval_samples.jsonl", [answer()])])
    assert scores(rows) == {("base", "person"): {"t1": 0.0}, ("base", "correct"): {"t1": 1.0}}


def test_rows_of_every_checkpoint_keep_the_file_they_came_from(write: Any) -> None:
    rows = read_rows(
        [write(f"{name}/eval_samples.jsonl", [answer(correct=name == "base")]) for name in ("base", "new")]
    )
    assert rows.table["source_sha256"].to_pylist() == [file.sha256 for file in rows.inputs]


def test_every_format_has_a_name_of_its_own() -> None:
    names = [one.name for one in formats()]
    assert len(names) == len(set(names))
    for name in ("x.eval", "samples_x_2026.jsonl", "details_x.parquet", "annotations.json", "gpt-4_single.jsonl"):
        assert named(name)
    assert not named("rows.jsonl")


def test_a_log_cannot_be_of_two_checkpoints(write: Any) -> None:
    path = write("x/eval_samples.jsonl", [answer()])
    with pytest.raises(InputError, match=r"given as the answers of 'base' and as 'checkpoint-120'"):
        read_rows([f"base={path.parent}", f"checkpoint-120={path.parent}"])


def test_answers_that_were_cut_off_are_told_of_their_checkpoint(write: Any) -> None:
    rows = read_rows([write("base/eval_samples.jsonl", [answer() | {"truncated": True}])])
    assert rows.warnings == ("base: eval_samples.jsonl: 1 of 1 answers were cut off at the length limit.",)
