"""The vocabulary on real logs: what must come out stands in the READMEs beside the data."""

from __future__ import annotations

from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from rlchecks.errors import NotARunError
from rlchecks.readers import read_run
from rlchecks.run import RunLog

# File: rows, then metric to its mean in the first and the last fifth of the run.
TINKER: dict[str, tuple[int, dict[str, tuple[float, float]]]] = {
    "arithmetic": (
        100,
        {
            "reward": (0.9663, 0.998),
            "mean_length": (4.99, 5),
            "kl_sampler": (6.574e-05, -7.431e-06),
            "entropy": (0.0916, 0.002094),
        },
    ),
    "distillation_on": (
        35,
        {
            "reward": (0, 0),
            "mean_length": (1091, 4096),
            "zero_std_fraction": (1, 1),
            "kl_sampler": (0.0006556, 4.215e-06),
            "entropy": (4.561, 0.005997),
        },
    ),
}


def train(run: RunLog, metric: str) -> list[Any]:
    return list(run.training_steps[metric].to_pylist())


@pytest.mark.parametrize("name", TINKER)
def test_tinkers_metrics_are_those_that_were_read_off_by_hand(name: str, shared_data: Path) -> None:
    count, metrics = TINKER[name]
    directory = shared_data / "public" / "tinker" / f"{name.replace('_', '-')}-metrics"
    run = read_run(directory / f"{name}_metrics.jsonl")
    assert run.framework == "tinker"
    assert train(run, "step") == list(range(count))
    for metric, (first, last) in metrics.items():
        values = train(run, metric)
        fifth = count // 5
        assert mean(values[:fifth]) == pytest.approx(first, rel=6e-4), metric
        assert mean(values[-fifth:]) == pytest.approx(last, rel=6e-4), metric
    assert set(train(run, "kl")) == {None}
    assert run.warnings == ()


def test_tinkers_supervised_log_is_no_run(shared_data: Path) -> None:
    with pytest.raises(NotARunError):
        read_run(shared_data / "public" / "tinker" / "distillation-off-metrics" / "distillation_off_metrics.jsonl")


def test_what_a_loop_of_its_own_logs_as_0_throughout_is_not_measured(shared_data: Path) -> None:
    run = read_run(shared_data / "public" / "custom_jsonl" / "countdown-grpo" / "metrics.jsonl")
    assert run.facts["metrics_switched_off"] == "kl_sampler,entropy"
    assert set(train(run, "entropy")) == set(train(run, "kl_sampler")) == {None}
    assert run.facts["metrics_derived"] == "clipped_ratio = truncated_count / rollout_count"
    assert train(run, "clipped_ratio")[0] == 5 / 20


def test_a_divergence_that_starts_at_0_is_measured(shared_data: Path) -> None:
    run = read_run(shared_data / "public" / "custom_jsonl" / "rookworld" / "training_history.jsonl")
    assert train(run, "kl")[0] == 0
    assert "metrics_switched_off" not in run.facts
