from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow.parquet as pq
import pytest

from rlchecks.archive import Archive, Refusal
from rlchecks.errors import ArchiveError

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def test_verdicts_come_back_in_the_order_in_which_they_were_made(archive: Archive, worker: ModuleType) -> None:
    made = [worker.verdict("b", "2", created_at=NOON), worker.verdict("a", "9", created_at=NOON.replace(hour=1))]
    made.append(worker.verdict("a", "1", created_at=NOON.replace(hour=23)))
    assert all(archive.write_verdict(row) for row in made)
    second, first, third = (row["id"] for row in made)
    assert archive.verdicts()["id"].to_pylist() == [first, second, third]
    assert archive.verdicts("a")["id"].to_pylist() == [first, third]
    assert archive.verdicts("A")["id"].to_pylist() == [first, third]
    assert archive.verdicts("c").num_rows == 0


def test_the_same_verdict_again_changes_nothing(archive: Archive, worker: ModuleType) -> None:
    archive.write_verdict(worker.verdict("run", "1", created_at=NOON))
    (path,) = (Path(archive.root) / "verdicts").iterdir()
    before = path.stat()
    assert not archive.write_verdict(worker.verdict("run", "1", created_at=NOON))
    assert not archive.write_verdict(worker.verdict("run", "1", created_at=NOON.replace(hour=13)))
    assert path.stat() == before
    assert archive.verdicts()["created_at"].to_pylist() == [NOON]


@pytest.mark.parametrize("other", [{"family": "rubric"}, {"heldout_set": "x"}, {"candidate_identity": "x"}])
def test_a_verdict_is_never_changed(archive: Archive, worker: ModuleType, other: dict[str, str]) -> None:
    archive.write_verdict(worker.verdict("run", "1"))
    with pytest.raises(ArchiveError, match="never changed"):
        archive.write_verdict(worker.verdict("run", "1", **other))
    assert archive.verdicts()["family"].to_pylist() == ["exact"]


def test_run_ids_with_dots_do_not_mix(archive: Archive, worker: ModuleType) -> None:
    rows = [worker.verdict(run_id, "1") for run_id in ("a", "a.b", "a.b.c")]
    assert all(archive.write_verdict(row) for row in rows)
    assert [archive.verdicts(row["run_id"])["id"].to_pylist() for row in rows] == [[row["id"]] for row in rows]


@pytest.mark.parametrize("row", [{"run_id": "run"}, {"id": "1"}, {"run_id": "run", "id": "1", "verdict": "PROMOTE"}])
def test_a_row_that_is_no_verdict_is_refused(archive: Archive, row: dict[str, str]) -> None:
    with pytest.raises(ArchiveError, match="cannot be archived"):
        archive.write_verdict(row)


# What an edited row says, and what is found to be wrong with it.
EDITS: list[tuple[dict[str, Any], str]] = [
    ({"document": '{"decision":"PROMOTE"}'}, "document_sha256 is not the SHA-256 of its document"),
    ({"document_sha256": None}, "document_sha256 is not the SHA-256 of its document"),
    ({"document": None}, "document_sha256 is not the SHA-256 of its document"),
    ({"id": "0123456789abcdef"}, "id is not the first 16 digits"),
    ({"decision": "PROMOTE"}, "decision is not the one in its document"),
    ({"candidate": "c2"}, "candidate is not the one in its document"),
    ({"run_id": "other"}, "run_id is not the one in its document"),
    (
        {
            "document": "[]",
            "document_sha256": hashlib.sha256(b"[]").hexdigest(),
            "id": hashlib.sha256(b"[]").hexdigest()[:16],
        },
        "document is no JSON object",
    ),
]


@pytest.mark.parametrize(("edit", "problem"), EDITS)
def test_a_verdict_that_contradicts_its_document_is_refused(
    archive: Archive, worker: ModuleType, edit: dict[str, Any], problem: str
) -> None:
    sound, row = worker.verdict("run", "2"), worker.verdict("run", "1")
    with pytest.raises(ArchiveError, match=f"cannot be archived because its {problem}"):
        archive.write_verdict(row | edit)
    for verdict in (row, sound):
        archive.write_verdict(verdict)
    path = Path(archive.root) / "verdicts" / f"run.{row['id']}.parquet"
    written = pq.read_table(path)
    pq.write_table(written.from_pylist([written.to_pylist()[0] | edit], schema=written.schema), path)
    with pytest.raises(ArchiveError, match=rf"{path.name} is damaged \(its {problem}"):
        archive.verdicts()
    refused: list[Refusal] = []
    assert archive.verdicts(refused=refused)["id"].to_pylist() == [sound["id"]]
    assert [refusal.run_id for refusal in refused] == [path.stem]


def test_a_verdict_under_another_name_or_twice_in_a_file_is_refused(archive: Archive, worker: ModuleType) -> None:
    row = worker.verdict("run", "1")
    archive.write_verdict(row)
    path = Path(archive.root) / "verdicts" / f"run.{row['id']}.parquet"
    other = path.rename(path.with_name(f"other.{row['id']}.parquet"))
    with pytest.raises(ArchiveError, match="of another file name"):
        archive.verdicts("other")
    written = pq.read_table(other)
    pq.write_table(written.take([0, 0]), other)
    with pytest.raises(ArchiveError, match="2 rows instead of one"):
        archive.verdicts()


def test_a_damaged_verdict_is_never_skipped_in_silence(archive: Archive, worker: ModuleType) -> None:
    damaged, sound = worker.verdict("run", "1"), worker.verdict("run", "2")
    for verdict in (damaged, sound):
        archive.write_verdict(verdict)
    path = Path(archive.root) / "verdicts" / f"run.{damaged['id']}.parquet"
    path.write_bytes(b"PAR1")
    with pytest.raises(ArchiveError, match=rf"{path.name} is damaged.*restore it from a backup"):
        archive.verdicts()
    refused: list[Refusal] = []
    assert archive.verdicts(refused=refused)["id"].to_pylist() == [sound["id"]]
    assert [refusal.run_id for refusal in refused] == [path.stem]


LATER = ["heldout_sketch", "other_answers", "choose_on"]


def test_a_verdict_of_an_older_release_is_read(archive: Archive, worker: ModuleType) -> None:
    row = worker.verdict("run", "1")
    archive.write_verdict(row)
    path = Path(archive.root) / "verdicts" / f"run.{row['id']}.parquet"
    pq.write_table(pq.read_table(path).drop_columns(LATER), path)
    (found,) = archive.verdicts().to_pylist()
    assert found["id"] == row["id"]
    assert [found[name] for name in LATER] == [None, None, None]
    assert archive.sql("select count(*) as n from verdicts where other_answers is null").to_pylist() == [{"n": 1}]
