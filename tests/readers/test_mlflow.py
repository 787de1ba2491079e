from __future__ import annotations

import gzip
import math
import os
import random
import shutil
import sqlite3
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlchecks.errors import InputError, NotARunError
from rlchecks.readers import find_runs, read_run
from rlchecks.readers.mlflow import MlflowReader
from rlchecks.run import RunLog

DATA = Path(__file__).parent / "data" / "mlflow"
Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A file store that MLflow wrote."""
    with tarfile.open(DATA / "mlruns.tar.gz") as archive:
        archive.extractall(tmp_path / "files", filter="data")
    return tmp_path / "files" / "mlruns"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A SQLite store that MLflow wrote."""
    path = tmp_path / "sql" / "mlflow.db"
    path.parent.mkdir()
    path.write_bytes(gzip.decompress((DATA / "mlflow.db.gz").read_bytes()))
    return path


def runs_of(path: Path) -> dict[str, RunLog | str]:
    """Read whatever is found, by name without the id; of what is no run the reason."""
    found: dict[str, RunLog | str] = {}
    for number, source in enumerate(find_runs(path).sources):
        try:
            run = read_run(str(source))
            found[run.name.rpartition(" ")[0]] = run
        except InputError as error:
            found[f"refused {number}"] = error.problem
    return found


def column(run: RunLog, name: str) -> list[float | None]:
    values: list[float | None] = run.training_steps[name].to_pylist()
    return values


def directory_of(store: Path, name: str) -> Path:
    (tag,) = (tag for tag in store.glob("*/*/tags/mlflow.runName") if tag.read_text() == name)
    return tag.parent.parent


def same(one: RunLog, other: RunLog) -> bool:
    def told(run: RunLog) -> list[str]:
        rows = run.steps.drop_columns(["run_id", "extra"]).to_pylist()
        # The order of the keys is that of a directory or of a table.
        extras = [sorted(extra or []) for extra in run.steps["extra"].to_pylist()]
        return [repr(row) for row in zip(rows, extras, strict=True)]

    return told(one) == told(other) and one.planned_steps == other.planned_steps


@pytest.mark.parametrize("kind", ["store", "database"])
def test_what_mlflow_wrote(kind: str, request: pytest.FixtureRequest) -> None:
    found = runs_of(request.getfixturevalue(kind))
    runs = {name: run for name, run in found.items() if isinstance(run, RunLog)}
    assert runs.keys() == {"grpo resumed", "grpo killed", "stepless"}
    refused = [reason for reason in found.values() if isinstance(reason, str)]
    assert sum("none with a reward" in reason for reason in refused) == 1
    assert sum("was deleted" in reason for reason in refused) == (kind == "store")
    run = runs["grpo resumed"]
    assert (run.framework, run.planned_steps, run.repeated_steps) == ("trl_grpo", 12, 3)
    assert column(run, "step") == list(range(1, 13))
    assert column(run, "reward") == [0.1 * step + (0.05 if step > 6 else 0.0) for step in range(1, 13)]
    assert column(run, "mean_length") == [20.0 + step for step in range(1, 13)]
    kl, norm = column(run, "kl"), column(run, "grad_norm")
    assert kl[3] is not None
    assert math.isnan(kl[3])
    assert (norm[3], norm[4]) == (0.3, math.inf)
    assert run.graders == ("accuracy_reward",)
    assert run.validation["score"].to_pylist() == [0.5]
    assert {**run.facts}.items() >= {
        "beta": "0.04",
        "num_generations": "8",
        "max_completion_length": "64",
        "scale_rewards": "group",
        "mlflow_status": "FINISHED",
    }.items()
    assert "system/cpu_utilization_percentage" not in run.unmapped
    assert runs["grpo killed"].facts["mlflow_status"] == "RUNNING"
    assert column(runs["grpo killed"], "step") == [1, 2, 3]


