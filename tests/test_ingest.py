"""Ingestion: what is found, read once, archived and told."""

from __future__ import annotations

import json
import os
import random
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlchecks.archive import Archive
from rlchecks.audit import audit
from rlchecks.errors import ArchiveError, InputError, UsageError
from rlchecks.ingest import ingest
from rlchecks.ingest import reading as reading_module
from rlchecks.ingest import shard as shard_module
from rlchecks.readers import read_run
from rlchecks.readers.registry import readers
from rlchecks.requests import AuditRequest, IngestRequest
from rlchecks.runner import LocalRunner


def table(path: Path, level: float = 0.5, rows: int = 20) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["step,reward,mean_length", *(f"{step},{level + step / 100},{100 + step}" for step in range(1, rows + 1))]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def ask(tmp_path: Path) -> Any:
    def run(*paths: Path, **options: Any) -> dict[str, Any]:
        options = {"archive": str(tmp_path / "archive"), "workers": 1} | options
        return ingest(IngestRequest(tuple(map(str, paths)), **options), LocalRunner())

    return run


def test_a_run_is_archived_with_its_signals_and_told_metric_by_metric(ask: Any, tmp_path: Path) -> None:
    document = ask(table(tmp_path / "log.csv"))
    (run,) = document["runs"]
    assert document["version"] == 1
    assert (run["steps"], run["first_step"], run["last_step"]) == (20, 1, 20)
    assert run["metrics"]["reward"] == pytest.approx({"first": 0.51, "last": 0.7, "mean": 0.605, "count": 20})
    archive = Archive(tmp_path / "archive")
    assert archive.run_ids() == [run["run_id"]]
    assert archive.signals()["reward_gain"][0].as_py() > 0


def test_a_second_ingest_changes_nothing(ask: Any, tmp_path: Path) -> None:
    path = table(tmp_path / "log.csv")
    first = ask(path)
    before = {file: file.read_bytes() for file in (tmp_path / "archive").rglob("*.parquet")}
    assert ask(path) == first
    assert {file: file.read_bytes() for file in (tmp_path / "archive").rglob("*.parquet")} == before


def test_a_folder_is_searched_and_strangers_are_skipped(ask: Any, tmp_path: Path) -> None:
    for name, level in (("a", 0.1), ("b", 0.2), ("c", 0.3)):
        table(tmp_path / "runs" / f"{name}.csv", level)
    (tmp_path / "runs" / "supervised.csv").write_text("step,loss\n1,2.5\n2,2.4\n")
    document = ask(tmp_path / "runs")
    assert len(document["runs"]) == 3
    assert not document["refused"]
    assert [Path(one["source"]).name for one in document["skipped"]] == ["supervised.csv"]


def test_tables_with_names_of_their_own_are_found_by_the_declared_reward(ask: Any, tmp_path: Path) -> None:
    path = table(tmp_path / "runs" / "own.csv")
    path.write_text(path.read_text().replace("reward", "my_score"))
    assert not ask(tmp_path / "runs")["runs"]
    (run,) = ask(tmp_path / "runs", columns={"my_score": "reward"})["runs"]
    assert run["metrics"]["reward"]["count"] == 20


def test_a_declared_reward_is_found_in_run_directories_too(ask: Any, tmp_path: Path, write_state: Any) -> None:
    for name, level in (("a", 0.1), ("b", 0.2)):
        rows = [{"step": step, "my_score": level + step / 50, "loss": 0.1} for step in range(1, 9)]
        write_state(tmp_path / "runs" / name, rows)
    assert not ask(tmp_path / "runs")["runs"]
    document = ask(tmp_path / "runs", columns={"my_score": "reward"})
    assert [run["metrics"]["reward"]["count"] for run in document["runs"]] == [8, 8]


