"""Rewards that are missing: rows between regular rewards lack none, stretches and scattered losses do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlchecks.signals import RunFacts, compute

Signals = Callable[..., dict[str, Any]]
N = 200
REWARDS = np.linspace(0.3, 0.6, N)
SHARE, STRETCH, FIRST, LAST = (
    "missing_reward_fraction",
    "missing_reward_stretch",
    "missing_reward_first_step",
    "missing_reward_last_step",
)


def at(rows: Any) -> list[float | None]:
    kept = np.zeros(N, dtype=bool)
    kept[rows] = True
    return [value if keep else None for value, keep in zip(REWARDS, kept, strict=True)]


@pytest.mark.parametrize("others", ["kl", "grad_norm", "mean_length"])
@pytest.mark.parametrize("rows", [slice(0, None, 10), slice(9, None, 10), slice(1, None, 2), slice(3, None, 7)])
def test_rewards_at_a_regular_distance_lack_none(signals_of: Signals, others: str, rows: slice) -> None:
    row = signals_of(reward=at(rows), **{others: [0.1] * N})
    assert (row[SHARE], row[STRETCH], row[FIRST]) == (0.0, 0, None)
    assert row["expected_reward_rows"] == row["n_reward_rows"]


def test_rewards_that_are_logged_by_the_clock_lack_none(signals_of: Signals) -> None:
    rows = np.arange(0, N, 10) + np.tile([0, 1], 10)
    assert signals_of(reward=at(rows), kl=[0.1] * N)[SHARE] == 0.0


def test_metrics_on_rows_of_their_own_lack_none(signals_of: Signals) -> None:
    length = [200.0 if row % 2 else None for row in range(N)]
    assert signals_of(reward=at(slice(0, None, 2)), mean_length=length)[SHARE] == 0.0


@pytest.mark.parametrize(
    ("rows", "stretch", "first", "last"),
    [
        (slice(0, 110), 90, 111, 200),
        (slice(61, None), 61, 1, 61),
        (np.r_[0:60, 90:N], 30, 61, 90),
    ],
)
def test_a_stretch_without_rewards_is_told_with_its_steps(
    signals_of: Signals, rows: Any, stretch: int, first: int, last: int
) -> None:
    row = signals_of(reward=at(rows), kl=[0.1] * N)
    assert (row[STRETCH], row[FIRST], row[LAST]) == (stretch, first, last)
    assert row[SHARE] == pytest.approx(stretch / N)


def test_what_lies_beyond_the_usual_distance_is_counted_in_rewards(signals_of: Signals) -> None:
    row = signals_of(reward=at(slice(0, 100, 10)), kl=[0.1] * N)
    assert (row["expected_reward_rows"], row[STRETCH], row[SHARE]) == (20, 10, 0.5)
    assert (row[FIRST], row[LAST]) == (101, 200)


def test_all_that_a_generation_logs_may_stop(signals_of: Signals) -> None:
    length = [200.0 if row < 100 else None for row in range(N)]
    row = signals_of(reward=at(slice(0, 100)), mean_length=length, grad_norm=[1.0] * N)
    assert (row[SHARE], row[STRETCH], row[LAST]) == (0.5, 100, 200)
    # With eight optimiser steps a generation the run may well end between two of them.
    each = [200.0 if row % 8 == 0 else None for row in range(N)]
    assert signals_of(reward=at(slice(0, None, 8)), mean_length=each, grad_norm=[1.0] * N)[SHARE] == 0.0


@pytest.mark.parametrize("lost", [0.3, 0.5, 0.7, 0.9])
def test_rewards_that_are_lost_at_random_are_missing(signals_of: Signals, lost: float) -> None:
    for seed in range(20):
        kept = np.flatnonzero(np.random.default_rng(seed).random(N) >= lost)
        assert signals_of(reward=at(kept), kl=[0.1] * N)[SHARE] == pytest.approx(1 - len(kept) / N)


def test_infinite_rewards_are_missing_and_end_a_stretch(signals_of: Signals) -> None:
    rewards: list[float] = list(REWARDS)
    rewards[50:90] = [float("inf")] * 40
    row = signals_of(reward=rewards, kl=[0.1] * N)
    assert (row[SHARE], row[STRETCH]) == (pytest.approx(0.2), 0)


def test_a_run_without_any_reward_lacks_all(signals_of: Signals) -> None:
    row = signals_of(kl=[0.1] * N)
    assert (row[SHARE], row[STRETCH], row["expected_reward_rows"]) == (1.0, N, N)


@given(kept=st.lists(st.booleans(), min_size=1, max_size=60))
def test_counts_stay_within_the_rows(make_steps: Any, kept: list[bool]) -> None:
    size = len(kept)
    steps = make_steps(reward=[0.5 if one else None for one in kept], kl=[0.1] * size)
    row = compute(steps, [RunFacts("run")]).to_pylist()[0]
    assert sum(kept) <= row["expected_reward_rows"] <= size
    assert 0 <= row[STRETCH] <= size - sum(kept)
    assert row[SHARE] == pytest.approx(1 - sum(kept) / row["expected_reward_rows"])
    assert (row[FIRST] is None) == (row[STRETCH] == 0)
    if row[FIRST] is not None:
        assert not any(kept[row[FIRST] - 1 : row[LAST]])


def test_a_constant_reward_is_told_where_no_spread_is_logged(signals_of: Signals) -> None:
    assert signals_of(reward=[0.1 + 0.2] * 30)["reward_constant"] is True
    assert signals_of(reward=[0.5] * 29 + [0.5 + 1e-12])["reward_constant"] is False
    assert signals_of(reward=[0.5] * 30, reward_std=[0.3] * 30)["reward_constant"] is False
    assert signals_of(reward=[0.5] * 30, zero_std_fraction=[0.1] * 30)["reward_constant"] is False
    assert signals_of(kl=[0.1] * 30)["reward_constant"] is None