@pytest.mark.parametrize("kind", ["store", "database"])
def test_values_without_steps_are_numbered_and_said_to_be(kind: str, request: pytest.FixtureRequest) -> None:
    run = runs_of(request.getfixturevalue(kind))["stepless"]
    assert isinstance(run, RunLog)
    assert column(run, "reward") == [0.25, 0.5, 0.75, 1.0]
    assert run.validation["step"].to_pylist() == [1, 2, 3, 4]
    assert run.warnings == ("4 values logged without a step ('reward'): numbered in the order of logging",)


def test_both_stores_tell_the_same(store: Path, database: Path) -> None:
    files, sql = runs_of(store), runs_of(database)
    for name in ("grpo resumed", "grpo killed", "stepless"):
        one, other = files[name], sql[name]
        assert isinstance(one, RunLog)
        assert isinstance(other, RunLog)
        assert same(one, other), name


def test_reading_changes_nothing(store: Path, database: Path) -> None:
    def state() -> dict[Path, tuple[int, bytes]]:
        files = [path for path in store.parent.parent.rglob("*") if path.is_file()]
        return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}

    before = state()
    runs_of(store.parent.parent)
    assert state() == before


def test_each_run_is_a_part_by_its_id(database: Path) -> None:
    reader = MlflowReader()
    parts = reader.parts(database)
    assert len(parts) == 4
    assert all(len(part) == 32 for part in parts)
    by_id = read_run(f"{database}#{parts[0]}")
    assert by_id.facts["mlflow_run_id"] == parts[0]
    # A name does as well if only one run has it.
    assert same(by_id, read_run(f"{database}#grpo resumed"))
    assert reader.opening(database, parts[0]) == parts[0]
    with pytest.raises(NotARunError, match="4 runs"):
        read_run(database)
    with pytest.raises(NotARunError, match="no run 'nobody' in it"):
        read_run(f"{database}#nobody")


def test_a_deleted_run_is_no_part(database: Path) -> None:
    connection = sqlite3.connect(database)
    (deleted,) = connection.execute("SELECT run_uuid FROM runs WHERE lifecycle_stage = 'deleted'").fetchone()
    connection.close()
    assert deleted not in MlflowReader().parts(database)
    with pytest.raises(NotARunError, match="was deleted in MLflow"):
        read_run(f"{database}#{deleted}")


def test_a_run_that_moved_from_one_store_to_the_other_is_a_copy(store: Path, database: Path) -> None:
    directory = directory_of(store, "grpo killed")
    run_id = next(part for part in MlflowReader().parts(database) if "killed" in read_name(database, part))
    meta = directory / "meta.yaml"
    meta.write_text(meta.read_text().replace(directory.name, run_id))
    directory.rename(directory.with_name(run_id))
    kinds = [refusal.kind for refusal in find_runs(store.parent.parent).refused]
    assert kinds == ["copy"]


def read_name(database: Path, part: str) -> str:
    try:
        return read_run(f"{database}#{part}").name
    except NotARunError:
        return ""


def test_one_run_in_a_store_needs_no_name(store: Path) -> None:
    for name in ("grpo killed", "stepless", "sft", "grpo deleted"):
        shutil.rmtree(directory_of(store, name))
    assert read_run(store).name.startswith("grpo resumed ")
    assert read_run(directory_of(store, "grpo resumed")).name.startswith("grpo resumed ")


def test_directories_of_experiments_data_sets_and_models_are_no_runs(store: Path, write: Write) -> None:
    model = store / "0" / "models" / "m-1"
    (model / "metrics").mkdir(parents=True)
    (model / "meta.yaml").write_text("model_id: m-1\nname: model\n")
    (model / "metrics" / "reward").write_text("1 0.5 1 run\n")
    assert len(find_runs(store).sources) == 5


def run_directory(tmp_path: Path, metrics: dict[str, str | bytes], meta: str = "run_id: r\n") -> Path:
    directory = tmp_path / "0" / "r"
    for key, content in metrics.items():
        path = directory / "metrics" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    (directory / "meta.yaml").write_text(meta)
    return directory


