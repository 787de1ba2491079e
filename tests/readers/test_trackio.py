from __future__ import annotations

import json
import math
import os
import random
import shutil
import sqlite3
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rlchecks.errors import InputError, NotARunError
from rlchecks.metrics import METRICS
from rlchecks.readers import find_runs, read_run
from rlchecks.readers.trackio import TrackioReader
from rlchecks.run import RunLog

DATA = Path(__file__).parent / "data" / "trackio"
Unpack = Callable[[str], Path]
SHARED = {
    "healthy-s1": (120, 0),
    "resumed": (100, 15),
    "restarted": (60, 34),
    "nan-survives": (60, 0),
    "reward-inf": (50, 0),
}


@pytest.fixture
def unpack(tmp_path: Path) -> Unpack:
    """Unpack a directory that Trackio left."""

    def unpacked(name: str) -> Path:
        with tarfile.open(DATA / f"{name}.tar.gz") as archive:
            archive.extractall(tmp_path / name, filter="data")
        return tmp_path / name / "trackio"

    return unpacked


def runs_of(path: Path) -> dict[str, RunLog | str]:
    """Read whatever is found, by the id of the source; of what is no run the reason."""
    found: dict[str, RunLog | str] = {}
    for source in find_runs(path).sources:
        try:
            found[source.part or ""] = read_run(str(source))
        except InputError as error:
            found[source.part or ""] = error.problem
    return found


def told(run: RunLog) -> tuple[str, ...]:
    rows = run.steps.drop_columns(["run_id", "extra"]).to_pylist()
    extras = [sorted(extra or []) for extra in run.steps["extra"].to_pylist()]
    return tuple(repr(row) for row in zip(rows, extras, strict=True))


def column(run: RunLog, name: str) -> list[Any]:
    values: list[Any] = run.training_steps[name].to_pylist()
    return values


@pytest.mark.parametrize("name", SHARED)
def test_trackio_tells_what_the_trainer_does(name: str, shared_data: Path) -> None:
    directory = shared_data / "trl" / name
    tracked = read_run(directory / "trackio" / "toy-add.db")
    state = read_run(directory / "trainer_state.json")
    steps, repeated = SHARED[name]
    assert (len(tracked.training_steps), tracked.repeated_steps) == (steps, repeated)
    for metric in ("step", "epoch", *METRICS):
        assert repr(column(tracked, metric)) == repr(column(state, metric)), metric
    assert (tracked.framework, tracked.graders) == (state.framework, state.graders)
    assert tracked.planned_steps == state.planned_steps
    told_alike = ("reward_std_semantics", "metrics_not_loggable", "trl_keys", "logging_steps", "transformers_version")
    assert [tracked.facts[fact] for fact in told_alike] == [state.facts[fact] for fact in told_alike]
    assert (tracked.facts["num_generations"], tracked.facts["scale_rewards"]) == ("8", "group")
    assert len(tracked.warnings) == (repeated > 0)


@pytest.mark.parametrize("name", ["project", "old"])
def test_what_trackio_wrote(name: str, unpack: Unpack) -> None:
    directory = unpack(name)
    found = runs_of(directory)
    assert len(found) == (4 if name == "project" else 3)
    (refused,) = (reason for reason in found.values() if isinstance(reason, str))
    assert "none with a reward" in refused
    resumed, own, *others = (run for run in found.values() if isinstance(run, RunLog))
    assert (resumed.framework, resumed.planned_steps, resumed.repeated_steps) == ("trl_grpo", 12, 3)
    assert column(resumed, "step") == list(range(1, 13))
    assert column(resumed, "reward") == [0.1 * step + (0.05 if step > 6 else 0.0) for step in range(1, 13)]
    assert math.isnan(column(resumed, "kl")[3])
    assert column(resumed, "grad_norm")[4] == math.inf
    assert column(resumed, "entropy") == [None if step == 6 else 0.5 for step in range(1, 13)]
    assert resumed.validation.select(["step", "score"]).to_pylist() == [{"step": 9, "score": 0.5}]
    # The timings of a step stand before its metrics.
    assert [dict(extra)["profiling/Time taken: GRPOTrainer.compute_loss"] for extra in column(resumed, "extra")] == [
        0.25 * step for step in range(1, 13)
    ]
    assert resumed.unmapped == ("profiling/Time taken: GRPOTrainer.compute_loss",)
    assert resumed.facts["beta"] == "0.04"
    assert column(own, "step") == [10, 20, 30, 40]
    assert column(own, "kl") == [math.inf] * 4
    assert own.warnings == ()
    # Of the same name.
    assert [column(run, "step") for run in others] == [[1, 2, 3]] * len(others)


