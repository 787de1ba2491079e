"""Public logs that frameworks wrote themselves end as their README says: steps, and the levels of the metrics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pytest

from rlchecks.errors import NotARunError
from rlchecks.readers import find_runs, read_run
from rlchecks.readers.columnar import ColumnarReader
from rlchecks.readers.columnar_rows import logs_in
from rlchecks.readers.files import parse_json
from rlchecks.run import RunLog

# Mean of the first and last fifth of the run, to four digits, as the README of the data has them.
LEVELS = {
    "tinker/arithmetic-metrics/arithmetic_metrics.jsonl": (
        ("tinker", 100),
        {"reward": (0.9663, 0.998), "mean_length": (4.99, 5), "entropy": (0.0916, 0.002094)},
    ),
    "tinker/distillation-on-metrics/distillation_on_metrics.jsonl": (
        ("tinker", 35),
        {"reward": (0, 0), "mean_length": (1091, 4096), "entropy": (4.561, 0.005997)},
    ),
    "custom_jsonl/countdown-grpo/metrics.jsonl": (
        ("table", 500),
        {
            "reward": (0.975, 1.133),
            "reward_std": (0.7136, 0.597),
            "zero_std_fraction": (0.2975, 0.5875),
            "mean_length": (458.9, 399.6),
        },
    ),
}
WITHOUT = {
    "tinker/arithmetic-metrics/arithmetic_metrics.jsonl": ("kl", "reward_std", "clipped_ratio"),
    "tinker/distillation-on-metrics/distillation_on_metrics.jsonl": ("kl", "reward_std", "clipped_ratio"),
    # Exactly 0 in all rows, since the loop does not measure them.
    "custom_jsonl/countdown-grpo/metrics.jsonl": ("kl", "kl_sampler", "entropy"),
}


@pytest.fixture
def public(shared_data: Path) -> Path:
    return shared_data / "public"


def level(run: RunLog, metric: str) -> tuple[float, float]:
    values = run.training_steps[metric].to_numpy()
    part = len(values) // 5
    return float(values[:part].mean()), float(values[-part:].mean())


@pytest.mark.parametrize("name", LEVELS)
def test_steps_and_levels(public: Path, name: str) -> None:
    (framework, steps), levels = LEVELS[name]
    run = read_run(public / name)
    assert run.framework == framework
    assert run.training_steps.num_rows == steps
    assert run.repeated_steps == 0
    for metric, expected in levels.items():
        assert level(run, metric) == pytest.approx(expected, rel=1e-3), metric
    for metric in WITHOUT[name]:
        assert run.training_steps[metric].null_count == steps, metric


@pytest.mark.parametrize("name", [name for name in LEVELS if name.startswith("tinker")])
def test_the_share_without_a_spread_is_what_is_not_mixed(public: Path, name: str) -> None:
    steps = read_run(public / name).training_steps
    mixed = np.array([dict(row)["env/all/by_group/frac_mixed"] for row in steps["extra"].to_pylist()])
    assert steps["zero_std_fraction"].to_numpy() == pytest.approx(1 - mixed)


def test_distance_from_the_sampler_is_no_distance_from_the_start(public: Path) -> None:
    run = read_run(public / "tinker/arithmetic-metrics/arithmetic_metrics.jsonl")
    assert level(run, "kl_sampler") == pytest.approx((6.574e-05, -7.431e-06), rel=1e-3)


def test_supervised_distillation_is_refused(public: Path) -> None:
    with pytest.raises(NotARunError, match="no training log that is known: found rows with 'step'"):
        read_run(public / "tinker/distillation-off-metrics/distillation_off_metrics.jsonl")


def test_restarts_are_counted_and_no_row_is_lost(public: Path) -> None:
    run = read_run(public / "custom_jsonl/rookworld/training_history.jsonl")
    assert run.training_steps["step"].to_pylist() == [1, 2]
    assert run.training_steps.num_rows + run.repeated_steps == 14
    assert any("goes back to an earlier step 3 times: of 12 rows logged again" in warning for warning in run.warnings)


def test_three_runs_without_any_reward_are_found_and_refused(public: Path) -> None:
    path = public / "verl/kg-entropy-kl/task13_entropy_kl_data.json"
    parts = ColumnarReader().parts(path)
    assert parts == ["E1_outcome", "E2_heuristic", "E3_verifiable"]
    logs = logs_in(parse_json(path.read_bytes(), path)[0])
    assert [len(logs[part].rows) for part in parts] == [12, 1259, 1259]
    for part, steps in zip(parts, (12, 1259, 1259), strict=True):
        keys = "'actor/entropy', 'actor/ppo_kl', 'step'"
        with pytest.raises(NotARunError, match=rf"{part}: {steps} logged rows, none with a reward \(keys: {keys}\)"):
            read_run(f"{path}#{part}")
    assert find_runs(path.parent).sources == []


def test_what_is_called_kl_there_is_not_taken_for_it(public: Path) -> None:
    path = public / "verl/kg-entropy-kl/task13_entropy_kl_data.json"
    run = read_run(f"{path}#E2_heuristic", columns={"actor/entropy": "reward"})
    assert run.training_steps["kl"].null_count == 1259
    assert pc.min(run.training_steps["kl_sampler"]).as_py() < 0


def test_the_runs_of_a_folder(public: Path) -> None:
    for folder, runs in (("tinker", 2), ("custom_jsonl", 2)):
        found = find_runs(public / folder)
        assert len(found.sources) == runs