def test_lines_of_all_versions(tmp_path: Path) -> None:
    directory = run_directory(
        tmp_path,
        {
            "reward": "1000 0.5 1\n2000 0.75 2\n",
            "val/acc": "1000 0.5 1 gsm8k 0a1b\n2000 nan 2 gsm8k 0a1b\n",
            "kl": "1000 -inf 1\n2000 1e-3 2 gsm8k 0a1b\n",
        },
    )
    run = read_run(directory)
    assert column(run, "kl") == [-math.inf, 0.001]
    assert column(run, "step") == [1, 2]
    assert run.warnings == ()
    old = read_run(run_directory(tmp_path / "old", {"reward": "1000 0.5\n2000 0.75\n3000 0.25\n"}))
    assert column(old, "reward") == [0.5, 0.75, 0.25]
    assert "without a step" in old.warnings[0]


def test_damaged_lines_are_left_out_and_counted(tmp_path: Path) -> None:
    lines = [f"{1000 * step} 0.{step} {step}" for step in range(1, 9)]
    damaged = [
        *("2000 0.202", "x 0.2 2", "2000 0.2 2 gsm8k", "2000 0.2 2.5", "2000 zero 2", "", "2000 0.2  2 3 4 5"),
        *("2000 0.2 99999999999999999999999", "\0" * 40, "1" * 5000 + " 0.2 2"),
    ]
    for line in damaged:
        directory = run_directory(tmp_path, {"reward": "\n".join([lines[0], line, *lines[2:], ""])})
        run = read_run(directory)
        assert column(run, "step") == [1, 3, 4, 5, 6, 7, 8], line
        assert len(run.warnings) == 1
        assert "'reward': 1 line damaged (first: line 2, " in run.warnings[0]


def test_a_metric_file_without_any_good_line_is_an_error(tmp_path: Path) -> None:
    for content in ("what is this\n", "[1]\n" * 5, "1 2 3 4\n"):
        directory = run_directory(tmp_path, {"reward": "1000 0.5 1\n", "kl": content})
        with pytest.raises(InputError, match=r"metrics/kl, line 1: .*, expected time, value and step"):
            read_run(directory)


def test_a_line_that_is_not_written_to_its_end_is_left_out(tmp_path: Path) -> None:
    whole = "1000 0.5 1\n2000 0.75 12\n"
    for length in range(len("1000 0.5 1\n") + 1, len(whole)):
        run = read_run(run_directory(tmp_path, {"reward": whole[:length]}))
        assert column(run, "step") == [1]
        assert run.warnings == ("'reward': line 2 was not written to its end: left out",)
    empty = read_run(run_directory(tmp_path, {"reward": whole, "kl": ""}))
    assert empty.warnings == ("'kl': the file is empty",)


def test_long_files_are_read_in_blocks(tmp_path: Path) -> None:
    count = 25_000
    reward = "".join(f"{step} 0.5 {step}\n" for step in range(1, count + 1))
    length = reward.replace("0.5 20001\n", "0.5 20001 a b\n")
    run = read_run(run_directory(tmp_path, {"reward": reward, "completions/mean_length": length}))
    assert column(run, "step") == list(range(1, count + 1))
    assert None not in column(run, "mean_length")


def test_links_out_of_a_run_are_refused(tmp_path: Path) -> None:
    directory = run_directory(tmp_path, {"reward": "1000 0.5 1\n"})
    outside = tmp_path / "secret"
    outside.write_text("1000 7 1\n")
    (directory / "metrics" / "kl").symlink_to(outside)
    with pytest.raises(InputError, match="'kl' is a link out of the run"):
        read_run(directory)
    assert [refusal.kind for refusal in find_runs(directory).refused] == ["unreadable"]
    (directory / "metrics" / "kl").unlink()
    (directory / "metrics" / "loop").symlink_to(directory)
    with pytest.raises(InputError, match="'loop' is a link out of the run"):
        read_run(directory)
    (directory / "metrics" / "loop").unlink()
    (directory / "metrics" / "entropy").symlink_to("reward")
    (directory / "params").mkdir()
    (directory / "params" / "beta").symlink_to(outside)
    run = read_run(directory)
    assert column(run, "entropy") == [0.5]
    assert "beta" not in run.facts


