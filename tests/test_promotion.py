from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlchecks import ledger
from rlchecks.checkpoint import Checkpoint
from rlchecks.errors import InputError, RlchecksError, UsageError
from rlchecks.promotion import promote
from rlchecks.verdict import content_sha256

CHECKPOINT = Checkpoint("file:///models/run/checkpoint-30", "ab" * 32, 3, 99)


def verdict(decision: str = "PROMOTE", checkpoint: Checkpoint | None = CHECKPOINT, **fields: Any) -> dict[str, Any]:
    document: dict[str, Any] = {
        "version": 1,
        "created_at": "2026-01-01T00:00:00+00:00",
        "decision": decision,
        "run": {"id": "run-1"},
        "candidate": "checkpoint-30",
        "checkpoint": None if checkpoint is None else {"uri": checkpoint.uri, "sha256": checkpoint.sha256},
        "provenance": {"rlchecks": "0.1.0", "command": "rlchecks gate"},
        **fields,
    }
    return {**document, "id": content_sha256(document)[:16]}


def other(number: int) -> tuple[dict[str, Any], Checkpoint]:
    checkpoint = Checkpoint(f"file:///models/{number}", f"{number:064x}", 1, 1)
    return verdict(checkpoint=checkpoint), checkpoint


def lines(target: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (target / "ledger.jsonl").read_text().splitlines()]


def state(target: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in target.iterdir()} if target.exists() else {}


def test_a_promotion_is_pointed_to_and_recorded(tmp_path: Path) -> None:
    target = tmp_path / "models" / "production"
    document = verdict()
    done = promote(target, document, CHECKPOINT, who="ada")
    assert done == (target / "promoted.json", target / "ledger.jsonl", True)
    (line,) = lines(target)
    assert line.pop("at")
    assert line == {
        "version": 1,
        "who": "ada",
        "decision": "PROMOTE",
        "override": None,
        "run_id": "run-1",
        "candidate": "checkpoint-30",
        "checkpoint_uri": CHECKPOINT.uri,
        "candidate_sha256": CHECKPOINT.sha256,
        "verdict_id": document["id"],
        "verdict_sha256": content_sha256(document),
    }
    assert json.loads(done.pointer.read_text()) == lines(target)[0]


def test_the_same_promotion_again_changes_nothing(tmp_path: Path) -> None:
    promote(tmp_path, verdict(), CHECKPOINT, who="ada")
    before = state(tmp_path)
    # The same evidence on another day, by another command, promoted by another person.
    later = verdict() | {"created_at": "2026-02-02T00:00:00+00:00", "orchestrator": "recorded"}
    assert not promote(tmp_path, later, CHECKPOINT, who="bob", override="once more").changed
    assert state(tmp_path) == before


def test_a_return_to_an_earlier_checkpoint_gets_its_own_line(tmp_path: Path) -> None:
    for number in (1, 2, 1):
        assert promote(tmp_path, *other(number), who="ada").changed
    assert [line["candidate_sha256"][-1] for line in lines(tmp_path)] == ["1", "2", "1"]
    assert json.loads((tmp_path / "promoted.json").read_text())["checkpoint_uri"] == "file:///models/1"


@pytest.mark.parametrize("decision", ["HOLD", "REJECT"])
@pytest.mark.parametrize("override", [None, "", "  \n"])
def test_without_a_reason_only_promote_promotes(tmp_path: Path, decision: str, override: str | None) -> None:
    with pytest.raises(UsageError, match=rf"is {decision}.*--override"):
        promote(tmp_path / "t", verdict(decision), CHECKPOINT, override=override)
    assert state(tmp_path / "t") == {}


def test_an_override_stays_in_the_ledger_for_ever(tmp_path: Path) -> None:
    reason = 'customer demo\n{"decision": "PROMOTE"}\x1b[31m'
    assert promote(tmp_path, verdict("REJECT"), CHECKPOINT, override=reason, who="ada").changed
    promote(tmp_path, *other(1), who="bob")
    first, second = lines(tmp_path)
    assert (first["decision"], first["override"], first["who"]) == ("REJECT", reason, "ada")
    assert (second["decision"], second["override"]) == ("PROMOTE", None)


