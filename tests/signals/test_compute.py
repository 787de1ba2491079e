"""Signals of whole runs: levels, scale, missing values, breakdowns, and what must not change them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlchecks.schema import STEPS, VALIDATION
from rlchecks.signals import SIGNALS, RunFacts, compute

Signals = Callable[..., dict[str, Any]]
NAN, INF = float("nan"), float("inf")


def test_every_signal_is_a_column_of_its_kind(signals_of: Signals) -> None:
    row = signals_of(reward=[0.1, 0.2, 0.3, 0.4, 0.5])
    assert list(row) == ["run_id", *SIGNALS]
    kinds = {"number": float, "integer": int, "flag": bool, "text": str}
    for name, signal in SIGNALS.items():
        assert row[name] is None or type(row[name]) is kinds[signal.kind], name


def test_early_and_late_are_the_first_and_last_fifth(signals_of: Signals) -> None:
    row = signals_of(reward=[0.0, 0.2, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.6, 0.8])
    assert row["reward_start"] == pytest.approx(0.1)
    assert row["reward_end"] == pytest.approx(0.7)
    assert row["reward_gain"] == pytest.approx(0.6)


def test_a_run_without_rows_has_counts_of_zero_and_nothing_else() -> None:
    row = compute(STEPS.empty_table(), [RunFacts("run")]).to_pylist()[0]
    assert row["n_rows"] == row["n_reward_rows"] == row["non_finite_rows"] == 0
    assert row["reward_start"] is None
    assert row["scale_low"] is None
    assert row["missing_reward_fraction"] is None


def test_what_is_not_logged_is_null_and_never_zero(signals_of: Signals) -> None:
    row = signals_of(reward=list(np.linspace(0.2, 0.4, 30)))
    for name in ("clipped_ratio_late", "zero_std_fraction_late", "length_growth", "kl_end", "entropy_growth"):
        assert row[name] is None


@pytest.mark.parametrize(
    ("rewards", "expected"),
    [
        ([0.2, 0.6], (0.0, 1.0, "unit")),
        ([0.0, 1.0], (0.0, 1.0, "unit")),
        # Including 0 keeps a flat reward near 1 flat.
        ([1.0, 1.05], (0.0, 1.05 + 0.0353553, "inferred")),
        # A constant penalty is the floor, not the middle.
        ([-5.0, -5.0], (-5.0, 0.0, "inferred")),
        ([10.0, 10.0], (0.0, 10.0, "inferred")),
    ],
)
def test_scale_of_the_reward(signals_of: Signals, rewards: list[float], expected: tuple[float, float, str]) -> None:
    row = signals_of(reward=rewards)
    assert (row["scale_low"], row["scale_high"]) == pytest.approx(expected[:2])
    assert row["scale_basis"] == expected[2]


def test_a_declared_range_wins(signals_of: Signals) -> None:
    row = signals_of(facts=RunFacts("run", reward_range=(0.0, 10.0)), reward=[0.2] * 10 + [0.8] * 10)
    assert row["scale_basis"] == "declared"
    assert row["reward_gain_fraction"] == pytest.approx(0.06)


def test_the_logged_spread_is_the_std_of_the_scale(signals_of: Signals) -> None:
    row = signals_of(reward=[1.0, 2.0], reward_std=[0.5, 0.5])
    assert row["scale_high"] == pytest.approx(2.5)


def test_infinite_rewards_do_not_poison_the_other_figures(signals_of: Signals) -> None:
    clean = list(np.linspace(0.3, 0.7, 50))
    broken = [*clean[:30], INF, INF, INF, -INF, *clean[34:]]
    row, expected = signals_of(reward=broken), signals_of(reward=clean)
    assert row["non_finite_rows"] == 4
    assert (row["non_finite_first_step"], row["non_finite_last_step"]) == (31, 34)
    assert row["non_finite_metrics"] == "reward"
    assert row["non_finite_lasts"] is False
    # 46 rows have a reward instead of 50, so the late window is one row shorter.
    assert row["reward_end"] == pytest.approx(expected["reward_end"], abs=0.01)
    assert row["scale_basis"] == "unit"


HUGE = 1.7e308
HUGE_SERIES = {
    "constant": [HUGE] * 60,
    "swinging": [HUGE * (-1) ** row for row in range(60)],
    "rising": [HUGE * row / 60 for row in range(60)],
    "with squares that overflow": [1e160 * ((row * 7) % 11) for row in range(60)],
    "once": [0.5] * 59 + [HUGE],
}


@pytest.mark.parametrize("series", HUGE_SERIES.values(), ids=HUGE_SERIES.keys())
def test_values_near_the_end_of_the_range_give_null_and_no_warning(signals_of: Signals, series: list[float]) -> None:
    sizes = [abs(value) for value in series]
    # A warning would be an error here, as in all tests.
    row = signals_of(reward=series, reward_std=sizes, kl=series, mean_length=sizes, entropy=sizes, grad_norm=sizes)
    assert all(math.isfinite(value) for value in row.values() if isinstance(value, float))
    # None of these series has a spread that a double can hold, so nothing can be said of its trend.
    assert row["reward_trend_p"] is None
    assert row["reward_knee"] is None
    assert row["fastest_rise_score"] is None


def test_a_mean_that_overflows_is_null_and_not_another_figure(signals_of: Signals) -> None:
    row = signals_of(reward=[HUGE] * 60, reward_std=[1.0] * 60, mean_length=[HUGE] * 60)
    for name in ("reward_start", "reward_end", "reward_gain", "reward_gain_fraction", "reward_gain_effect"):
        assert row[name] is None
    assert (row["length_start"], row["length_growth"], row["fastest_rise"]) == (None, None, None)


def test_a_range_that_overflows_places_nothing(signals_of: Signals) -> None:
    row = signals_of(reward=[HUGE * (-1) ** row for row in range(60)], reward_std=[0.0] * 60)
    assert (row["reward_gain"], row["reward_gain_fraction"], row["reward_position_end"]) == (0.0, None, None)
    assert row["zero_spread_late"] is None


def test_the_huge_rewards_of_a_run_leave_its_neighbours_as_they_are(make_steps: Any) -> None:
    rng = np.random.default_rng(1)
    own = make_steps(run_id="b", reward=list(rng.normal(0.5, 0.1, 60)))
    huge = make_steps(run_id="a", reward=[1e20] * 60)
    alone = compute(own, [RunFacts("b")]).to_pylist()[0]
    together = compute(pa.concat_tables([huge, own]), [RunFacts("a"), RunFacts("b")]).to_pylist()[1]
    equal(alone, together)


def test_nulls_are_missing_and_not_broken(signals_of: Signals) -> None:
    rewards = [None if step % 10 == 7 else 0.5 for step in range(50)]
    row = signals_of(reward=rewards, grad_norm=[1.0] * 50)
    assert row["non_finite_rows"] == 0
    assert row["missing_reward_fraction"] == pytest.approx(0.1)


def test_the_loss_never_counts(signals_of: Signals) -> None:
    assert signals_of(reward=[0.5] * 20, loss=[NAN] * 20)["non_finite_rows"] == 0
    row = signals_of(reward=list(np.linspace(0, 1, 20)), loss=[float(value) for value in range(20)])
    expected = signals_of(reward=list(np.linspace(0, 1, 20)))
    assert row == expected


def test_after_a_lasting_breakdown_levels_are_those_of_before(signals_of: Signals) -> None:
    row = signals_of(reward=[0.8] * 20 + [0.0] * 20, grad_norm=[1.0] * 20 + [NAN] * 20)
    assert row["non_finite_lasts"] is True
    assert row["reward_end"] == pytest.approx(0.8)
    assert row["n_reward_rows"] == 20


def test_kl_and_entropy_gone_to_the_end_is_a_breakdown_and_scattered_nulls_are_none(signals_of: Signals) -> None:
    gone = [0.1] * 20 + [None] * 10
    row = signals_of(reward=[0.5] * 30, kl=gone, entropy=gone)
    assert row["non_finite_lasts"] is True
    assert row["non_finite_first_step"] == 21
    assert signals_of(reward=[0.5] * 30, kl=gone, entropy=[0.1] * 30)["non_finite_rows"] == 0
    scattered = [None if step % 3 else 0.1 for step in range(30)]
    assert signals_of(reward=[0.5] * 30, kl=scattered, entropy=scattered)["non_finite_lasts"] is False


def test_zero_std_of_rows_without_a_reward_is_a_placeholder(signals_of: Signals) -> None:
    row = signals_of(reward=[None, 0.0] * 20, zero_std_fraction=[0.0, 1.0] * 20, grad_norm=[1.0] * 40)
    assert row["zero_std_fraction_late"] == pytest.approx(1.0)


def test_one_group_per_step_shows_in_the_share_itself(signals_of: Signals) -> None:
    assert signals_of(reward=[0.5] * 10, zero_std_fraction=[0.0, 1.0] * 5)["one_group_per_step"] is True
    assert signals_of(reward=[0.5] * 10, zero_std_fraction=[0.0] * 10)["one_group_per_step"] is False
    assert signals_of(reward=[0.5] * 10, zero_std_fraction=[0.0, 0.5] * 5)["one_group_per_step"] is False


def test_kl_is_read_by_medians(signals_of: Signals) -> None:
    calm = [0.01] * 400
    spiked = [*calm[:200], 1e24, *calm[201:]]
    assert signals_of(reward=[0.5] * 400, kl=spiked)["kl_peak"] == pytest.approx(0.01)


def test_a_jump_is_found_where_it_happens(signals_of: Signals) -> None:
    row = signals_of(reward=[0.2] * 60 + [0.9] * 40)
    assert row["fastest_rise"] == pytest.approx(0.7)
    assert row["fastest_rise_step"] == 61
    assert row["fastest_rise_level"] == pytest.approx(0.9)
    assert row["fastest_rise_share"] == pytest.approx(1.0)


def test_length_onset_is_where_the_length_leaves_its_first_level(signals_of: Signals) -> None:
    lengths = [100.0] * 20 + [100.0 + 5 * step for step in range(1, 21)]
    assert signals_of(reward=[0.5] * 40, mean_length=lengths)["length_onset_step"] in range(21, 25)
    assert signals_of(reward=[0.5] * 40, mean_length=[100.0] * 40)["length_onset_step"] is None


def test_completed_fraction_is_that_of_the_whole_run(signals_of: Signals) -> None:
    row = signals_of(facts=RunFacts("run", last_step=100, planned_steps=100), reward=[0.5] * 40)
    assert row["last_step"] == 40
    assert row["completed_fraction"] == 1.0
    assert signals_of(facts=RunFacts("run"), reward=[0.5] * 40)["completed_fraction"] is None


def checks(*rows: tuple[int, str | None, float]) -> pa.Table:
    return pa.Table.from_pylist(
        [{"run_id": "run", "step": step, "question_id": name, "score": score} for step, name, score in rows],
        schema=VALIDATION,
    )


def test_validation_is_the_mean_over_the_questions_of_a_check(signals_of: Signals) -> None:
    table = checks((0, "a", 0.0), (0, "b", 1.0), (10, "a", 0.5), (10, "b", 1.0), (20, "a", 1.0), (20, "b", 1.0))
    row = signals_of(reward=[0.5] * 20, checks=table)
    assert (row["validation_start"], row["validation_end"]) == (0.5, 1.0)
    assert row["validation_questions"] == 2
    assert row["validation_at_top_at_start"] == 1
    assert row["validation_gain"] == pytest.approx(0.5)


def test_validation_of_one_grader_is_not_the_total(signals_of: Signals) -> None:
    table = pa.Table.from_pylist(
        [{"run_id": "run", "step": 0, "question_id": None, "grader": "format", "score": 1.0}], schema=VALIDATION
    )
    assert signals_of(reward=[0.5] * 20, checks=table)["validation_checks"] == 0


def test_the_end_of_a_rise_of_validation_is_dated_with_an_interval(signals_of: Signals) -> None:
    series = [0.1, 0.4, 0.7, 0.8, 0.79, 0.81, 0.8, 0.79, 0.805]
    table = checks(*((10 * step, None, score) for step, score in enumerate(series)))
    row = signals_of(reward=[0.5] * 80, checks=table)
    assert row["validation_best_step"] == 50
    # The rise would meet the plateau between the third and the fourth check.
    assert (row["validation_stop_low"], row["validation_stop_step"], row["validation_stop_high"]) == (20, 22, 30)
    assert row["validation_as_good_step"] == 30
    assert row["validation_missing"] <= row["validation_missing_high"] <= 0.05


def test_a_rise_of_validation_to_the_end_has_not_ended(signals_of: Signals) -> None:
    noise = np.random.default_rng(3).normal(0, 0.02, 12)
    table = checks(*((10 * step, None, 0.1 + 0.05 * step + noise[step]) for step in range(12)))
    assert signals_of(reward=[0.5] * 80, checks=table)["validation_stop_high"] == 110
    falling = checks(*((10 * step, None, 0.9 - 0.05 * step) for step in range(12)))
    assert signals_of(reward=[0.5] * 80, checks=falling)["validation_stop_step"] is None


def run_of(length: int, seed: int) -> dict[str, list[float]]:
    generator = np.random.default_rng(seed)
    rise = np.linspace(0.2, 0.8, length)
    return {
        "reward": list(np.clip(rise + generator.normal(0, 0.05, length), 0, 1)),
        "mean_length": list(100 + 50 * rise + generator.normal(0, 3, length)),
        "kl": list(np.abs(rise / 10 + generator.normal(0, 0.005, length))),
    }


def equal(first: dict[str, Any], second: dict[str, Any]) -> None:
    for name, value in first.items():
        if isinstance(value, float):
            assert second[name] == pytest.approx(value, rel=1e-9, abs=1e-12), name
        elif name != "run_id":
            assert second[name] == value, name


@given(st.integers(5, 120), st.integers(0, 1000), st.randoms())
@settings(deadline=None, max_examples=25)
def test_the_order_of_the_rows_does_not_matter(make_steps: Any, length: int, seed: int, shuffler: Any) -> None:
    table = make_steps(**run_of(length, seed))
    order = list(range(length))
    shuffler.shuffle(order)
    facts = [RunFacts("run")]
    equal(compute(table, facts).to_pylist()[0], compute(table.take(order), facts).to_pylist()[0])


@given(st.lists(st.tuples(st.integers(1, 90), st.integers(0, 1000)), min_size=1, max_size=4))
@settings(deadline=None, max_examples=25)
def test_a_run_has_the_same_signals_alone_and_among_others(make_steps: Any, runs: list[tuple[int, int]]) -> None:
    tables = [make_steps(run_id=f"r{at}", **run_of(*run)) for at, run in enumerate(runs)]
    facts = [RunFacts(f"r{at}") for at in range(len(runs))]
    together = compute(pa.concat_tables(tables), facts).to_pylist()
    for table, fact, row in zip(tables, facts, together, strict=True):
        equal(compute(table, [fact]).to_pylist()[0], row)


@given(st.floats(0.01, 100), st.integers(0, 1000))
@settings(deadline=None, max_examples=25)
def test_stretching_the_reward_with_its_scale_keeps_what_is_relative(make_steps: Any, factor: float, seed: int) -> None:
    run = run_of(60, seed)
    stretched = run | {"reward": [value * factor for value in run["reward"]]}
    plain = compute(make_steps(**run), [RunFacts("run", reward_range=(0.0, 1.0))]).to_pylist()[0]
    other = compute(make_steps(**stretched), [RunFacts("run", reward_range=(0.0, factor))]).to_pylist()[0]
    for name in ("reward_gain_fraction", "reward_position_end", "reward_ordering", "length_reward_coupling"):
        assert other[name] == pytest.approx(plain[name], rel=1e-6, abs=1e-9), name
