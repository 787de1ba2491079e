"""Damaged files end in rows or in an InputError, nothing else."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rlchecks.errors import InputError
from rlchecks.readers import find_runs, read_run

ROWS: list[dict[str, Any]] = [
    {
        "step": step,
        "epoch": step / 10,
        "reward": 0.1 * step,
        "rewards/f/mean": 0.2,
        "kl": 1e-5,
        "note": "é",
        "loss": -1.0,
    }
    for step in range(1, 9)
]


def as_csv() -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, ROWS[0])
    writer.writeheader()
    writer.writerows(ROWS)
    return text.getvalue().encode()


def as_parquet() -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(ROWS), sink)
    return bytes(sink.getvalue().to_pybytes())


FILES = {
    "trainer_state.json": json.dumps({"log_history": [*ROWS, {"step": 8, "eval_reward": 0.1}]}).encode(),
    "a.jsonl": b"".join(json.dumps(row).encode() + b"\n" for row in ROWS),
    "a.csv": as_csv(),
    "a.parquet": as_parquet(),
}


def survives(path: Path, data: bytes) -> bool:
    path.write_bytes(data)
    find_runs(path)
    try:
        run = read_run(path)
    except InputError as error:
        return not str(error)
    run.steps.validate(full=True)
    assert len(run.steps) > 0
    return True


@pytest.mark.parametrize("name", FILES)
def test_truncated_files(name: str, tmp_path: Path) -> None:
    data = FILES[name]
    assert survives(tmp_path / name, data)
    outcomes = {survives(tmp_path / name, data[:length]) for length in range(0, len(data), 97)}
    assert False in outcomes


@pytest.mark.parametrize("name", FILES)
def test_flipped_bits(name: str, tmp_path: Path) -> None:
    dice = random.Random(20261130)
    outcomes = set()
    for _ in range(150):
        data = bytearray(FILES[name])
        for _ in range(dice.choice((1, 1, 4))):
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        outcomes.add(survives(tmp_path / name, bytes(data)))
    assert outcomes == {True, False}


def test_truncated_and_flipped_completions_leave_the_run(tmp_path: Path) -> None:
    (tmp_path / "trainer_state.json").write_bytes(FILES["trainer_state.json"])
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"step": [1], "prompt": ["p"], "completion": ["c"], "f": [1.0]}), sink)
    whole = bytes(sink.getvalue().to_pybytes())
    (tmp_path / "completions").mkdir()
    path = tmp_path / "completions" / "completions_00001.parquet"
    dice = random.Random(20261130)
    for length in range(0, len(whole), 97):
        flipped = bytearray(whole)
        flipped[dice.randrange(len(whole))] ^= 1 << dice.randrange(8)
        for data in (whole[:length], bytes(flipped)):
            path.write_bytes(data)
            run = read_run(tmp_path)
            assert len(run.steps) == 9
            assert len(run.completions) == 1 or "1 completions file left out" in run.warnings[0]
