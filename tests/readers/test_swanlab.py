"""SwanLab: real logs of three generations, and what must not be taken for a number."""

from __future__ import annotations

import json
import random
import shutil
import struct
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlchecks.errors import InputError
from rlchecks.readers import find_runs, read_run
from rlchecks.readers.rows import MAX_KEYS
from rlchecks.readers.swanlab import SwanLabReader
from rlchecks.readers.swanlab_scalars import Scalars
from rlchecks.run import RunLog
from tests.readers.record_logs import SWANLAB, SWANLAB_JSON, field, frame, scalar

DATA = Path(__file__).parent / "data" / "swanlab"
WHOLE = sorted(DATA.glob("*/whole/swanlog"))
VERSIONS = [folder.parent.parent.name for folder in WHOLE]


def values(log: RunLog, name: str) -> list[float | None]:
    found: list[float | None] = log.training_steps[name].to_pylist()
    return found


@pytest.mark.parametrize("folder", WHOLE, ids=VERSIONS)
def test_a_real_run_is_read_in_full(folder: Path) -> None:
    log = read_run(folder)
    assert log.name == f"toy {log.facts['swanlab_run_id']}"
    assert (log.framework, log.planned_steps, log.repeated_steps) == ("trl_grpo", 12, 0)
    assert values(log, "step") == [1, 2, 3, 4, 5, 6]
    newest = folder.parent.parent.name == "0.10.3"
    # The versions before write both infinities alike.
    assert repr(values(log, "reward")) == f"[0.1, nan, inf, {'-' if newest else ''}inf, 0.5, 0.6]"
    assert values(log, "mean_length") == [31.0, 32.0, 33.0, 34.0, 35.0, 36.0]
    assert log.validation.select(["step", "score"]).to_pylist() == [{"step": 3, "score": 0.5}]
    assert len(log.warnings) == (0 if newest else 1)
    wanted = {"beta": "0.04", "num_generations": "8", "logging_steps": "1", "state": "finished"}
    assert wanted.items() <= log.facts.items()
    assert "secret" not in repr(log)
    assert not any(key.startswith("__swanlab__") for key in log.unmapped)


@pytest.mark.parametrize("folder", WHOLE, ids=VERSIONS)
def test_folder_directory_and_file_are_the_same_run(folder: Path) -> None:
    (directory,) = folder.glob("run-*")
    files = [path for path in (*folder.iterdir(), *directory.iterdir()) if path.suffix == ".swanlab"]
    logs = [read_run(path) for path in (folder, directory, *files)]
    assert len(files) == 1
    # As text, since a NaN does not equal itself.
    assert len({repr(log.steps.to_pylist()) for log in logs}) == 1
    assert len({log.run_id for log in logs}) == 1
    assert [str(source) for source in find_runs(folder.parent).sources] == [str(folder)]


def test_a_run_that_was_resumed_by_its_id_is_one_run() -> None:
    log = read_run(DATA / "0.10.3" / "resumed")
    assert values(log, "step") == [1, 2, 3, 4, 5, 6, 7, 8]
    assert values(log, "reward") == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
    assert log.repeated_steps == 2


def test_a_run_that_was_killed_keeps_what_reached_the_disk() -> None:
    log = read_run(DATA / "0.10.3" / "killed")
    steps = values(log, "step")
    assert steps == list(range(1, len(steps) + 1))
    assert values(log, "reward") == [step / 100 for step in range(1, len(steps) + 1)]
    # Its last step is there in part, and so is the step of it, though the key of the trainer is not.
    assert values(log, "kl")[-1] is None
    assert "state" not in log.facts
    assert ["ends within a record" in warning for warning in log.warnings] == [True]


def objects(*scalars: tuple[str, object, object]) -> bytes:
    records = [
        {"model_type": "Scalar", "data": {"metric": {"index": step, "data": value}, "key": key, "step": step}}
        for key, step, value in scalars
    ]
    return frame([json.dumps(record).encode() + b"\n" for record in records], SWANLAB_JSON)


def write(folder: Path, data: bytes, name: str = "run-a.swanlab") -> Path:
    path = folder / "run-20260101_000001-a" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_what_the_version_with_json_does_not_log_as_a_number_is_left_out(tmp_path: Path) -> None:
    odd: list[tuple[str, object, object]] = [
        ("reward", 1, 0.5),
        ("reward", 2, "abc"),
        ("reward", 3, None),
        ("reward", 4, True),
        ("reward", "5", 0.5),
        ("reward", 10**400, 0.5),
        ("reward", 7, 10**400),
        ("reward", 8, {"a": 1}),
        ("reward", 9, "NaN"),
        ("__swanlab__.cpu.pct", 0, 3.0),
    ]
    log = read_run(write(tmp_path, objects(*odd), "backup.swanlab"))
    assert repr(values(log, "reward")) == "[0.5, nan]"
    assert values(log, "step") == [1, 9]
    assert log.warnings == ("7 records left out: not what SwanLab writes",)


