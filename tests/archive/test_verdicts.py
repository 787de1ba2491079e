from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import pytest

from rlchecks.archive import Archive, Refusal
from rlchecks.errors import ArchiveError

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def test_verdicts_come_back_in_the_order_in_which_they_were_made(archive: Archive, worker: ModuleType) -> None:
    assert archive.write_verdict(worker.verdict("b", "2", created_at=NOON))
    assert archive.write_verdict(worker.verdict("a", "9", created_at=NOON.replace(hour=1)))
    assert archive.write_verdict(worker.verdict("a", "1", created_at=NOON.replace(hour=23)))
    assert archive.verdicts()["id"].to_pylist() == ["9", "2", "1"]
    assert archive.verdicts("a")["id"].to_pylist() == ["9", "1"]
    assert archive.verdicts("A")["id"].to_pylist() == ["9", "1"]
    assert archive.verdicts("c").num_rows == 0


def test_the_same_verdict_again_changes_nothing(archive: Archive, worker: ModuleType) -> None:
    archive.write_verdict(worker.verdict("run", "1", created_at=NOON))
    (path,) = (Path(archive.root) / "verdicts").iterdir()
    before = path.stat()
    assert not archive.write_verdict(worker.verdict("run", "1", created_at=NOON))
    assert not archive.write_verdict(worker.verdict("run", "1", created_at=NOON.replace(hour=13)))
    assert path.stat() == before
    assert archive.verdicts()["created_at"].to_pylist() == [NOON]


@pytest.mark.parametrize("other", [{"decision": "PROMOTE"}, {"document": '{"a": 1}'}, {"candidate_identity": "x"}])
def test_a_verdict_is_never_changed(archive: Archive, worker: ModuleType, other: dict[str, str]) -> None:
    archive.write_verdict(worker.verdict("run", "1"))
    with pytest.raises(ArchiveError, match="never changed"):
        archive.write_verdict(worker.verdict("run", "1", **other))
    assert archive.verdicts()["decision"].to_pylist() == ["HOLD"]


def test_run_and_verdict_ids_with_dots_do_not_mix(archive: Archive, worker: ModuleType) -> None:
    for run_id, verdict_id in [("a", "b.c"), ("a.b", "c"), ("a.b.c", "d"), ("a", "%2e")]:
        assert archive.write_verdict(worker.verdict(run_id, verdict_id))
    assert sorted(archive.verdicts("a")["id"].to_pylist()) == ["%2e", "b.c"]
    assert archive.verdicts("a.b")["id"].to_pylist() == ["c"]


@pytest.mark.parametrize("row", [{"run_id": "run"}, {"id": "1"}, {"run_id": "run", "id": "1", "verdict": "PROMOTE"}])
def test_a_row_that_is_no_verdict_is_refused(archive: Archive, row: dict[str, str]) -> None:
    with pytest.raises(ArchiveError, match="cannot be archived"):
        archive.write_verdict(row)


def test_a_damaged_verdict_is_never_skipped_in_silence(archive: Archive, worker: ModuleType) -> None:
    for verdict_id in ("1", "2"):
        archive.write_verdict(worker.verdict("run", verdict_id))
    path = Path(archive.root) / "verdicts" / "run.1.parquet"
    path.write_bytes(b"PAR1")
    with pytest.raises(ArchiveError, match=r"run\.1\.parquet is damaged.*restore it from a backup"):
        archive.verdicts()
    refused: list[Refusal] = []
    assert archive.verdicts(refused=refused)["id"].to_pylist() == ["2"]
    assert [refusal.run_id for refusal in refused] == ["run.1"]
