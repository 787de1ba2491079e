"""Writers that die at any moment, and many at once: a reader finds the old or the new version of a run, whole."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pytest

from rlchecks.archive import Archive, reading
from rlchecks.archive.listing import require
from rlchecks.archive.store import Writer

WORKER = Path(__file__).with_name("worker.py")
KILLS = 30

Strays = Callable[[], set[str]]


class Death(BaseException):
    """Stands for the end of the process: nothing in the package catches it."""


@pytest.fixture
def deadly(monkeypatch: pytest.MonkeyPatch) -> Callable[[int | None], list[str]]:
    """Function: let the writer die at its n-th operation, a file half written; returns the operations done."""
    done: list[str] = []
    limit: list[int | None] = [None]

    def dying(name: str, original: Callable[..., None]) -> Callable[..., None]:
        def operate(self: Writer, *args: object) -> None:
            if limit[0] is not None and len(done) == limit[0]:
                if name == "put":
                    path, data = args
                    assert isinstance(data, pa.Buffer)
                    original(self, path, data.slice(0, data.size // 2))
                raise Death
            done.append(name)
            original(self, *args)

        return operate

    for name in ("put", "flush", "move", "delete"):
        monkeypatch.setattr(Writer, name, dying(name, getattr(Writer, name)))

    def arm(operation: int | None) -> list[str]:
        done.clear()
        limit[0] = operation
        return done

    return arm


def rows_of(archive: Archive, run_id: str) -> int | None:
    """The version of a run, after checking that all its tables are of this one version."""
    if not archive.has(run_id):
        return None
    run = archive.read_run(run_id)
    assert run.planned_steps == run.steps.num_rows == run.completions.num_rows == run.validation.num_rows
    return run.steps.num_rows


def test_death_at_any_operation_leaves_the_old_or_the_new_version(
    tmp_path: Path, worker: ModuleType, deadly: Callable[[int | None], list[str]]
) -> None:
    outcomes = set()
    for operation in range(1000):
        archive = Archive(tmp_path / str(operation))
        archive.write_run(worker.make_run("other", 3))
        archive.write_run(worker.make_run("victim", 2))
        archive.write_signals("victim", pa.table({"run_id": ["victim"]}))
        deadly(operation)
        try:
            archive.write_run(worker.make_run("victim", 5))
        except Death:
            finished = False
        else:
            finished = True
        deadly(None)
        version = rows_of(archive, "victim")
        assert version in (2, 5)
        # Signals belong to the steps they were computed from.
        assert archive.signals().num_rows == (1 if version == 2 else 0)
        assert rows_of(archive, "other") == 3
        outcomes.add((finished, version))
        if finished:
            break
    assert outcomes == {(False, 2), (False, 5), (True, 5)}


def test_death_at_any_operation_of_a_first_write_leaves_nothing_or_all(
    tmp_path: Path, worker: ModuleType, deadly: Callable[[int | None], list[str]]
) -> None:
    versions = []
    for operation in range(1000):
        archive = Archive(tmp_path / str(operation))
        deadly(operation)
        try:
            archive.write_run(worker.make_run("victim", 5))
        except Death:
            versions.append(rows_of(archive, "victim"))
        else:
            break
    assert versions[0] is None
    assert set(versions) == {None, 5}
    assert versions == sorted(versions, key=bool)


@pytest.mark.parametrize("later", ["the same", "grown", "bare"])
def test_the_next_write_clears_what_a_death_left(
    archive: Archive, worker: ModuleType, deadly: Callable[[int | None], list[str]], strays: Strays, later: str
) -> None:
    operations = len(deadly(None))
    for operation in range(1000):
        run_id = f"victim-{operation}"
        archive.write_run(worker.make_run(run_id, 2))
        deadly(operation)
        try:
            archive.write_run(worker.make_run(run_id, 5))
        except Death:
            operations = operation
        deadly(None)
        if later == "bare":
            empty = worker.make_run(run_id, 0)
            archive.write_run(worker.make_run(run_id, 6, completions=empty.completions, validation=empty.validation))
        else:
            archive.write_run(worker.make_run(run_id, 5 if later == "the same" else 6))
        assert strays() == set()
        if operations < operation:
            break
    assert operations > 10


def test_an_order_that_survives_a_loss_of_power(
    archive: Archive, worker: ModuleType, deadly: Callable[[int | None], list[str]]
) -> None:
    archive.write_run(worker.make_run("run", 2))
    done = deadly(None)
    archive.write_run(worker.make_run("run", 5))
    order = [name for name in done if name != "delete"]
    # Three tables: written, flushed, renamed, their directories flushed; only then the runs file, the same way.
    three = ["put"] * 3 + ["flush"] * 3 + ["move"] * 3 + ["flush"] * 3
    assert order == [*three, "put", "flush", "move", "flush"]
    last_move = len(done) - 1 - done[::-1].index("move")
    assert done[last_move + 1 :] == ["flush"] + ["delete"] * 3


def test_a_reader_with_an_old_listing_reads_the_new_version(archive: Archive, worker: ModuleType) -> None:
    archive.write_run(worker.make_run("run", 2))
    store = archive._store
    old = require(store, "run")
    archive.write_run(worker.make_run("run", 5))
    table = reading.consistent(store, old, lambda listing: reading.read_listed(store, listing, "steps"))
    assert table.num_rows == 5


def test_kill_9_at_random_moments(archive: Archive, worker: ModuleType, strays: Strays) -> None:
    archive.write_run(worker.make_run("before", 6))
    begin = time.perf_counter()
    archive.write_run(worker.make_run("before", 7))
    one_write = time.perf_counter() - begin
    dice = random.Random(4)
    seen = [0]
    with subprocess.Popen(
        [sys.executable, WORKER, "kill", archive.root], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for kill in range(KILLS):
            process.stdin.write(f"{dice.uniform(0, 6 * one_write)}\n")
            process.stdin.flush()
            assert process.stdout.readline() == "9\n"
            version = rows_of(archive, "victim") or 0
            assert version >= seen[-1]
            seen.append(version)
            assert rows_of(archive, "before") == 7
            assert archive.runs()["run_id"].to_pylist() == ["before", "victim"][: 1 + bool(version)]
            if version:
                assert archive.sql("SELECT * FROM steps WHERE run_id = 'victim'").num_rows == version
                rows = archive.evaluations("victim")["source_sha256"].to_pylist()
                assert len(rows) == 3 * len(set(rows)) >= 3 * (version - kill - 2)
        process.stdin.close()
    assert seen[-1] > 5
    archive.write_run(worker.make_run("victim", seen[-1] + 1))
    assert strays() == set()


def test_eight_processes_at_once_lose_nothing(archive: Archive, worker: ModuleType, strays: Strays) -> None:
    done = subprocess.run([sys.executable, WORKER, "race", archive.root], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    own = [f"own-{index}-{number}" for index in range(worker.PROCESSES) for number in range(worker.OWN_RUNS)]
    assert archive.run_ids() == sorted([*own, "shared"])
    assert {rows_of(archive, run_id) for run_id in own} == {5}
    assert rows_of(archive, "shared") == worker.VERSIONS
    sources = archive.evaluations("shared")["source_sha256"].to_pylist()
    assert sources == [f"source-{index}" for index in range(worker.PROCESSES) for _ in range(3)]
    assert archive.verdicts("shared").num_rows == worker.PROCESSES
    assert strays() == set()