def test_names_given_twice_are_told_apart_by_the_id(unpack: Unpack) -> None:
    path = unpack("project") / "toyadd.db"
    parts = TrackioReader().parts(path)
    runs = {part: read_run(f"{path}#{part}") for part in parts if part != parts[2]}
    assert sorted(run.name for run in runs.values()) == sorted(
        [f"grpo {parts[0][:8]}", f"own steps {parts[1][:8]}", f"grpo {parts[3][:8]}"]
    )
    assert len({run.run_id for run in runs.values()}) == 3
    assert read_run(f"{path}#own steps").facts["trackio_run"] == parts[1]
    with pytest.raises(NotARunError, match="no run 'grpo' in it"):
        read_run(f"{path}#grpo")
    with pytest.raises(NotARunError, match="4 runs"):
        read_run(path)


def test_before_there_were_ids_names_are_parts(unpack: Unpack) -> None:
    path = unpack("old") / "toyadd.db"
    reader = TrackioReader()
    assert reader.parts(path) == ["grpo", "own steps", "sft"]
    assert read_run(f"{path}#grpo").name == "grpo"
    opening = reader.opening(path, "grpo")
    assert opening is not None
    assert json.loads(opening)[0] == "grpo"
    assert opening != reader.opening(path, "own steps")


def test_what_a_killed_process_left_in_the_log_is_read(unpack: Unpack) -> None:
    run = read_run(unpack("killed"))
    assert column(run, "step") == [1, 2, 3, 4, 5]
    assert [Path(one.path).suffix for one in run.inputs] == [".db", ".db-wal"]


def test_the_mirror_tells_the_same_and_gives_way_to_the_database(unpack: Unpack) -> None:
    directory = unpack("project")
    from_database = runs_of(directory)
    found = find_runs(directory)
    assert [(Path(one.source).name, one.kind) for one in found.refused] == [("toyadd.parquet", "not_a_run")]
    (directory / "toyadd.db").unlink()
    mirrored = runs_of(directory)
    assert mirrored.keys() == from_database.keys()
    for part, run in mirrored.items():
        other = from_database[part]
        if isinstance(run, RunLog):
            assert isinstance(other, RunLog)
            assert told(run) == told(other)
            assert (run.facts, run.planned_steps, run.run_id) == (other.facts, other.planned_steps, other.run_id)
            assert [Path(one.path).name for one in run.inputs] == ["toyadd.parquet", "toyadd_configs.parquet"]


def test_a_mirror_that_the_user_names_is_read(unpack: Unpack) -> None:
    path = unpack("project") / "toyadd.parquet"
    part = TrackioReader().parts(path.with_suffix(".db"))[0]
    assert read_run(f"{path}#{part}").training_steps.num_rows == 12


def test_an_export_for_a_static_space_is_read(unpack: Unpack) -> None:
    directory = unpack("project")
    (directory / "toyadd.db").unlink()
    mirrored = runs_of(directory)
    (directory / "aux").mkdir()
    (directory / "toyadd.parquet").rename(directory / "metrics.parquet")
    (directory / "toyadd_configs.parquet").rename(directory / "aux" / "configs.parquet")
    for part, run in runs_of(directory).items():
        other = mirrored[part]
        if isinstance(run, RunLog):
            assert isinstance(other, RunLog)
            assert (told(run), run.facts) == (told(other), other.facts)


