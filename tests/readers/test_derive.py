from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlchecks.readers.aliases import framework
from rlchecks.readers.columns import Columns, Notes
from rlchecks.readers.derive import PROOF, derive
from rlchecks.readers.maps import Series


def of(*numbers: float, first: int = 0) -> Series:
    return Series(np.arange(first, first + len(numbers)), np.array(numbers, dtype=float))


def derived(name: str, split: str = "train", count: int = 10, notes: Notes | None = None, **parts: Any) -> Any:
    columns = Columns(**parts)
    notes = notes or Notes(mapped={metric: {f"{metric}_key": None} for metric in columns.metrics})
    derive(split, columns, framework(name).among(parts.get("extra", {})), count, notes)
    return columns, notes


@pytest.mark.parametrize("metric", ["kl", "kl_sampler", "entropy"])
def test_a_metric_that_is_exactly_0_in_every_row_is_not_measured(metric: str) -> None:
    columns, notes = derived("table", metrics={metric: of(*[0.0] * PROOF)})
    assert metric not in columns.metrics
    assert columns.extra[f"{metric}_key"].numbers.tolist() == [0.0] * PROOF
    assert notes.switched_off == {metric: (f"{metric}_key", PROOF)}


@pytest.mark.parametrize(
    "numbers",
    [
        [0.0],
        [0.0] * (PROOF - 1),
        [0.0, 0.0, 0.0, 0.0, 0.0, 1e-12],
        [0.0] * 8 + [float("nan")],
        [1.0] + [0.0] * 8,
    ],
    ids=["one row", "few rows", "a warm-up", "a NaN", "a last stand"],
)
def test_zeros_of_a_metric_that_is_measured_stay(numbers: list[float]) -> None:
    columns, notes = derived("table", metrics={"kl": of(*numbers)})
    np.testing.assert_array_equal(columns.metrics["kl"].numbers, numbers)
    assert notes.switched_off == {}


@pytest.mark.parametrize(
    "metric", ["reward", "reward_std", "clipped_ratio", "policy_clip_fraction", "loss", "grad_norm"]
)
def test_zeros_of_other_metrics_are_values(metric: str) -> None:
    columns, _ = derived("table", metrics={metric: of(*[0.0] * 20)})
    assert metric in columns.metrics


def test_what_is_off_in_training_is_off_in_the_evaluation_too() -> None:
    notes = Notes(mapped={"kl": {"kl": None}})
    derived("trl_grpo", metrics={"kl": of(*[0.0] * 10)}, notes=notes)
    columns, _ = derived("trl_grpo", "eval", metrics={"kl": of(0.0)}, notes=notes)
    assert "kl" not in columns.metrics
    columns, _ = derived("trl_grpo", "eval", metrics={"kl": of(0.5)}, notes=notes)
    assert "kl" in columns.metrics
    alone, _ = derived("trl_grpo", "eval", metrics={"kl": of(*[0.0] * 10)})
    assert "kl" in alone.metrics


def test_a_logged_metric_is_not_derived() -> None:
    extra = {"truncated_count": of(5.0), "rollout_count": of(20.0)}
    columns, notes = derived("table", metrics={"clipped_ratio": of(0.9)}, extra=extra)
    assert columns.metrics["clipped_ratio"].numbers.tolist() == [0.9]
    assert notes.derived == {}
    columns, notes = derived("table", extra=extra)
    assert columns.metrics["clipped_ratio"].numbers.tolist() == [0.25]
    assert notes.derived == {"clipped_ratio": "truncated_count / rollout_count"}


@pytest.mark.parametrize("key", ["truncated_count", "reward/num_zero_variance_filtered", "rollout/zero_std/count_1.0"])
@pytest.mark.parametrize("name", ["table", "skyrl", "slime"])
def test_a_count_without_its_denominator_is_no_fraction(name: str, key: str) -> None:
    columns, notes = derived(name, extra={key: of(3.0, 4.0)})
    assert columns.metrics == {}
    assert notes.derived == {}