def test_too_many_keys_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rlchecks.readers.mlflow_files.MAX_KEYS", 3)
    directory = run_directory(tmp_path, dict.fromkeys(("reward", "a", "b", "c"), "1000 0.5 1\n"))
    with pytest.raises(InputError, match="more than 3 keys"):
        read_run(directory)


def test_too_many_values_are_an_error(store: Path, database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rlchecks.readers.mlflow_files.MAX_VALUES", 100)
    monkeypatch.setattr("rlchecks.readers.mlflow_sql.MAX_VALUES", 100)
    for path in (str(directory_of(store, "grpo resumed")), f"{database}#grpo resumed"):
        with pytest.raises(InputError, match="more than 100 values"):
            read_run(path)


def test_a_run_whose_description_is_lost_is_read_all_the_same(store: Path) -> None:
    directory = directory_of(store, "grpo killed")
    whole = read_run(directory)
    (directory / "meta.yaml").write_bytes(b"")
    run = read_run(directory)
    assert same(run, whole)
    assert run.facts["mlflow_run_id"] == directory.name


def test_a_directory_has_one_run(store: Path) -> None:
    directory = directory_of(store, "grpo killed")
    assert same(read_run(f"{directory}#{directory.name}"), read_run(directory))
    with pytest.raises(NotARunError, match="no run 'other' in it"):
        read_run(f"{directory}#other")


def survives(path: Path) -> bool:
    find_runs(path)
    try:
        run = read_run(path)
    except InputError as error:
        return not str(error)
    run.steps.validate(full=True)
    return True


def test_damaged_file_stores(store: Path) -> None:
    directory = directory_of(store, "grpo resumed")
    dice = random.Random(20261130)
    outcomes = set()
    for name in ("meta.yaml", "metrics/reward", "metrics/completions/mean_length", "params/max_steps"):
        path = directory / name
        data = path.read_bytes()
        for length in range(0, len(data), 23):
            path.write_bytes(data[:length])
            outcomes.add(survives(directory))
        for _ in range(25):
            flipped = bytearray(data)
            flipped[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
            path.write_bytes(flipped)
            outcomes.add(survives(directory))
        path.write_bytes(data)
    assert True in outcomes


def test_damage_in_a_database_is_never_silent(database: Path) -> None:
    """MLflow's primary key holds all that the table does, so that each value is there twice."""
    whole = runs_of(database)
    data = database.read_bytes()
    dice = random.Random(20261130)
    # Where the values are.
    pages = [at for at in range(0, len(data), 4096) if b"rewards/accuracy_reward/mean" in data[at : at + 4096]]
    for at in [dice.choice(pages) + dice.randrange(4096) for _ in range(25)]:
        flipped = bytearray(data)
        flipped[at] ^= 1 << dice.randrange(8)
        database.write_bytes(flipped)
        found = runs_of(database)
        for name, run in found.items():
            if isinstance(run, RunLog):
                one = whole[name]
                assert isinstance(one, RunLog)
                assert same(run, one)
    for length in range(0, len(data), 5 * 4096 + 1000):
        database.write_bytes(data[:length])
        with pytest.raises(InputError):
            read_run(f"{database}#grpo resumed")


TABLES = (
    "CREATE TABLE metrics (key, value, timestamp, run_uuid, step, is_nan)",
    "CREATE TABLE runs (run_uuid, name, lifecycle_stage, start_time)",
)


def by_hand(path: Path, values: list[tuple[Any, ...]], runs: list[tuple[Any, ...]] | None = None) -> Path:
    connection = sqlite3.connect(path)
    for table in TABLES:
        connection.execute(table)
    connection.executemany("INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)", values)
    connection.executemany("INSERT INTO runs VALUES (?, ?, ?, ?)", runs or [("r", "by hand", "active", 1)])
    connection.commit()
    connection.close()
    return path


def test_stored_values_of_all_kinds(tmp_path: Path) -> None:
    biggest = 1.7976931348623157e308
    values = [
        *((key, 0.5, step, "r", step, 0) for step in range(1, 10) for key in ("reward",)),
        ("kl", 0.0, 1, "r", 1, 1),
        ("kl", None, 2, "r", 2, 0),
        ("kl", biggest, 3, "r", 3, 0),
        ("kl", -biggest, 4, "r", 4, None),
        ("kl", 7, 5, "r", 5, 0),
        ("kl", "0.5", 6, "r", 6, 0),
        ("kl", b"\xff", 7, "r", 7, 0),
        ("kl", 0.5, 8, "r", "eight", 0),
        ("kl", 0.5, 9, "r", 9, 0),
    ]
    run = read_run(by_hand(tmp_path / "x.db", values))
    kl = column(run, "kl")
    assert repr(kl[:5]) == "[nan, nan, inf, -inf, 7.0]"
    assert kl[5:] == [None, None, None, 0.5]
    assert run.warnings == ("3 values that are no numbers or have no step: left out",)


def test_a_store_from_before_there_were_steps(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE metrics (key, value, timestamp, run_uuid)")
    connection.execute("CREATE TABLE runs (run_uuid)")
    connection.execute("INSERT INTO runs VALUES ('r')")
    connection.executemany("INSERT INTO metrics VALUES ('reward', ?, ?, 'r')", [(0.5, 2), (0.25, 1), (None, 3)])
    connection.commit()
    connection.close()
    run = read_run(path)
    assert repr(column(run, "reward")) == "[0.25, 0.5, nan]"


def test_a_store_that_lacks_columns_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE metrics (key, run_uuid)")
    connection.execute("CREATE TABLE runs (run_uuid)")
    connection.execute("INSERT INTO runs VALUES ('r')")
    connection.commit()
    connection.close()
    with pytest.raises(InputError, match="its table 'metrics' has no column 'value', 'timestamp'"):
        read_run(path)


def test_hostile_names_of_runs(tmp_path: Path) -> None:
    names = ["a#b", "new\nline", "../../etc/passwd", "x" * 10_000, "", "\u202e", "PATH#a#b"]
    path = by_hand(
        tmp_path / "x.db",
        [("reward", step, step, name, step, 0) for name in names for step in (1, 2)],
        [(name, name, "active", None) for name in names],
    )
    assert MlflowReader().parts(path) == names
    found = [read_run(str(source)) for source in find_runs(path).sources]
    assert sorted(run.facts.get("mlflow_run_id", "") for run in found) == sorted(names)
    with pytest.raises(InputError) as error:
        read_run(path)
    assert str(error.value).isprintable()


def test_runs_without_a_reward_are_refused_one_by_one(database: Path) -> None:
    refused = [reason for reason in runs_of(database).values() if isinstance(reason, str)]
    assert len(refused) == 1
    connection = sqlite3.connect(database)
    connection.execute("DELETE FROM metrics WHERE key LIKE '%reward'")
    connection.commit()
    connection.close()
    assert all("none with a reward" in str(reason) for reason in runs_of(database).values())


def test_other_databases_are_passed_over(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "other.db")
    connection.execute("CREATE TABLE metrics (name, value)")
    connection.commit()
    connection.close()
    (tmp_path / "thumbs.db").write_bytes(b"\xd0\xcf\x11\xe0 not SQLite")
    found = find_runs(tmp_path)
    assert (found.sources, found.refused) == ([], [])
    with pytest.raises(NotARunError, match="no training log that is known"):
        read_run(tmp_path / "other.db")


def test_the_users_own_reward(tmp_path: Path) -> None:
    path = by_hand(tmp_path / "x.db", [("points", 0.5 * n, n, "r", 0, 0) for n in (1, 2, 3)])
    run = read_run(path, columns={"points": "reward"})
    assert column(run, "reward") == [0.5, 1.0, 1.5]
    assert np.isfinite(run.training_steps["step"].to_numpy()).all()


def test_what_may_lie_beside_is_named(tmp_path: Path) -> None:
    reader = MlflowReader()
    assert [os.fspath(path) for path in reader.beside(tmp_path / "x.db")] == [
        f"{tmp_path}/x.db-wal",
        f"{tmp_path}/x.db-journal",
    ]
    assert reader.holds(["meta.yaml", "metrics", "params"])
    assert not reader.holds(["meta.yaml", "0"])