def test_scalars_without_a_value_are_missing_and_zeros_are_zeros(tmp_path: Path) -> None:
    nothing = field(13, field(1, "reward") + field(2, 2))
    zero = field(13, field(1, "reward") + field(2, 3) + field(5, b""))
    short = field(13, field(1, "reward") + field(2, 4) + field(5, field(1, b"abc")))
    records = [scalar("reward", 0, 0.5), nothing, zero, short, b"\xff", scalar("reward", -1, 0.7)]
    log = read_run(write(tmp_path, frame(records, SWANLAB)))
    assert values(log, "step") == [0, 3]
    assert values(log, "reward") == [0.5, 0.0]
    assert log.warnings[0] == "3 records left out: not what SwanLab writes"
    assert "without a usable '_step'" in log.warnings[1]


def test_media_texts_and_console_are_passed_over(tmp_path: Path) -> None:
    media = field(14, field(1, "reward") + field(2, 1) + field(5, field(1, field(1, "a.png"))))
    console = field(16, field(1, "line"))
    records = [media, console, scalar("reward", 1, 0.5), field(11, field(1, 2))]
    log = read_run(write(tmp_path, frame(records, SWANLAB)))
    assert (values(log, "reward"), log.facts["state"], log.warnings) == ([0.5], "crashed", ())


def test_the_step_of_the_trainer_is_used_where_it_is_another(tmp_path: Path) -> None:
    records = [scalar(key, call, float(10 * call)) for call in range(1, 4) for key in ("train/global_step", "reward")]
    assert values(read_run(write(tmp_path, frame(records, SWANLAB))), "step") == [10, 20, 30]


def test_the_version_and_the_settings_are_read_from_the_files_beside(tmp_path: Path) -> None:
    path = write(tmp_path, frame([scalar("reward", step, 0.5) for step in range(3)], SWANLAB))
    files = path.parent / "files"
    files.mkdir()
    (files / "swanlab-metadata.json").write_text('{"swanlab": {"version": "0.9.8"}, "hostname": "secret"}')
    settings = {"beta": "0.04", "loss_type": "'dapo'", "max_steps": "30", "api_key": "secret", "temperature": "null"}
    text = "".join(f"{name}:\n  desc: ''\n  sort: 0\n  value: {value}\n" for name, value in settings.items())
    (files / "config.yaml").write_text(text + "nested:\n  desc: ''\n  sort: 5\n  value:\n    beta: 3\n")
    (files / "requirements.txt").write_text("trl==0.20.0\n")
    log = read_run(path)
    assert log.facts["swanlab_version"] == "0.9.8"
    assert (log.facts["beta"], log.facts["loss_type"], log.planned_steps) == ("0.04", "dapo", 30)
    assert "temperature" not in log.facts
    assert "secret" not in repr(log.facts)
    assert len(log.inputs) == 4
    for content in ("[" * 9999, "[1]", "\xff", '{"swanlab": 3}'):
        (files / "swanlab-metadata.json").write_text(content, encoding="latin-1")
        assert "swanlab_version" not in read_run(path).facts


def test_runs_in_one_folder_are_told_apart(tmp_path: Path) -> None:
    for run_id in ("a", "b"):
        directory = tmp_path / f"run-20260101_000001-{run_id}"
        directory.mkdir()
        (directory / f"run-{run_id}.swanlab").write_bytes(
            frame([field(10, field(4, "same")), scalar("reward", 1, 0.5)], SWANLAB)
        )
    (tmp_path / "run-20260101_000002-c").mkdir()
    (tmp_path / "run-20260101_000002-c" / "run-c.swanlab").write_bytes(SWANLAB)
    found = find_runs(tmp_path)
    assert SwanLabReader().parts(tmp_path) == ["a", "b", "c"]
    logs = [read_run(f"{tmp_path}#{part}") for part in ("a", "b")]
    assert len({log.run_id for log in logs}) == 2
    assert [refusal.reason for refusal in found.refused if refusal.kind == "not_a_run"] == ["nothing was logged."]


def local_run(tmp_path: Path) -> tuple[Path, Path]:
    """Copy the run of local mode; its folder, and its directory with values."""
    folder = tmp_path / "swanlog"
    shutil.copytree(DATA / "0.5.9" / "whole" / "swanlog", folder)
    (directory,) = folder.glob("run-*")
    return folder, directory / "logs"


def test_the_values_of_local_mode_may_be_in_several_files(tmp_path: Path) -> None:
    folder, logs = local_run(tmp_path)
    (logs / "0" / "2000.log").write_text('{"index": 8, "data": 0.8}\n{"index": 9, "data": "abc"}\n{"index": 10, "da')
    (logs / "0" / "10000.log").write_text('{"index": 11, "data": 0.9}\n')
    (logs / "0" / "_summary.json").write_text("{}")
    (logs / "7777").mkdir()
    log = read_run(folder)
    assert values(log, "step") == [1, 2, 3, 4, 5, 6, 8, 11]
    assert values(log, "reward")[-2:] == [0.8, 0.9]
    assert "0/2000.log: line 3 was not written to its end: left out" in log.warnings
    assert "1 value left out: not numeric" in log.warnings