@pytest.mark.parametrize("reward", [of(0.5, 1.0), of(0.0, 0.0)])
def test_solved_none_and_all_make_the_share_without_spread_of_rewards_of_0_and_1(reward: Series) -> None:
    extra = {"solve_none/all": of(0.5, 0.25), "solve_all/all": of(0.25, 0.5)}
    columns, notes = derived("prime_rl", metrics={"reward": reward}, extra=extra)
    assert columns.metrics["zero_std_fraction"].numbers.tolist() == [0.75, 0.75]
    assert notes.derived == {"zero_std_fraction": "solve_none/all + solve_all/all (rewards of 0 and 1)"}


@pytest.mark.parametrize("reward", [of(0.5, 1.5), of(-0.1, 0.4)])
def test_solved_none_and_all_say_nothing_of_other_rewards(reward: Series) -> None:
    extra = {"solve_none/all": of(0.5, 0.25), "solve_all/all": of(0.25, 0.5)}
    columns, notes = derived("prime_rl", metrics={"reward": reward}, extra=extra)
    assert "zero_std_fraction" not in columns.metrics
    assert "holds for rewards of 0 and 1 only" in notes.doubts[0]


def test_what_leaves_the_range_of_the_metric_is_not_taken_for_it() -> None:
    columns, notes = derived("nemo_rl", extra={"baseline_reward/pct_mixed": of(*[0.6] * 10)})
    assert columns.metrics["zero_std_fraction"].numbers.tolist() == pytest.approx([0.994] * 10)
    columns, notes = derived("nemo_rl", extra={"baseline_reward/pct_mixed": of(150.0, 50.0)})
    assert "zero_std_fraction" not in columns.metrics
    assert "1 value outside 0 to 1: not used" in notes.doubts[0]
    columns, notes = derived("nemo_rl", count=100, extra={"baseline_reward/pct_mixed": of(*[50.0] * 99, 101.0)})
    assert columns.metrics["zero_std_fraction"].numbers.tolist() == [0.5] * 99
    assert "1 value outside 0 to 1: taken as missing" in notes.doubts[0]


def test_of_several_agents_none_speaks_for_all() -> None:
    extra = {
        f"train/agg/all/{agent}/{key}": of(0.25, 0.5) for agent in ("a", "b") for key in ("solved_none", "solved_all")
    }
    columns, notes = derived("prime_rl", extra=extra)
    assert columns.metrics == {}
    assert len(notes.doubts) == 1
    assert "each for a part of the run" in notes.doubts[0]


def test_of_several_environments_the_aggregate_speaks() -> None:
    extra = {
        f"train/{part}/all/a/{key}": of(value)
        for part, value in (("agg", 0.25), ("gsm8k", 0.1), ("math", 0.4))
        for key in ("solved_none", "solved_all")
    }
    columns, notes = derived("prime_rl", extra=extra)
    assert columns.metrics["zero_std_fraction"].numbers.tolist() == [0.5]
    assert notes.doubts == []


def sets(**scores: Series) -> tuple[Columns, Notes]:
    columns = Columns(functions={f"reward/{name}": series for name, series in scores.items()})
    notes = Notes()
    keys = [f"val-core/{name}/acc/mean@1" for name in scores]
    derive("eval", columns, framework("verl").among(keys), 10, notes)
    return columns, notes


def test_the_reward_of_one_validation_set_is_the_reward() -> None:
    columns, notes = sets(gsm8k=of(0.5, 0.6))
    assert columns.metrics["reward"].numbers.tolist() == [0.5, 0.6]
    assert notes.derived == {}


def test_the_reward_of_several_validation_sets_is_their_mean_where_all_were_evaluated() -> None:
    columns, notes = sets(gsm8k=of(0.5, 0.6, 0.7), math=of(0.2, 0.3, 0.4, first=1))
    assert columns.metrics["reward"].rows.tolist() == [1, 2]
    assert columns.metrics["reward"].numbers.tolist() == pytest.approx([0.4, 0.5])
    assert notes.derived == {"validation reward": "mean of reward/gsm8k, reward/math"}


def test_validation_sets_that_were_never_evaluated_together_have_no_mean() -> None:
    columns, notes = sets(gsm8k=of(0.5), math=of(0.2, first=1))
    assert "reward" not in columns.metrics
    assert "never evaluated together" in notes.doubts[0]