def test_a_file_that_was_named_is_refused_not_skipped(ask: Any, tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text("item,price\npen,2\n")
    document = ask(path)
    assert not document["runs"]
    assert document["refused"][0]["source"].endswith("prices.csv")
    assert document["refused"][0]["reason"]


def test_a_log_that_only_reading_shows_to_be_no_run_is_skipped_in_a_folder_and_refused_by_name(
    ask: Any, tmp_path: Path
) -> None:
    table(tmp_path / "runs" / "a.csv")
    path = tmp_path / "runs" / "sft.log"
    path.write_text("".join(f"{{'loss': 0.{n}, 'epoch': 0.{n}}}\n" for n in range(1, 9)))
    for _ in range(2):
        document = ask(path.parent)
        assert [one["source"] for one in document["skipped"]] == [str(path)]
        assert not document["refused"]
        settle(path)
    assert [one["source"] for one in ask(path.parent / "a.csv", path)["refused"]] == [str(path)]
    (tmp_path / "runs" / "a.csv").unlink()
    assert [one["source"] for one in ask(path.parent)["refused"]] == [str(path)]


def test_a_broken_log_does_not_stop_the_others(ask: Any, tmp_path: Path, example_run: Path) -> None:
    table(tmp_path / "runs" / "fine.csv")
    shutil.copytree(example_run, tmp_path / "runs" / "broken")
    for path in (tmp_path / "runs" / "broken").rglob("trainer_state.json"):
        path.write_text('{"log_history": [{"step": 1, "reward"')
    document = ask(tmp_path / "runs")
    assert [Path(run["source"]).name for run in document["runs"]] == ["fine.csv"]
    assert "broken" in document["refused"][0]["source"]


def test_a_path_that_does_not_exist_is_named(ask: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere"):
        ask(tmp_path / "nowhere")


def test_one_id_is_for_one_run(ask: Any, tmp_path: Path) -> None:
    first, second = table(tmp_path / "a.csv", 0.1), table(tmp_path / "b.csv", 0.2)
    assert ask(first, run_id="mine")["runs"][0]["run_id"] == "mine"
    with pytest.raises(UsageError, match="--run-id"):
        ask(first, second, run_id="mine")


def rewards(level: float, rows: int) -> list[dict[str, Any]]:
    """Rows that depart from each other after the twentieth, as branches of one checkpoint do."""
    return [{"step": n, "reward": n / 50 + (level if n > 20 else 0)} for n in range(1, rows + 1)]


def test_a_branch_of_a_checkpoint_is_refused_not_put_in_place_of_another(
    ask: Any, tmp_path: Path, write_state: Any
) -> None:
    for folder, level in (("one", 0.1), ("two", 0.2)):
        write_state(tmp_path / "runs" / folder / "math", rewards(level, 40))
    document = ask(tmp_path / "runs")
    (run,), (refused,) = document["runs"], document["refused"]
    assert "belongs to another run" in refused["reason"]
    assert (run["source"], refused["source"]) == tuple(str(tmp_path / "runs" / one / "math") for one in ("one", "two"))
    assert Archive(tmp_path / "archive").read_run(run["run_id"]).source == run["source"]


@pytest.mark.parametrize(("one", "two", "kept"), [(40, 40, 0), (40, 60, 1)])
def test_two_sources_with_one_id_are_one_archived_run(
    ask: Any, tmp_path: Path, write_state: Any, one: int, two: int, kept: int
) -> None:
    paths = [
        write_state(tmp_path / folder / "math", rewards(0, n)).parent for folder, n in (("one", one), ("two", two))
    ]
    document = ask(*paths)
    (run,) = document["runs"]
    assert run["source"] == str(paths[kept])
    # An earlier state of the longer log is no fault; of two that say the same nobody knows which is meant.
    (other,) = document["refused" if one == two else "skipped"]
    assert other["source"] == str(paths[1 - kept])
    assert other["reason"].startswith("gave the id of the run from" if one == two else "The run 'math-")
    assert len(document["refused"]) + len(document["skipped"]) == 1
    assert Archive(tmp_path / "archive").read_run(run["run_id"]).source == str(paths[kept])


def test_one_source_in_two_spellings_is_not_refused(ask: Any, tmp_path: Path) -> None:
    path = table(tmp_path / "log.csv")
    assert not ask(path, tmp_path / "." / ".." / tmp_path.name / "log.csv")["refused"]


def test_infinite_values_are_told_in_words_that_json_has(ask: Any, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("step,reward\n1,inf\n2,0.5\n3,nan\n")
    document = ask(path)
    assert document["runs"][0]["metrics"]["reward"] == {"first": "Infinity", "last": "NaN", "mean": 0.5, "count": 1}
    json.dumps(document, allow_nan=False)


@pytest.mark.slow
def test_shards_in_processes_give_what_one_process_gives(ask: Any, tmp_path: Path) -> None:
    for at in range(40):
        table(tmp_path / "runs" / f"{at}.csv", at / 100)
    alone = ask(tmp_path / "runs", archive=str(tmp_path / "one"), workers=1)
    together = ask(tmp_path / "runs", archive=str(tmp_path / "two"), workers=2)
    assert alone == together
    assert Archive(tmp_path / "two").signals().num_rows == 40


def settle(*paths: Path) -> None:
    """Make files look as if they had been written long ago."""
    for path in paths:
        for file in path.rglob("*") if path.is_dir() else [path]:
            if file.is_file() and file.stat().st_mtime > time.time() - 5:
                os.utime(file, ns=(0, file.stat().st_mtime_ns - 10 * 10**9))


@pytest.fixture
def fleet(tmp_path: Path, write_state: Any) -> Path:
    """Three tables, a run directory, an earlier copy of it, a log without a reward, and what is no log at all."""
    folder = tmp_path / "runs"
    for name, level in (("a", 0.1), ("b", 0.2), ("c", 0.3)):
        table(folder / f"{name}.csv", level)
    rows = [{"step": step, "reward": step / 50, "kl": 0.001 * step} for step in range(1, 31)]
    write_state(folder / "trl", rows)
    write_state(folder / "old", rows[:20])
    (folder / "sft.csv").write_text("step,loss\n1,2.5\n2,2.4\n")
    (folder / "README.md").write_text("# runs\n")
    settle(folder)
    return folder


@pytest.fixture
def write_state() -> Any:
    def write(where: Path, rows: list[dict[str, Any]]) -> Path:
        where.mkdir(parents=True, exist_ok=True)
        path = where / "trainer_state.json"
        path.write_text(json.dumps({"global_step": len(rows), "max_steps": 30, "log_history": rows}))
        return path

    return write


@pytest.fixture
def nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on every look into a log is an error."""

    def read(path: object, *_: object, **__: object) -> None:
        raise AssertionError(f"{path} is read")

    monkeypatch.setattr("rlchecks.ingest.shard.read_run", read)
    monkeypatch.setattr("rlchecks.readers.looking.read_head", read)
    monkeypatch.setattr("rlchecks.readers.originals.find_copies", read)
    for reader in readers():
        for method in ("detect", "read", "opening", "parts"):
            if hasattr(reader, method):
                monkeypatch.setattr(type(reader), method, read)


def without_marks(document: dict[str, Any]) -> dict[str, Any]:
    runs = [{key: value for key, value in run.items() if key != "unchanged"} for run in document["runs"]]
    return {**document, "runs": runs}


def read_again(document: dict[str, Any]) -> list[str]:
    """Names of the sources that were read."""
    return [Path(run["source"]).name for run in document["runs"] if not run.get("unchanged")]


def test_an_unchanged_folder_is_told_again_without_a_look_into_any_file(
    ask: Any, fleet: Path, request: pytest.FixtureRequest
) -> None:
    first = ask(fleet)
    assert read_again(first) == ["a.csv", "b.csv", "c.csv", "trl"]
    assert [Path(one["source"]).name for one in first["skipped"]] == ["old", "sft.csv"]
    request.getfixturevalue("nothing_is_read")
    second = ask(fleet)
    assert read_again(second) == []
    assert without_marks(second) == without_marks(first)


def test_nothing_is_written_when_nothing_has_changed(ask: Any, fleet: Path, tmp_path: Path) -> None:
    ask(fleet)
    files = {file: file.stat().st_mtime_ns for file in (tmp_path / "archive").rglob("*") if file.is_file()}
    ask(fleet)
    assert {file: file.stat().st_mtime_ns for file in (tmp_path / "archive").rglob("*") if file.is_file()} == files


def test_a_file_that_was_written_just_now_is_read_again(ask: Any, fleet: Path) -> None:
    ask(fleet)
    (fleet / "b.csv").write_text((fleet / "b.csv").read_text())
    for _ in range(2):
        assert read_again(ask(fleet)) == ["b.csv"]
    settle(fleet / "b.csv")
    assert read_again(ask(fleet)) == ["b.csv"]
    assert read_again(ask(fleet)) == []


def test_what_counts_is_the_time_of_the_reading_not_of_the_search(
    ask: Any, fleet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (fleet / "b.csv").write_text((fleet / "b.csv").read_text())
    monkeypatch.setattr(shard_module.time, "time_ns", lambda: (fleet / "b.csv").stat().st_mtime_ns + 2 * 10**9)
    ask(fleet)
    monkeypatch.undo()
    assert read_again(ask(fleet)) == []


def test_a_file_from_the_future_is_read_again_for_ever(ask: Any, fleet: Path) -> None:
    os.utime(fleet / "b.csv", (0, time.time() + 1000))
    for _ in range(3):
        assert "b.csv" in read_again(ask(fleet))


def test_only_what_changed_or_came_is_read_again(ask: Any, fleet: Path) -> None:
    ask(fleet)
    table(fleet / "b.csv", 0.2, rows=25)
    table(fleet / "deep" / "er" / "d.csv", 0.7)
    settle(fleet)
    document = ask(fleet)
    assert read_again(document) == ["b.csv", "d.csv"]
    assert [run["steps"] for run in document["runs"]] == [20, 25, 20, 20, 30]
    (fleet / "a.csv").unlink()
    document = ask(fleet)
    assert read_again(document) == []
    assert len(document["runs"]) == 4


def test_a_change_that_only_the_time_of_change_shows_is_seen(ask: Any, fleet: Path) -> None:
    ask(fleet)
    path = fleet / "b.csv"
    before = path.stat()
    path.write_text(path.read_text().replace("0.21", "0.91"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    document = ask(fleet)
    assert read_again(document) == ["b.csv"]
    assert document["runs"][1]["metrics"]["reward"]["first"] == 0.91


def test_any_file_of_a_run_directory_counts(ask: Any, fleet: Path) -> None:
    ask(fleet)
    (fleet / "trl" / "args.json").write_text('{"beta": 0.25}')
    (fleet / "trl" / "deep").mkdir()
    (fleet / "trl" / "deep" / "notes.txt").write_text("x")
    settle(fleet)
    assert read_again(ask(fleet)) == ["trl"]
    (fleet / "trl" / "args.json").unlink()
    assert read_again(ask(fleet)) == ["trl"]
    assert read_again(ask(fleet)) == []


def test_a_run_directory_in_another_counts_for_itself(ask: Any, fleet: Path, write_state: Any) -> None:
    rows = [{"step": step, "reward": step / 9} for step in range(1, 9)]
    write_state(fleet / "trl" / "sweep", rows)
    settle(fleet)
    ask(fleet)
    write_state(fleet / "trl" / "sweep", [*rows, {"step": 9, "reward": 1.0}])
    settle(fleet)
    assert read_again(ask(fleet)) == ["sweep"]


def test_what_a_reader_looks_at_beside_a_file_counts(ask: Any, tmp_path: Path, write_state: Any) -> None:
    state = write_state(tmp_path / "x", [{"step": step, "reward": step / 9} for step in range(1, 9)])
    path = state.rename(tmp_path / "x" / "log_history.json")
    settle(path)
    for expected in (["log_history.json"], []):
        assert read_again(ask(path.parent)) == expected
    (tmp_path / "x" / "README.md").write_text("- TRL: 0.21.0\n")
    settle(path.parent)
    for expected in (["log_history.json"], []):
        assert read_again(ask(path.parent)) == expected


@pytest.mark.parametrize(
    "name",
    [
        "completions/completions_2.parquet",
        "checkpoint-8/args.json",
        "checkpoint-8/README.md",
        "README.md",
        "wandb/run-1/files/requirements.txt",
    ],
)
def test_what_comes_beside_a_state_that_was_named_is_noticed(
    name: str, ask: Any, tmp_path: Path, write_state: Any
) -> None:
    rows = [{"step": step, "reward": step / 9} for step in range(1, 9)]
    home = tmp_path / "x"
    state = write_state(home, rows)
    write_state(home / "checkpoint-8", rows)
    (home / "wandb" / "run-1" / "files").mkdir(parents=True)
    (home / "completions").mkdir()
    (home / "completions" / "completions_1.parquet").write_bytes(b"torn")

    def ask_twice() -> list[list[str]]:
        # The times of directories tell nothing.
        settle(home)
        for directory in [home, *(one for one in home.rglob("*") if one.is_dir())]:
            os.utime(directory, (0, 10**9))
        return [read_again(ask(state)) for _ in range(2)]

    assert ask_twice() == [["trainer_state.json"], []]
    (home / name).write_text("{}")
    assert ask_twice() == [["trainer_state.json"], []]
    (home / name).write_text('{"beta": 0.5}')
    assert ask_twice() == [["trainer_state.json"], []]


def test_a_file_that_is_called_like_a_run_is_told_from_it(ask: Any, tmp_path: Path) -> None:
    path = several(tmp_path / "runs" / "x.json")
    settle(path)
    assert len(ask(path.parent)["runs"]) == 3
    table(path.with_name("x.json#b"))
    for _ in range(2):
        document = ask(path.parent)
        assert [run["source"] for run in document["runs"]] == [f"{path}#a", f"{path}##b", f"{path}#c"]
    (run,) = ask(Path(f"{path}##b"))["runs"]
    assert run["metrics"]["reward"]["first"] == pytest.approx(2.11, abs=0.01)
    os.rename(f"{path}#b", f"{path}#b.csv")
    assert len(ask(path.parent)["runs"]) == 4


def test_what_lies_beside_and_was_written_just_now_is_not_relied_upon(
    ask: Any, tmp_path: Path, write_state: Any
) -> None:
    state = write_state(tmp_path / "x", [{"step": step, "reward": step / 9} for step in range(1, 9)])
    path = state.rename(tmp_path / "x" / "log_history.json")
    settle(path)
    (tmp_path / "x" / "README.md").write_text("- TRL: 0.21.0\n")
    for _ in range(2):
        assert read_again(ask(path.parent)) == ["log_history.json"]


def test_files_that_were_read_elsewhere_are_watched(tmp_path: Path, write_state: Any) -> None:
    rows = [{"step": step, "reward": step / 9} for step in range(1, 9)]
    state = write_state(tmp_path / "elsewhere", rows)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "checkpoint-8").symlink_to(state.parent)
    run = read_run(tmp_path / "run")
    now = time.time_ns()
    assert reading_module.beside(run, tmp_path / "run", now) is None
    settle(state)
    assert [path for path, _ in reading_module.beside(run, tmp_path / "run", now) or ()] == [
        str(tmp_path / "run" / "checkpoint-8" / "trainer_state.json")
    ]
    assert reading_module.beside(run, tmp_path / "elsewhere", now) == ()
    state.unlink()
    assert reading_module.beside(run, tmp_path / "run", now) is None


def test_a_directory_that_comes_to_lie_in_a_run_is_no_run_any_more(
    ask: Any, tmp_path: Path, write_state: Any, shared_data: Path
) -> None:
    shutil.copytree(shared_data / "trl" / "healthy-s1" / "runs", tmp_path / "tree" / "run" / "logs")
    settle(tmp_path / "tree")
    (run,) = ask(tmp_path / "tree")["runs"]
    assert "logs" in run["source"]
    write_state(tmp_path / "tree" / "run", [{"step": step, "reward": step / 9} for step in range(1, 9)])
    (run,) = ask(tmp_path / "tree")["runs"]
    assert run["source"] == str(tmp_path / "tree" / "run")


def test_copies_are_compared_again_only_if_one_of_them_changes(ask: Any, fleet: Path, write_state: Any) -> None:
    ask(fleet)
    rows = json.loads((fleet / "old" / "trainer_state.json").read_text())["log_history"]
    write_state(fleet / "old", [*rows[:-1], {**rows[-1], "reward": 9.0}])
    settle(fleet)
    document = ask(fleet)
    assert read_again(document) == ["old"]
    assert [Path(one["source"]).name for one in document["skipped"]] == ["sft.csv"]


def test_a_run_that_was_taken_out_of_the_archive_is_read_again(ask: Any, fleet: Path, tmp_path: Path) -> None:
    run_id = ask(fleet)["runs"][1]["run_id"]
    (file,) = (tmp_path / "archive" / "runs").glob(f"{run_id}*")
    file.unlink()
    assert read_again(ask(fleet)) == ["b.csv"]
    assert Archive(tmp_path / "archive").has(run_id)


@pytest.mark.parametrize("name", ["runs", "steps", "signals"])
def test_a_damaged_table_is_mended(name: str, ask: Any, fleet: Path, tmp_path: Path) -> None:
    run_id = ask(fleet)["runs"][1]["run_id"]
    (file,) = (tmp_path / "archive" / name).glob(f"{run_id}*")
    whole = file.read_bytes()
    file.write_bytes(whole[:-20] if name != "runs" else b"")
    document = ask(fleet)
    if name == "runs":
        # What makes the run is gone: it says what to do.
        assert "damaged" in document["refused"][0]["reason"]
        return
    assert read_again(document) == ["b.csv"]
    assert Archive(tmp_path / "archive").read_run(run_id).steps.num_rows == 20
    assert Archive(tmp_path / "archive").signals([run_id]).num_rows == 1


def test_a_run_that_another_log_has_replaced_is_read_again(ask: Any, fleet: Path, tmp_path: Path) -> None:
    short, long = table(tmp_path / "short.csv", 0.5), table(tmp_path / "long.csv", 0.5, rows=30)
    settle(short, long)
    ask(short, run_id="one")
    ask(long, run_id="one")
    assert "older copy" in ask(short, run_id="one")["refused"][0]["reason"]


def test_memory_that_is_not_what_was_written_is_no_memory(ask: Any, fleet: Path, tmp_path: Path) -> None:
    first = without_marks(ask(fleet))
    (memory,) = (tmp_path / "archive" / "sources").iterdir()
    whole = memory.read_bytes()
    for at in [0, 1, 63, 64, 65, len(whole) // 2, len(whole) - 1]:
        memory.write_bytes(whole[:at])
        document = ask(fleet)
        assert len(read_again(document)) == 4
        assert without_marks(document) == first
        memory.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert len(read_again(ask(fleet))) == 4
    memory.unlink()
    memory.mkdir()
    with pytest.raises(ArchiveError):
        ask(fleet)


def test_other_options_and_another_release_read_again(ask: Any, fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ask(fleet)
    assert len(read_again(ask(fleet, columns={"mean_length": "max_length"}))) >= 3
    assert read_again(ask(fleet)) == ["a.csv", "b.csv", "c.csv"]  # which the other names had changed in the archive
    ask(fleet / "a.csv")
    assert read_again(ask(fleet / "a.csv")) == []
    assert read_again(ask(fleet / "a.csv", run_id="mine")) == ["a.csv"]
    monkeypatch.setattr("rlchecks.ingest.memory.readers_version", lambda: "later")
    assert len(read_again(ask(fleet))) == 4


def test_a_path_is_known_however_it_is_spelled(ask: Any, fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ask(fleet)
    monkeypatch.chdir(fleet)
    assert read_again(ask(Path("."))) == []
    monkeypatch.chdir(fleet.parent)
    document = ask(Path("runs"))
    assert read_again(document) == []
    assert document["runs"][0]["source"] == "runs/a.csv"
    assert "runs/trl" in document["skipped"][0]["reason"]


def test_a_named_file_is_known_too(ask: Any, fleet: Path, request: pytest.FixtureRequest) -> None:
    first = ask(fleet / "a.csv", fleet / "sft.csv", fleet / "trl")
    assert read_again(first) == ["a.csv", "trl"]
    request.getfixturevalue("nothing_is_read")
    second = ask(fleet / "a.csv", fleet / "sft.csv", fleet / "trl")
    assert read_again(second) == []
    assert without_marks(second) == without_marks(first)
    assert len(second["refused"]) == 1


def test_an_archive_in_the_folder_is_not_searched(ask: Any, fleet: Path, request: pytest.FixtureRequest) -> None:
    archive = str(fleet / "archive")
    first = ask(fleet, archive=archive)
    # Now the folder has a directory more; from then on it stays the same, whatever happens in the archive.
    assert read_again(ask(fleet, archive=archive)) == []
    request.getfixturevalue("nothing_is_read")
    assert without_marks(ask(fleet, archive=archive)) == first


def test_an_audit_does_not_read_again_either(fleet: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    asked = AuditRequest((str(fleet),), str(tmp_path / "archive"), str(tmp_path / "reports"), workers=1)
    first = audit(asked, LocalRunner())
    request.getfixturevalue("nothing_is_read")
    assert audit(asked, LocalRunner()) == first


def test_a_link_that_leads_nowhere_is_no_reason_to_read_again(ask: Any, fleet: Path) -> None:
    (fleet / "trl" / "latest").symlink_to("checkpoint-9")
    ask(fleet)
    assert read_again(ask(fleet)) == []


def test_a_hidden_file_that_was_read_counts(ask: Any, fleet: Path) -> None:
    (fleet / "trl" / ".cache").mkdir()
    settle(fleet)
    time_before = (fleet / "trl" / ".cache").stat()
    os.utime(fleet / "trl" / ".cache", (0, time_before.st_mtime - 10))
    ask(fleet)
    assert read_again(ask(fleet)) == []
    (fleet / "trl" / ".cache" / "x").write_text("x")
    assert read_again(ask(fleet)) == ["trl"]


# What has changed, by name, and what is written there; None: deleted.
changes = st.lists(
    st.tuples(
        st.sampled_from(["a.csv", "b.csv", "x/a.csv", "x/y.jsonl", "x/trl/README.md"]), st.none() | st.integers(1, 4)
    ),
    max_size=3,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rounds=st.lists(changes, max_size=4))
def test_what_is_remembered_never_changes_what_is_told(
    rounds: list[list[tuple[str, int | None]]], ask: Any, write_state: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("property")
    write_state(place / "runs" / "x" / "trl", [{"step": step, "reward": step / 9} for step in range(1, 9)])
    for number, written in enumerate([[], *rounds]):
        for name, level in written:
            path = place / "runs" / name
            if level is None:
                path.unlink(missing_ok=True)
            elif path.suffix == ".jsonl":
                path.write_text("".join(f'{{"step": {n}, "reward": {level + n}}}\n' for n in range(1, 4)))
            elif path.suffix == ".md":
                path.write_text(f"- TRL: 0.{level}.0\n")
            else:
                table(path, level, rows=5)
            if level in (1, 2):
                settle(place / "runs")
        remembering = ask(place / "runs", archive=str(place / "remembering"))
        afresh = ask(place / "runs", archive=str(place / f"fresh-{number}"))
        assert without_marks(remembering) == afresh


def test_runs_of_one_file_are_runs_of_their_own(ask: Any, tmp_path: Path) -> None:
    path = several(tmp_path / "runs" / "several.json")
    document = ask(path.parent)
    assert [run["source"] for run in document["runs"]] == [f"{path}#{name}" for name in "abc"]
    assert len({run["run_id"] for run in document["runs"]}) == 3
    settle(path)
    ask(path.parent)
    assert read_again(ask(path.parent)) == []
    archive = Archive(tmp_path / "archive")
    assert archive.read_run(document["runs"][1]["run_id"]).source == f"{path}#b"


def test_one_of_several_runs_can_be_named(ask: Any, tmp_path: Path) -> None:
    path = several(tmp_path / "several.json")
    assert len(ask(path)["runs"]) == 3
    (run,) = ask(Path(f"{path}#b"))["runs"]
    assert run["source"] == f"{path}#b"
    assert ask(Path(f"{path}#b"), run_id="mine")["runs"][0]["run_id"] == "mine"
    with pytest.raises(UsageError, match="--run-id names one run, and 3 were found"):
        ask(path, run_id="mine")
    assert "no run 'd' in it; it has 'a', 'b', 'c'" in ask(Path(f"{path}#d"))["refused"][0]["reason"]


def test_of_a_file_with_one_usable_run_that_one_is_read(ask: Any, tmp_path: Path) -> None:
    path = tmp_path / "several.json"
    rows = {"a": {"reward": 0.5}, "b": {"entropy": 0.5}}
    path.write_text(json.dumps({name: {"1": row, "2": row} for name, row in rows.items()}))
    document = ask(path)
    assert [run["source"] for run in document["runs"]] == [f"{path}#a"]
    assert [one["source"] for one in document["skipped"]] == [f"{path}#b"]
    path.write_text(path.read_text().replace("reward", "loss"))
    (refused,) = ask(path)["refused"]
    assert refused["reason"].startswith("2 runs in it, none that can be used; the first: ")


def several(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = {
        name: {str(n): {"reward": level + n / 9} for n in range(1, 12)}
        for name, level in zip("abc", (1, 2, 3), strict=True)
    }
    path.write_text(json.dumps(rows))
    return path


def test_one_run_in_two_formats_is_remarked_upon(ask: Any, tmp_path: Path, write_state: Any) -> None:
    noise = random.Random(5)
    rewards = [noise.random() for _ in range(40)]
    write_state(tmp_path / "runs" / "a", [{"step": 10 * n, "reward": one} for n, one in enumerate(rewards, 1)])
    (tmp_path / "runs" / "b.csv").write_text("reward\n" + "".join(f"{one:.4g}\n" for one in rewards[:30]))
    (tmp_path / "runs" / "c.csv").write_text("reward\n" + "".join(f"{one:.4g}\n" for one in [*rewards[:29], 9.0]))
    settle(tmp_path / "runs")
    first = ask(tmp_path / "runs")
    one, other, third = first["runs"]
    told = f"the same rewards as {one['run_id']} in the 30 steps that both have (of 40)"
    assert any(warning.startswith(told) for warning in other["warnings"])
    assert not any("same rewards" in warning for run in (one, third) for warning in run["warnings"])
    second = ask(tmp_path / "runs")
    assert read_again(second) == []
    assert without_marks(second) == first


def test_a_fault_in_a_reader_costs_one_log_only(ask: Any, fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = shard_module.read_run

    def faulty(source: str, **options: Any) -> Any:
        if source.endswith("b.csv"):
            raise KeyError("\x1b[31m")
        return read(source, **options)

    monkeypatch.setattr(shard_module, "read_run", faulty)
    for _ in range(2):
        document = ask(fleet)
        assert len(document["runs"]) == 3
        assert "a fault of rlchecks itself" in document["refused"][0]["reason"]
        assert document["refused"][0]["reason"].isprintable()


def test_an_earlier_state_of_an_archived_run_is_skipped_beside_others_and_refused_alone(
    ask: Any, tmp_path: Path, write_state: Any
) -> None:
    long, short = (
        write_state(tmp_path / folder / "math", rewards(0, n)).parent for folder, n in (("a", 60), ("b", 40))
    )
    ask(long)
    other = table(tmp_path / "log.csv")
    document = ask(short, other)
    assert not document["refused"]
    assert "it is an older copy" in document["skipped"][0]["reason"]
    assert ask(short)["refused"]


def test_a_run_of_nothing_but_checks_tells_of_them(ask: Any, tmp_path: Path) -> None:
    path = tmp_path / "checks.csv"
    path.write_text(
        "step,question_id,score\n" + "".join(f"{s},q{q},{(s + q) % 2}\n" for s in (0, 10, 20) for q in (1, 2, 3))
    )
    (run,) = ask(path)["runs"]
    assert (run["framework"], run["steps"], run["validation"]["count"]) == ("timeline", 0, 3)