def test_a_mirror_elsewhere_is_a_copy(unpack: Unpack, tmp_path: Path) -> None:
    directory = unpack("project")
    (tmp_path / "elsewhere").mkdir()
    shutil.move(directory / "toyadd.parquet", tmp_path / "elsewhere" / "toyadd.parquet")
    refused = find_runs(tmp_path).refused
    # All but the one without a reward, which is no run in either.
    assert [one.kind for one in refused] == ["copy"] * 3


def test_fragments_continue_what_is_in_the_database(unpack: Unpack) -> None:
    directory = unpack("inbox")
    found = find_runs(directory)
    assert [(Path(one.source).name, one.kind) for one in found.refused] == [("inbox", "not_a_run")]
    halves, other = (read_run(str(source)) for source in found.sources)
    assert column(halves, "step") == list(range(1, 9))
    assert halves.repeated_steps == 0
    assert column(other, "step") == [1, 2, 3]
    assert [Path(one.path).name for one in halves.inputs] == ["toyadd.db", "00000000.jsonl", "00000001.jsonl"]
    assert halves.planned_steps == other.planned_steps == 12


def test_fragments_that_are_imported_already_do_not_count_twice(unpack: Unpack) -> None:
    directory = unpack("inbox")
    path = directory / "toyadd.db"
    part = TrackioReader().parts(path)[0]
    records = [json.loads(line) for file in directory.glob("inbox/*/*") for line in file.read_text().splitlines()]
    connection = sqlite3.connect(path)
    for record in [record for record in records if record["run_id"] == part][:10]:
        connection.execute(
            "INSERT INTO metrics (run_id, timestamp, run_name, step, metrics, log_id) VALUES (?, ?, ?, ?, ?, ?)",
            (part, record["timestamp"], "grpo", record["step"], json.dumps(record["metrics"]), record["log_id"]),
        )
    connection.commit()
    connection.close()
    run = read_run(f"{path}#{part}")
    assert column(run, "step") == list(range(1, 9))
    assert run.repeated_steps == 0


def test_an_inbox_without_databases_is_a_source(unpack: Unpack) -> None:
    directory = unpack("inbox")
    (directory / "toyadd.db").unlink()
    found = find_runs(directory)
    assert found.refused == []
    assert [source.path.name for source in found.sources] == ["inbox", "inbox"]
    steps = sorted(column(read_run(str(source)), "step") for source in found.sources)
    assert steps == [[1, 2, 3], [5, 6, 7, 8]]
    for writer in directory.glob("inbox/*"):
        assert column(read_run(writer), "step") in steps


def fragment(step: int, **fields: Any) -> str:
    metrics = {"reward": 0.1 * step, "global_step": step}
    record = {"v": 1, "kind": "metric", "project": "p", "run": "r", "run_id": None, "metrics": metrics, "step": step}
    return json.dumps({**record, "timestamp": f"2026-01-01T00:00:{step:02}", **fields}) + "\n"


def write_inbox(tmp_path: Path, *contents: str | bytes, writer: str = "0123456789abcdef") -> Path:
    directory = tmp_path / "inbox" / writer
    directory.mkdir(parents=True, exist_ok=True)
    for number, content in enumerate(contents):
        data = content.encode() if isinstance(content, str) else content
        (directory / f"{number:08}.jsonl").write_bytes(data)
    return tmp_path / "inbox"


def test_fragments_of_several_starts_are_in_the_order_of_time(tmp_path: Path) -> None:
    inbox = write_inbox(tmp_path, fragment(3) + fragment(4), writer="0" * 16)
    write_inbox(tmp_path, fragment(1), fragment(2) + fragment(3), writer="f" * 16)
    run = read_run(inbox)
    assert column(run, "step") == [1, 2, 3, 4]
    assert (run.repeated_steps, run.name) == (1, "r")


