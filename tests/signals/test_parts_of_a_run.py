"""Signals of single parts of a run: its first rows, when something began, sums of KL, rows between generations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rlchecks.signals import RunFacts
from rlchecks.signals.trend import knee, linear

Signals = Callable[..., dict[str, Any]]
N = 120
TIME = np.linspace(0, 1, N)


def noise(seed: int, sd: float) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, sd, N)


def test_the_first_rise_is_from_the_first_three_rows(signals_of: Signals) -> None:
    row = signals_of(reward=[0.5, 0.6, 0.7, *[0.9] * 40])
    assert row["first_rise"] == pytest.approx(0.9 - 0.6)
    assert row["first_rise_score"] > 4
    assert signals_of(reward=[0.5] * 20)["first_rise_score"] is None
    # Under fifteen rows the first three are no small part of the run.
    assert signals_of(reward=[0.5, 0.6, 0.7, 0.9, 0.9, 0.9])["first_rise"] is None


def test_an_onset_is_followed_back_to_where_the_change_began(signals_of: Signals) -> None:
    rising = np.clip((TIME - 0.4) / 0.4, 0, 1)
    row = signals_of(
        reward=0.6 - 0.4 * rising + noise(1, 0.01),
        mean_length=200 * (1 + rising) + noise(2, 3),
        clipped_ratio=np.clip(0.02 + 0.5 * rising + noise(3, 0.005), 0, 1),
    )
    for name in ("reward_fall_step", "length_onset_step", "clipped_ratio_onset_step"):
        assert row[name] == pytest.approx(0.4 * N, abs=0.06 * N), name
    assert row["length_fall_step"] is None


def test_what_is_so_from_the_start_and_what_comes_back_has_no_onset(signals_of: Signals) -> None:
    row = signals_of(reward=0.5 + noise(1, 0.01), mean_length=np.full(N, 300.0), clipped_ratio=np.full(N, 0.9))
    assert row["length_onset_step"] is None
    assert row["clipped_ratio_onset_step"] is None
    bump = signals_of(reward=[0.5] * N, mean_length=200 + 150 * ((TIME > 0.4) & (TIME < 0.6)))
    assert bump["length_onset_step"] is None


def test_sums_of_kl_over_a_sequence_are_divided_by_its_length(signals_of: Signals) -> None:
    series = {"reward": [0.5] * N, "kl": 50 * TIME, "mean_length": np.full(N, 100.0)}
    summed = RunFacts("run", kl_semantics="sum_per_sequence")
    token, sequence = signals_of(**series), signals_of(facts=summed, **series)
    for name in ("kl_start", "kl_end", "kl_peak", "kl_late_trend"):
        assert sequence[name] == pytest.approx(token[name] / 100), name
    assert sequence["kl_late_rise"] == pytest.approx(token["kl_late_rise"])
    del series["mean_length"]
    assert signals_of(facts=summed, **series)["kl_end"] is None


def test_a_spike_of_a_whole_block_is_no_climb_of_the_kl(signals_of: Signals) -> None:
    kl = np.full(N, 0.05)
    kl[90:93] = 30.0
    assert signals_of(reward=[0.5] * N, kl=kl)["kl_late_trend"] == pytest.approx(0.0)
    assert signals_of(reward=[0.5] * N, kl=2 * TIME)["kl_late_trend"] == pytest.approx(1.0, abs=0.05)


def test_rows_between_generations_lack_no_reward(signals_of: Signals) -> None:
    def at(first: float) -> list[float | None]:
        return [first if row % 4 == 0 else None for row in range(N)]

    row = signals_of(reward=at(0.5), mean_length=at(200.0), kl=[0.01] * N)
    assert row["missing_reward_fraction"] == 0.0
    lost = [None if row % 12 == 0 else value for row, value in enumerate(at(0.5))]
    lacking = signals_of(reward=lost, mean_length=at(200.0), kl=[0.01] * N)
    assert lacking["missing_reward_fraction"] == pytest.approx(1 / 3)
    assert lacking["expected_reward_rows"] == 30


def test_few_penalties_on_sound_answers_are_near_the_top_of_their_scale(signals_of: Signals) -> None:
    row = signals_of(reward=-0.05 + noise(1, 0.01), reward_std=np.full(N, 0.6))
    assert row["scale_high"] == 0.0
    assert row["reward_position_end"] > 0.85
    floor = signals_of(reward=-9.95 + noise(1, 0.01), reward_std=np.full(N, 0.6))
    assert floor["reward_position_end"] < 0.1


def test_a_rise_that_is_over_early_is_significant_about_its_knee() -> None:
    series = np.interp(np.linspace(0, 1, 40), [0, 0.2], [0.2, 0.7])[None, :] + noise(4, 0.03)[None, :40]
    bent = linear(series, knee(series))
    assert bent.p[0] < 1e-6
    assert linear(series).p[0] > 0.005


@pytest.mark.parametrize(("rho", "most"), [(0.0, 0.03), (0.6, 0.07), (0.8, 0.08)])
def test_false_alarms_about_a_chosen_knee_stay_small(rho: float, most: float) -> None:
    shocks = np.random.default_rng(5).normal(size=(2000, 40))
    series = np.zeros_like(shocks)
    series[:, 0] = shocks[:, 0]
    for at in range(1, 40):
        series[:, at] = rho * series[:, at - 1] + np.sqrt(1 - rho**2) * shocks[:, at]
    p = linear(series, knee(series)).p
    assert np.mean(np.nan_to_num(p, nan=1.0) < 0.01) < most