def test_a_candidate_whose_files_are_unknown_is_not_promoted(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--checkpoint"):
        promote(tmp_path / "t", verdict(), None)
    with pytest.raises(UsageError, match=r"does not say which files.*--checkpoint"):
        promote(tmp_path / "t", verdict(checkpoint=None), CHECKPOINT, override="please")
    with pytest.raises(UsageError, match="is not the one that was judged"):
        promote(tmp_path / "t", verdict(), CHECKPOINT._replace(sha256="cd" * 32), override="please")
    assert state(tmp_path / "t") == {}


EDITS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "empty": lambda d: d.clear(),
    "decision changed": lambda d: d.update(decision="PROMOTE"),
    "checkpoint changed": lambda d: d.update(checkpoint={"uri": "x", "sha256": "cd" * 32}),
    "checkpoint removed": lambda d: d.pop("checkpoint"),
    "candidate removed": lambda d: d.pop("candidate"),
    "run removed": lambda d: d.pop("run"),
    "run is text": lambda d: d.update(run="run-1"),
    "provenance removed": lambda d: d.pop("provenance"),
    "provenance is text": lambda d: d.update(provenance="x"),
    "id removed": lambda d: d.pop("id"),
    "id changed": lambda d: d.update(id="0" * 16),
    "version changed": lambda d: d.update(version=2),
    "not a number": lambda d: d.update(comparison={"difference": float("nan")}),
    "finding added": lambda d: d.update(findings=[]),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_override_does_not_promote_an_unreadable_or_edited_verdict(tmp_path: Path, edit: str) -> None:
    document = verdict("HOLD")
    EDITS[edit](document)
    with pytest.raises(InputError, match="gate the run again"):
        promote(tmp_path / "t", document, CHECKPOINT, override="please")
    assert state(tmp_path / "t") == {}


@pytest.mark.parametrize(
    "fields",
    [{"decision": "MAYBE"}, {"decision": ["PROMOTE"]}, {"candidate": ""}, {"run": {"id": None}}, {"version": 9}],
)
def test_a_verdict_that_says_nothing_is_refused_even_if_its_id_fits(tmp_path: Path, fields: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        promote(tmp_path / "t", verdict(**fields), CHECKPOINT, override="please")


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(key=st.sampled_from(sorted(verdict())), value=JSON)
def test_whatever_stands_in_a_hold_nothing_is_promoted(tmp_path: Path, key: str, value: Any) -> None:
    document = verdict("HOLD") | {key: value}
    with pytest.raises(RlchecksError):
        promote(tmp_path / "t", document, CHECKPOINT)
    assert state(tmp_path / "t") == {}


def die(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_crash_between_ledger_and_pointer_is_repaired(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    promote(tmp_path, *other(1), who="ada")
    with monkeypatch.context() as crash:
        crash.setattr(ledger, "replace", die)
        with pytest.raises(KeyboardInterrupt):
            promote(tmp_path, *other(2), who="ada")
    assert len(lines(tmp_path)) == 2
    assert json.loads((tmp_path / "promoted.json").read_text()) == lines(tmp_path)[0]
    assert promote(tmp_path, *other(2), who="ada").changed
    assert len(lines(tmp_path)) == 2
    assert json.loads((tmp_path / "promoted.json").read_text()) == lines(tmp_path)[1]
    assert not promote(tmp_path, *other(2)).changed


def test_a_crash_before_the_ledger_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    promote(tmp_path, *other(1), who="ada")
    before = state(tmp_path)
    write = os.write
    with monkeypatch.context() as full_disk:
        full_disk.setattr(os, "write", lambda handle, line: write(handle, line[:10]))
        with pytest.raises(UsageError, match="the disk is full"):
            promote(tmp_path, *other(2), who="ada")
    assert state(tmp_path) == before


@pytest.mark.parametrize(
    ("damage", "where"),
    [
        (lambda text: text[:-1], "line 2: the ledger is damaged, it ends in the middle"),
        (lambda text: text[:-40], "line 2: the ledger is damaged, it ends in the middle"),
        (lambda text: "\n" + text, "line 1: the ledger is damaged, it is no JSON"),
        (
            lambda text: text.replace('"override": null', '"override": 3', 1),
            "line 1: .* no line that a promotion wrote",
        ),
        (lambda text: text.replace('"override": null, ', "", 1), "line 1: .* no line that a promotion wrote"),
        (lambda text: text + "[]\n", "line 3: .* no line that a promotion wrote"),
        (lambda text: text.replace('"version": 1', '"version": 7'), "line 1: version 7 is not known"),
        (lambda text: "", "promotion that promoted.json names is not in the ledger"),
        (lambda text: text.split("\n")[0] + "\n", "promotion that promoted.json names is not in the ledger"),
    ],
)
def test_a_damaged_ledger_is_refused_and_left_alone(tmp_path: Path, damage: Callable[[str], str], where: str) -> None:
    for number in (1, 2):
        promote(tmp_path, *other(number), who="ada")
    path = tmp_path / "ledger.jsonl"
    path.write_text(damage(path.read_text()))
    before = state(tmp_path)
    with pytest.raises(InputError, match=where):
        promote(tmp_path, *other(3))
    assert state(tmp_path) == before


def test_a_ledger_that_was_deleted_is_missed(tmp_path: Path) -> None:
    promote(tmp_path, *other(1))
    (tmp_path / "ledger.jsonl").unlink()
    with pytest.raises(InputError, match="not in the ledger"):
        promote(tmp_path, *other(1))


@pytest.mark.parametrize("content", [b"", b"{", b"{}", b"\xff"])
def test_an_unreadable_pointer_is_written_anew_from_the_ledger(tmp_path: Path, content: bytes) -> None:
    pointer = promote(tmp_path, *other(1)).pointer
    whole = pointer.read_bytes()
    pointer.write_bytes(content)
    assert promote(tmp_path, *other(1)).changed
    assert pointer.read_bytes() == whole
    assert len(lines(tmp_path)) == 1


def test_a_target_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be recorded here"):
        promote(tmp_path / "file", verdict(), CHECKPOINT)


def test_promotions_at_once_lose_no_line(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")

    def work(first: int) -> None:
        for number in range(first, first + 10):
            promote(tmp_path, *other(number), who=str(first))

    processes = [context.Process(target=work, args=(first,)) for first in range(0, 40, 10)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    assert sorted(int(line["candidate_sha256"], 16) for line in lines(tmp_path)) == list(range(40))
    assert json.loads((tmp_path / "promoted.json").read_text()) == lines(tmp_path)[-1]
