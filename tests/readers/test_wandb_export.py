"""Histories that were exported from Weights & Biases."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rlchecks.errors import InputError, NotARunError
from rlchecks.readers import find_runs, read_run

Write = Callable[[str, str | bytes], Path]

# As run.scan_history() has them for a run of TRL: timings and tables in rows of their own.
ROWS: list[dict[str, object]] = [
    row
    for step in range(1, 6)
    for row in (
        {"_step": 4 * step, "train/global_step": step - 1, "profiling/x": 0.1},
        {"_step": 4 * step + 1, "train/global_step": step, "train/reward": step / 10, "train/kl": None},
        {"_step": 4 * step + 2, "train/global_step": step, "profiling/x": 0.2},
        {"_step": 4 * step + 3, "train/global_step": step, "table": {"_type": "table-file", "nrows": 4}},
    )
]
for place, row in enumerate(ROWS):
    row |= {"_runtime": place / 10, "_timestamp": 1.8e9 + place}


def as_csv(rows: Sequence[Mapping[str, object]]) -> str:
    names = list(dict.fromkeys(key for row in rows for key in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def as_parquet(rows: list[dict[str, object]]) -> bytes:
    sink = pa.BufferOutputStream()
    names = list(dict.fromkeys(key for row in rows for key in row))
    pq.write_table(pa.Table.from_pylist([{name: row.get(name) for name in names} for row in rows]), sink)
    return bytes(sink.getvalue().to_pybytes())


FORMS = {
    "history.csv": as_csv(ROWS),
    "history.json": json.dumps(ROWS),
    "history.jsonl": "".join(json.dumps(row) + "\n" for row in ROWS),
    "history.parquet": as_parquet(ROWS),
}


@pytest.mark.parametrize("name", FORMS)
def test_timings_and_tables_do_not_supersede_a_step(write: Write, name: str) -> None:
    path = write(f"grpo/{name}", FORMS[name])
    log = read_run(path)
    assert log.training_steps["step"].to_pylist() == [1, 2, 3, 4, 5]
    assert log.training_steps["reward"].to_pylist() == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert log.repeated_steps == 0
    assert log.warnings == ()
    assert log.name == "grpo"
    assert [str(source) for source in find_runs(path.parent).sources] == [str(path)]
    if name != "history.csv":
        assert log.facts["not_read"] == "'table'"


def test_texts_of_numbers_that_are_not_finite_are_numbers(write: Write) -> None:
    rows = [
        {"_step": step, "_runtime": 1.0, "reward": text} for step, text in enumerate(["NaN", "Infinity", "-Infinity"])
    ]
    for name, content in (("a.json", json.dumps(rows)), ("a.csv", as_csv(rows))):
        rewards = read_run(write(name, content)).training_steps["reward"].to_pylist()
        assert math.isnan(rewards[0])
        assert rewards[1:] == [math.inf, -math.inf]


def test_a_sample_of_500_rows_is_told_from_all_rows(write: Write) -> None:
    def history(steps: Sequence[int]) -> str:
        return as_csv([{"_step": step, "_timestamp": 1.0, "reward": 0.5} for step in steps])

    sample = read_run(write("sample.csv", history([(7 * place) // 2 for place in range(500)])))
    assert [warning for warning in sample.warnings if "sample" in warning] == [
        "exactly 500 rows of 1,747 log calls: run.history() hands out a sample of that size; run.scan_history() hands"
        " out all rows"
    ]
    for name, steps in (("all", range(500)), ("tens", range(0, 5000, 10)), ("more", [*range(400), *range(500, 640)])):
        assert not read_run(write(f"{name}.csv", history(steps))).warnings


def test_the_summary_of_a_run_is_no_log(write: Write) -> None:
    summary = {"_step": 900, "_runtime": 5.0, "_timestamp": 1.0, "train/reward": 0.5}
    path = write("summary.json", json.dumps([summary]))
    with pytest.raises(NotARunError, match="one row, that of log call 900: the summary of a run"):
        read_run(path)
    one = write("one.json", json.dumps([{**summary, "_step": 0}]))
    assert len(read_run(one).training_steps) == 1
    # As old SDKs leave it beside the history.
    run = "run-20200101_000001-abc"
    history = write(f"{run}/wandb-history.jsonl", FORMS["history.jsonl"])
    write(f"{run}/wandb-summary.json", json.dumps(summary))
    assert [source.path for source in find_runs(history.parent).sources] == [history]
    assert read_run(history).name == run
    with pytest.raises(InputError, match="no training log that is known"):
        read_run(history.parent / "wandb-summary.json")


def test_a_table_without_the_clock_of_weights_and_biases_is_another_table(write: Write) -> None:
    path = write("mine.csv", "_step,reward\n0,0.5\n1,0.6\n")
    assert read_run(path).training_steps["step"].to_pylist() == [0, 1]
    without_reward = write("sft.csv", "_step,_runtime,loss\n0,1,0.5\n1,2,0.6\n")
    with pytest.raises(NotARunError):
        read_run(without_reward)
