"""prime-rl: two processes, several rows a step, resumed runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rlchecks.errors import InputError, NotARunError
from rlchecks.readers import find_runs, read_run
from rlchecks.run import RunLog

Row = dict[str, Any]


def orchestrator(step: int, time: float, reward: float) -> list[Row]:
    """The orchestrator's rows of a step, with the names since August 2026."""
    metrics = {
        "train/agg/all/reward/mean": reward,
        "train/agg/all/is_truncated/mean": 0.125,
        "train/agg/all/num_output_tokens/mean": 300.0 + step,
        "train/agg/all/solved_none": 0.25,
        "train/agg/all/solved_all": 0.5,
        "train/agg/effective/reward/mean": 0.99,
    }
    return [{"step": step, "time": time, **metrics}]


def trainer(step: int, time: float) -> list[Row]:
    """The trainer's rows of a step."""
    parts: list[Row] = [
        {"perf/throughput": 1000.0, "perf/mfu": 0.4},
        {"optim/lr": 1e-6, "optim/grad_norm": 0.1 * step},
        {"entropy/all/mean": 0.5, "mismatch_kl/all/mean": 0.01, "loss/mean": 0.0},
        {"time/step": 30.0},
    ]
    return [{"step": step, "time": time + 0.1 * place, **part} for place, part in enumerate(parts)]


def write(path: Path, rows: Sequence[Row]) -> None:
    """Write a log."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def column(run: RunLog, name: str, split: str = "train") -> list[object]:
    return [row[name] for row in run.steps.to_pylist() if row["split"] == split]


def check(run: RunLog, rewards: Sequence[float]) -> None:
    """What every layout of the same run has to say."""
    steps = list(range(len(rewards)))
    assert run.framework == "prime_rl"
    assert column(run, "step") == steps
    assert column(run, "reward") == list(rewards)
    assert column(run, "clipped_ratio") == [0.125] * len(steps)
    assert column(run, "mean_length") == [300.0 + step for step in steps]
    assert column(run, "grad_norm") == pytest.approx([0.1 * step for step in steps])
    assert column(run, "kl") == [None] * len(steps)
    assert column(run, "kl_sampler") == [0.01] * len(steps)
    assert column(run, "step_time") == [30.0] * len(steps)


REWARDS = [0.1, 0.2, 0.3, 0.4]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("metrics.jsonl", "run_default/metrics.jsonl"),
        ("trainer/metrics.jsonl", "orchestrator/metrics.jsonl"),
    ],
)
def test_two_logs_are_one_run(tmp_path: Path, ours: str, theirs: str) -> None:
    run = tmp_path / "my-run"
    write(run / ours, [row for step in range(4) for row in trainer(step, 100.0 * step + 50)])
    write(
        run / theirs, [row for step, reward in enumerate(REWARDS) for row in orchestrator(step, 100.0 * step, reward)]
    )
    read = read_run(run)
    check(read, REWARDS)
    assert read.name == "my-run"
    assert len(read.inputs) == 2
    assert [source.path for source in find_runs(tmp_path).sources] == [run.resolve()]


def test_one_log_of_both(tmp_path: Path) -> None:
    rows = [row for step, r in enumerate(REWARDS) for row in [*orchestrator(step, step, r), *trainer(step, step + 0.5)]]
    write(tmp_path / "run" / "metrics.jsonl", rows)
    check(read_run(tmp_path / "run"), REWARDS)


def test_the_orchestrator_runs_ahead_of_the_trainer(tmp_path: Path) -> None:
    rows = [row for step, r in enumerate(REWARDS) for row in orchestrator(step, 10.0 * step, r)]
    rows += [row for step in range(4) for row in trainer(step, 10.0 * step + 25)]
    write(tmp_path / "run" / "metrics.jsonl", sorted(rows, key=lambda row: row["time"]))
    check(read_run(tmp_path / "run"), REWARDS)


def test_of_a_resumed_run_the_later_rows_count(tmp_path: Path) -> None:
    first = [row for step in range(3) for row in [*orchestrator(step, step, 0.9), *trainer(step, step + 0.5)]]
    again = [row for step, r in enumerate(REWARDS) for row in orchestrator(step, 100.0 + step, r)]
    again += [row for step in range(4) for row in trainer(step, 100.5 + step)]
    run = tmp_path / "run"
    write(
        run / "run_default" / "metrics.jsonl", [row for row in [*first, *again] if "train/agg/all/reward/mean" in row]
    )
    write(run / "metrics.jsonl", [row for row in [*first, *again] if "train/agg/all/reward/mean" not in row])
    check(read_run(run), REWARDS)


def test_the_settings_tell_the_plan(tmp_path: Path) -> None:
    rows = [row for step, r in enumerate(REWARDS) for row in [*orchestrator(step, step, r), *trainer(step, step + 0.5)]]
    write(tmp_path / "a" / "metrics.jsonl", rows)
    (tmp_path / "a" / "configs").mkdir()
    (tmp_path / "a" / "configs" / "rl.json").write_text('{"max_steps": 100}')
    write(tmp_path / "b" / "metrics.jsonl", rows)
    (tmp_path / "b" / "configs").mkdir()
    (tmp_path / "b" / "configs" / "rl.toml").write_text("max_steps = 100\n")
    assert read_run(tmp_path / "a").planned_steps == 100
    assert read_run(tmp_path / "b").planned_steps == 100
    (tmp_path / "b" / "configs" / "rl.toml").write_bytes(b"\xff = [")
    assert read_run(tmp_path / "b").planned_steps is None


def test_a_log_of_the_trainer_alone_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "run" / "metrics.jsonl", [row for step in range(3) for row in trainer(step, step)])
    with pytest.raises(NotARunError, match="none with a reward"):
        read_run(tmp_path / "run")
    assert find_runs(tmp_path).sources == []


def test_other_metrics_files_are_not_claimed(tmp_path: Path) -> None:
    write(tmp_path / "run" / "metrics.jsonl", [{"step": step, "reward": 0.5} for step in range(3)])
    assert read_run(tmp_path / "run").framework == "table"
    write(tmp_path / "latency" / "metrics.jsonl", [{"step": 1, "time": 5, "latency": 0.5}] * 3)
    assert len(find_runs(tmp_path).sources) == 1


def test_torn_logs(tmp_path: Path) -> None:
    run = tmp_path / "run"
    write(run / "metrics.jsonl", [row for step in range(4) for row in trainer(step, step)])
    write(run / "run_default" / "metrics.jsonl", [row for s, r in enumerate(REWARDS) for row in orchestrator(s, s, r)])
    path = run / "run_default" / "metrics.jsonl"
    data = path.read_bytes()
    path.write_bytes(data[:-20])
    read = read_run(run)
    assert column(read, "reward") == [0.1, 0.2, 0.3, None]
    assert read.warnings[0] == "run_default/metrics.jsonl: line 4 was not written to its end: left out"
    path.write_bytes(data[:300] + data[310:])
    with pytest.raises(InputError):
        read_run(run)