def test_fragments_hold_other_things_too(tmp_path: Path) -> None:
    others = fragment(1, kind="system_metric") + fragment(1, kind="alert", metrics=None) + fragment(2, run="other")
    run = read_run(write_inbox(tmp_path, fragment(1) + others + fragment(2)))
    assert column(run, "step") == [1, 2]
    assert run.warnings == ("1 call of another run among the fragments: left out",)


def test_a_damaged_fragment_is_told(tmp_path: Path) -> None:
    inbox = write_inbox(tmp_path, fragment(1), "{torn\n" + fragment(2), fragment(3) + fragment(4)[:30])
    run = read_run(inbox)
    assert column(run, "step") == [1, 3]
    assert "fragment '0123456789abcdef/00000001.jsonl' is not read to its end: " in run.warnings[0]
    assert "was not written to its end" in run.warnings[1]
    with pytest.raises(InputError):
        read_run(write_inbox(tmp_path / "other", "{torn\n"))


def test_links_in_an_inbox_are_not_followed(tmp_path: Path) -> None:
    outside = write_inbox(tmp_path / "outside", fragment(7))
    inbox = write_inbox(tmp_path / "x", fragment(1) + fragment(2))
    (inbox / ("a" * 16)).symlink_to(outside / "0123456789abcdef")
    (inbox / "0123456789abcdef" / "00000009.jsonl").symlink_to(outside / "0123456789abcdef" / "00000000.jsonl")
    assert column(read_run(inbox), "step") == [1, 2]


SCHEMA = "CREATE TABLE metrics (id INTEGER PRIMARY KEY, run_name TEXT, step INTEGER, metrics TEXT)"


def by_hand(path: Path, *calls: Any, schema: str = SCHEMA) -> Path:
    connection = sqlite3.connect(path)
    connection.execute(schema)
    for step, call in enumerate(calls):
        stored = call if isinstance(call, (str, bytes)) else json.dumps(call)
        connection.execute("INSERT INTO metrics (run_name, step, metrics) VALUES ('r', ?, ?)", (step, stored))
    connection.commit()
    connection.close()
    return path


def test_the_number_of_the_call_is_the_step_where_there_is_no_other(tmp_path: Path) -> None:
    run = read_run(by_hand(tmp_path / "x.db", {"reward": 0.1}, {"reward": 0.2}, {"reward": 0.3}))
    assert column(run, "step") == [0, 1, 2]
    constant = [{"reward": 0.1 * n, "train/global_step": 0} for n in range(4)]
    assert column(read_run(by_hand(tmp_path / "y.db", *constant)), "step") == [0, 1, 2, 3]


def test_calls_without_a_step_belong_to_the_next_that_has_one(tmp_path: Path) -> None:
    calls = [
        {"time": 1.0, "probe": 1.0},
        {"probe": 2.0},
        {"reward": 0.1, "global_step": 5},
        {"probe": 3.0},
        {"reward": 0.2, "global_step": 10},
        {"probe": 4.0, "late": 1.0},
    ]
    run = read_run(by_hand(tmp_path / "x.db", *calls))
    assert column(run, "step") == [5, 10]
    assert [dict(extra)["probe"] for extra in column(run, "extra")] == [2.0, 3.0]
    assert dict(column(run, "extra")[1])["late"] == 1.0


def test_media_are_left_out_and_words_stay_words(tmp_path: Path) -> None:
    media = {"_type": "trackio.image", "file_path": "x.png"}
    calls = [
        {"reward": 0.1, "a": media, "b": [media], "c": "NaN", "d": "fine", "e": {"x": 1}, "__step": n} for n in (7, 8)
    ]
    run = read_run(by_hand(tmp_path / "x.db", *calls))
    assert column(run, "step") == [7, 8]
    assert run.unmapped == ("c", "d", "e")
    assert math.isnan(dict(column(run, "extra")[0])["c"])
    assert dict(column(run, "extra_text")[0]) == {"d": "fine", "e": '{"x": 1}'}