def test_a_damaged_local_run_is_an_error(tmp_path: Path) -> None:
    folder, logs = local_run(tmp_path)
    whole = (logs / "0" / "1000.log").read_bytes()
    (logs / "0" / "1000.log").write_bytes(b"{" + whole)
    with pytest.raises(InputError, match="line 1"):
        read_run(folder)
    (logs / "0" / "1000.log").write_bytes(whole)
    database = folder / "runs.swanlab"
    database.write_bytes(database.read_bytes()[:3000])
    with pytest.raises(InputError, match="SQLite"):
        read_run(folder)
    database.write_bytes(b"")
    with pytest.raises(InputError):
        read_run(folder)
    database.unlink()
    assert not SwanLabReader().detect(folder, b"")


def test_links_in_a_local_run_are_not_followed(tmp_path: Path) -> None:
    folder, logs = local_run(tmp_path)
    elsewhere = tmp_path / "elsewhere.log"
    shutil.move(logs / "0" / "1000.log", elsewhere)
    (logs / "0" / "1000.log").symlink_to(elsewhere)
    log = read_run(folder)
    assert values(log, "reward") == [None] * 6
    assert values(log, "kl")[0] == 0.01


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "empty"),
        (SWANLAB[:5], "cut off within the header of a SwanLab log"),
        (struct.pack("<4sHB", b":SWL", 0xE1D6, 3), "version 3 of the SwanLab log, of which 1 and 2 can be read"),
        (SWANLAB, "0 logged rows, none with a reward"),
    ],
)
def test_what_is_no_log_is_one_clear_error(tmp_path: Path, data: bytes, problem: str) -> None:
    path = write(tmp_path, data)
    for place in (path.parent, tmp_path):
        with pytest.raises(InputError, match=problem):
            read_run(place)


def truth(folder: Path) -> dict[int, Mapping[str, object]]:
    steps = read_run(folder).training_steps
    return {row["step"]: row for row in steps.select(["step", "reward", "kl", "mean_length"]).to_pylist()}


@pytest.mark.parametrize("version", ["0.7.20", "0.10.3"])
@pytest.mark.parametrize("stride", [pytest.param(101, id="some"), pytest.param(7, id="many", marks=pytest.mark.slow)])
def test_damage_leaves_true_values_and_a_warning(tmp_path: Path, version: str, stride: int) -> None:
    (file,) = DATA.glob(f"{version}/whole/swanlog/run-*/*.swanlab")
    known = truth(file.parent)
    whole = file.read_bytes()
    path = tmp_path / "run-a.swanlab"

    def survives(data: bytes) -> RunLog | None:
        path.write_bytes(data)
        try:
            log = read_run(path)
        except InputError:
            return None
        for row in log.training_steps.select(["step", "reward", "kl", "mean_length"]).to_pylist():
            true = known[row["step"]]
            assert all(value is None or repr(value) == repr(true[key]) for key, value in row.items())
        return log

    for end in range(0, len(whole), stride):
        survives(whole[:end])
    chosen = random.Random(3)
    for _ in range(len(whole) // stride):
        damaged = bytearray(whole)
        place = chosen.randrange(56, len(whole) * 8)
        damaged[place // 8] ^= 1 << place % 8
        log = survives(bytes(damaged))
        assert log is None or any("damaged" in warning or "ends within" in warning for warning in log.warnings)


def test_a_log_with_more_keys_than_any_is_an_error(tmp_path: Path) -> None:
    records = (scalar(f"key{number}", 1, 0.5) for number in range(MAX_KEYS + 1))
    with pytest.raises(InputError, match="20,000 different keys"):
        read_run(write(tmp_path, frame(records, SWANLAB)))


logged = st.lists(st.tuples(st.sampled_from("abc"), st.integers(-2, 3), st.floats()), max_size=30)


@given(logged)
def test_rows_hold_each_value_once_at_its_step(scalars: list[tuple[str, int, float]]) -> None:
    collected = Scalars(Path("log"))
    for key, step, value in scalars:
        collected.add(key, step, value)
    rows = [dict(row) for row in collected.rows()]
    found = [(key, row["_step"], value) for row in rows for key, value in row.items() if key != "_step"]
    assert sorted(map(repr, found)) == sorted(map(repr, scalars))
    # Values of one key and step stay in their order, and a row begins with the first of its values.
    for key in "abc":
        for step in range(-2, 4):
            logged_values = [repr(value) for one, at, value in scalars if (one, at) == (key, step)]
            assert [repr(row[key]) for row in rows if row["_step"] == step and key in row] == logged_values
    firsts = list(dict.fromkeys(step for _, step, _ in scalars))
    assert list(dict.fromkeys(row["_step"] for row in rows)) == firsts
    assert all(isinstance(row["_step"], (int, np.integer)) for row in rows)