def test_damaged_calls_are_left_out_and_counted(tmp_path: Path) -> None:
    damaged = ["{", "[1]", "null", b"\xff", "", "[" * 100_000, '{"reward": ' + "9" * 5000 + "}"]
    run = read_run(by_hand(tmp_path / "x.db", {"reward": 0.1}, *damaged, {"reward": 0.2}))
    assert column(run, "reward") == [0.1, 0.2]
    assert run.warnings[0] == f"{len(damaged)} rows damaged (no JSON object): left out"


def test_a_database_that_lacks_columns_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE metrics (run_name TEXT, metrics TEXT)")
    connection.close()
    with pytest.raises(InputError, match="its table 'metrics' has no column 'step'"):
        read_run(path)


def test_an_empty_project_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(NotARunError, match="no run in it"):
        read_run(by_hand(tmp_path / "x.db"))


def test_other_parquet_files_are_tables(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"step": [1, 2], "reward": [0.1, 0.2]}), path)
    assert column(read_run(path), "reward") == [0.1, 0.2]


def test_mirrors_with_odd_columns(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    odd = {"run_name": [[1], [2]], "timestamp": ["", ""], "step": [0, 1], "reward": [0.1, 0.2]}
    pq.write_table(pa.table(odd), path)
    with pytest.raises(InputError, match="unusable columns"):
        read_run(path)
    numbers = {**odd, "run_name": [7, 7], "id": [2, 1], "note": [{"a": 1}, None]}
    pq.write_table(pa.table(numbers), path)
    run = read_run(path)
    assert (run.name, column(run, "reward")) == ("7", [0.1, 0.2])
    assert run.training_steps["step"].to_pylist() == [0, 1]


def test_damaged_projects(unpack: Unpack) -> None:
    directory = unpack("old")
    for name in ("toyadd.parquet", "toyadd_configs.parquet"):
        (directory / name).unlink()
    path = directory / "toyadd.db"
    data = path.read_bytes()
    dice = random.Random(20261130)
    outcomes = set()
    for length in range(0, len(data), 4096 + 1000):
        path.write_bytes(data[:length])
        outcomes |= {type(found).__name__ for found in runs_of(path).values()}
        with pytest.raises(InputError):
            read_run(f"{path}#grpo")
    for _ in range(60):
        flipped = bytearray(data)
        flipped[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        path.write_bytes(flipped)
        outcomes |= {type(found).__name__ for found in runs_of(path).values()}
    assert outcomes == {"RunLog", "str"}


def test_damaged_mirrors(unpack: Unpack) -> None:
    directory = unpack("project")
    (directory / "toyadd.db").unlink()
    dice = random.Random(20261130)
    for name in ("toyadd.parquet", "toyadd_configs.parquet"):
        path = directory / name
        data = path.read_bytes()
        for _ in range(12):
            flipped = bytearray(data)
            flipped[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
            path.write_bytes(flipped)
            for run in runs_of(directory).values():
                assert run
        path.write_bytes(data)


def test_reading_changes_nothing(unpack: Unpack) -> None:
    directories = [unpack(name) for name in ("project", "killed", "inbox", "old")]

    def state() -> dict[Path, tuple[int, bytes]]:
        files = [path for directory in directories for path in directory.rglob("*") if path.is_file()]
        return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}

    before = state()
    for directory in directories:
        runs_of(directory)
    assert state() == before


def test_what_may_lie_beside_is_named(unpack: Unpack) -> None:
    reader = TrackioReader()
    directory = unpack("inbox")
    beside = {os.path.relpath(path, directory) for path in reader.beside(directory / "toyadd.db")}
    writers = {os.path.relpath(path, directory) for path in directory.glob("inbox/*")}
    assert beside == {"toyadd.db-wal", "toyadd.db-journal", "inbox"} | writers
    assert {path.name for path in reader.beside(directory / "toyadd.parquet")} == {
        "toyadd.db",
        "toyadd_configs.parquet",
    }
    assert reader.holds(["0123456789abcdef"])
    assert reader.holds(["00000000.jsonl"])
    assert not reader.holds(["metrics.jsonl", "toyadd.db"])
