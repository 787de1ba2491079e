"""Each finding where it must come out, and the look-alikes in which it must not."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlchecks.diagnosis import CODES, Finding, Severity
from rlchecks.schema import VALIDATION
from rlchecks.signals import RunFacts

Find = Callable[..., dict[str, Finding]]
Noise = np.random.Generator
N = 100
TIME = np.linspace(0, 1, N)
NAN, INF = float("nan"), float("inf")


def alarms(findings: Mapping[str, Finding]) -> set[str]:
    return {code for code, finding in findings.items() if finding.severity > Severity.INFORMATION}


def logistic(start: float, end: float, middle: float = 0.4, width: float = 0.1) -> np.ndarray:
    return start + (end - start) / (1 + np.exp(-(TIME - middle) / width))


def wander(noise: Noise, rho: float, size: int, sd: float) -> np.ndarray:
    shocks = noise.normal(0, sd * np.sqrt(1 - rho**2), size)
    series = np.zeros(size)
    for at in range(1, size):
        series[at] = rho * series[at - 1] + shocks[at]
    return series


def test_a_healthy_rise_is_learning_and_nothing_more(findings_of: Find, noise: Noise) -> None:
    found = findings_of(
        reward=logistic(0.3, 0.8) + noise.normal(0, 0.04, N),
        mean_length=180 + noise.normal(0, 5, N),
        clipped_ratio=np.full(N, 0.02),
        zero_std_fraction=np.full(N, 0.2),
        kl=0.04 * TIME,
    )
    assert set(found) == {"learning"}


@pytest.mark.parametrize("seed", range(20))
def test_the_worked_case(findings_of: Find, seed: int) -> None:
    # Steps 1 to 10: reward .31 to .38, 180 tokens, 2 % cut. To step 30: reward .71, 420 tokens, 18 % cut.
    noise, step = np.random.default_rng(seed), np.arange(1, 31)
    series = {
        "reward": np.interp(step, [1, 10, 30], [0.31, 0.38, 0.71]) + noise.normal(0, 0.02, 30),
        "mean_length": np.interp(step, [1, 10, 30], [180, 180, 420]) * (1 + noise.normal(0, 0.03, 30)),
        "clipped_ratio": np.interp(step, [1, 10, 30], [0.02, 0.02, 0.18]),
        "zero_std_fraction": np.full(30, 0.2),
    }
    found = findings_of(**series)
    assert alarms(found) == {"length_with_reward"}
    assert 10 <= (found["length_with_reward"].onset_step or 0) <= 14
    assert "reward_hacking" not in found
    assert not alarms(findings_of(**{name: values[:10] for name, values in series.items()}))


def test_starved_runs_are_told_apart_by_where_the_reward_is(findings_of: Find, noise: Noise) -> None:
    starved = np.full(N, 0.95)
    at = lambda level: np.clip(level + noise.normal(0, 0.01, N), 0, 1)  # noqa: E731
    assert "starved_floor" in findings_of(reward=at(0.01), zero_std_fraction=starved)
    assert "starved_ceiling" in findings_of(reward=at(0.97), zero_std_fraction=starved)
    assert "starved" in findings_of(reward=at(0.5), zero_std_fraction=starved)


@pytest.mark.parametrize(
    ("level", "code"), [(-5.0, "starved_floor"), (10.0, "starved_ceiling"), (-10.0, "starved_floor")]
)
def test_floor_and_ceiling_hold_on_other_scales(findings_of: Find, level: float, code: str) -> None:
    assert code in findings_of(reward=np.full(N, level), zero_std_fraction=np.ones(N), reward_std=np.zeros(N))


def test_a_log_without_the_zero_std_fraction_shows_starvation_by_its_spread(findings_of: Find) -> None:
    found = findings_of(reward=np.full(N, 0.0), reward_std=np.zeros(N))
    assert found["starved_floor"].severity == Severity.CRITICAL


def test_learning_into_the_ceiling_is_saturated_and_no_alarm(findings_of: Find, noise: Noise) -> None:
    found = findings_of(
        reward=np.clip(logistic(0.3, 0.99, 0.25, 0.05) + noise.normal(0, 0.01, N), 0, 1),
        zero_std_fraction=np.clip(logistic(0.1, 0.97, 0.3, 0.05), 0, 1),
    )
    assert "saturated" in found
    assert "learning" in found
    assert not alarms(found)


def test_length_growth_alone_is_information(findings_of: Find, noise: Noise) -> None:
    found = findings_of(reward=0.5 + noise.normal(0, 0.02, N), mean_length=200 * (1 + TIME))
    assert "length_growth" in found
    assert not alarms(found)


def test_longer_answers_on_reasoning_tasks_are_information_unless_they_are_cut(findings_of: Find) -> None:
    series = {"reward": logistic(0.2, 0.8), "mean_length": 300 * (1 + TIME)}
    assert not alarms(findings_of(profile="reasoning", **series, clipped_ratio=np.full(N, 0.05)))
    cut = findings_of(profile="reasoning", **series, clipped_ratio=0.24 * TIME)
    assert alarms(cut) == {"length_with_reward"}


def test_length_that_grows_by_a_fifth_is_no_finding(findings_of: Find) -> None:
    assert "length_with_reward" not in findings_of(reward=logistic(0.2, 0.8), mean_length=100 * (1 + 0.2 * TIME))


def test_answers_that_vanish_are_a_collapse(findings_of: Find, noise: Noise) -> None:
    found = findings_of(reward=0.494 + 0.005 * TIME, mean_length=12 - 10.2 * TIME + noise.normal(0, 0.2, N))
    assert found["length_collapse"].severity == Severity.CRITICAL
    assert "learning" not in found


def test_a_penalty_avoided_by_silence_is_a_collapse_though_reward_rises(findings_of: Find) -> None:
    found = findings_of(reward=0.3 + 0.15 * TIME, mean_length=np.maximum(1.0, 200 * (1 - 1.2 * TIME)))
    assert "length_collapse" in found
    assert "learning" not in found


def test_answers_that_get_to_the_point_are_no_collapse(findings_of: Find) -> None:
    assert not alarms(findings_of(reward=logistic(0.3, 0.8), mean_length=400 - 250 * TIME))


@pytest.mark.parametrize(("late", "expected"), [(0.2, None), (0.3, Severity.WARNING), (0.7, Severity.CRITICAL)])
def test_cut_answers_by_their_late_share(findings_of: Find, late: float, expected: Severity | None) -> None:
    found = findings_of(reward=np.full(N, 0.5), clipped_ratio=np.full(N, late))
    assert (found["answers_clipped"].severity if "answers_clipped" in found else None) == expected


def test_clipping_that_heals_is_no_finding(findings_of: Find) -> None:
    assert not alarms(findings_of(reward=logistic(0.2, 0.8), clipped_ratio=np.where(TIME < 0.3, 0.8, 0.02)))


def test_kl_that_climbs_under_a_flat_reward_is_drift(findings_of: Find, noise: Noise) -> None:
    found = findings_of(reward=0.98 + 0.02 * TIME + noise.normal(0, 0.01, N), kl=1.6 * TIME)
    assert alarms(found) == {"kl_without_gain"}


def test_kl_that_climbs_with_a_real_gain_is_not(findings_of: Find, noise: Noise) -> None:
    found = findings_of(reward=logistic(0.2, 0.9, 0.5, 0.15) + noise.normal(0, 0.02, N), kl=0.8 * TIME)
    assert not alarms(found)
    assert "learning" in found


def test_a_plateau_reached_early_with_kl_still_climbing_is_drift(findings_of: Find, noise: Noise) -> None:
    found = findings_of(reward=np.minimum(0.3 + 2 * TIME, 0.7) + noise.normal(0, 0.01, N), kl=1.0 * TIME)
    assert alarms(found) == {"kl_without_gain"}
    assert "learning" not in found


def test_a_kl_level_that_is_high_and_flat_is_not_drift(findings_of: Find, noise: Noise) -> None:
    assert not alarms(findings_of(reward=0.5 + noise.normal(0, 0.02, N), kl=1.0 + noise.normal(0, 0.02, N)))


def test_a_kl_spike_that_heals_is_not_drift(findings_of: Find) -> None:
    kl = np.full(N, 0.05)
    kl[60:64] = 40.0
    assert not alarms(findings_of(reward=logistic(0.3, 0.8), kl=kl))


def test_kl_that_is_switched_off_is_not_drift(findings_of: Find) -> None:
    assert not alarms(findings_of(reward=np.full(N, 0.5), reward_std=np.full(N, 0.3), kl=np.zeros(N)))


def test_a_jump_to_a_high_reward_is_suspect(findings_of: Find, noise: Noise) -> None:
    found = findings_of(reward=np.where(TIME < 0.5, 0.2, 0.95) + noise.normal(0, 0.02, N))
    assert alarms(found) == {"sudden_reward"}
    assert found["sudden_reward"].onset_step == pytest.approx(51, abs=2)


def test_an_early_fast_rise_that_takes_a_quarter_of_the_run_is_not_a_jump(findings_of: Find, noise: Noise) -> None:
    found = findings_of(reward=np.minimum(0.2 + 2.4 * TIME, 0.8) + noise.normal(0, 0.02, N))
    assert not alarms(found)


def test_noise_of_one_group_a_step_is_no_jump(findings_of: Find, noise: Noise) -> None:
    hits = noise.random(N) < 0.5
    found = findings_of(reward=np.where(hits, 1.0, 0.0), zero_std_fraction=noise.integers(0, 2, N))
    assert "sudden_reward" not in found


def test_infinite_values_warn_if_they_pass_and_are_critical_if_they_last(findings_of: Find) -> None:
    reward = list(logistic(0.3, 0.7))
    passing = [*reward[:30], INF, -INF, NAN, *reward[33:]]
    found = findings_of(reward=passing)
    assert found["non_finite"].severity == Severity.WARNING
    assert "31 to 33" in found["non_finite"].title
    assert "learning" in found
    found = findings_of(reward=reward, grad_norm=[1.0] * 40 + [NAN] * 60)
    assert found["non_finite"].severity == Severity.CRITICAL
    assert "learning" not in found


def test_a_single_infinite_gradient_norm_stands_beside_learning(findings_of: Find) -> None:
    gradient = np.ones(N)
    gradient[50] = INF
    assert set(findings_of(reward=logistic(0.3, 0.8), grad_norm=gradient)) == {"non_finite", "learning"}


def test_a_run_that_falls_to_the_floor_with_exploding_entropy_diverged(findings_of: Find) -> None:
    found = findings_of(reward=logistic(0.6, 0.02), entropy=logistic(0.4, 3.0), grad_norm=np.ones(N))
    assert found["diverged"].severity == Severity.CRITICAL
    assert "reward_falling" in found


@pytest.mark.parametrize(("fall", "alarmed"), [(0.1, set()), (0.3, {"reward_falling"})])
def test_a_falling_reward_is_information_and_a_large_fall_a_warning(
    findings_of: Find, noise: Noise, fall: float, alarmed: set[str]
) -> None:
    found = findings_of(reward=0.7 - fall * TIME + noise.normal(0, 0.02, N))
    assert "reward_falling" in found
    assert alarms(found) == alarmed


def test_too_short_and_ended_early(findings_of: Find) -> None:
    found = findings_of(reward=np.linspace(0.2, 0.9, 9))
    assert "too_short" in found
    assert "learning" not in found
    found = findings_of(facts=RunFacts("run", planned_steps=200), reward=logistic(0.2, 0.8))
    assert "ended_early" in found
    assert "ended_early" not in findings_of(facts=RunFacts("run", planned_steps=N), reward=logistic(0.2, 0.8))


def test_twelve_rows_are_enough_for_a_clear_rise(findings_of: Find, noise: Noise) -> None:
    found = findings_of(reward=np.linspace(0.2, 0.8, 12) + noise.normal(0, 0.02, 12))
    assert set(found) == {"learning"}


@pytest.mark.parametrize("seed", range(30))
def test_a_wandering_reward_raises_no_alarm(findings_of: Find, seed: int) -> None:
    noise = np.random.default_rng(seed)
    found = findings_of(
        reward=np.clip(0.5 + wander(noise, 0.8, 200, 0.06), 0, 1),
        mean_length=200 * np.exp(wander(noise, 0.8, 200, 0.1)),
        kl=0.02 + np.abs(wander(noise, 0.8, 200, 0.01)),
        clipped_ratio=np.full(200, 0.02),
    )
    assert not alarms(found)


def test_a_cyclic_reward_neither_rises_nor_falls(findings_of: Find) -> None:
    assert set(findings_of(reward=0.5 + 0.2 * np.sin(8 * np.pi * TIME))) == {"inconclusive"}


def validation(*scores: float) -> pa.Table:
    rows = [{"run_id": "run", "step": at * N // (len(scores) - 1), "score": score} for at, score in enumerate(scores)]
    return pa.Table.from_pylist(rows, schema=VALIDATION)


def test_validation_that_rises_from_a_low_start_transfers(findings_of: Find) -> None:
    found = findings_of(reward=logistic(0.2, 0.8), checks=validation(0.1, 0.2, 0.35, 0.5, 0.55, 0.7))
    assert "validation_rising" in found


def test_one_dip_at_one_check_raises_nothing(findings_of: Find) -> None:
    found = findings_of(reward=logistic(0.2, 0.8), checks=validation(0.2, 0.3, 0.45, 0.2, 0.6, 0.65, 0.7, 0.75))
    assert not alarms(found)


def test_validation_that_stands_still_under_a_rising_reward_warns(findings_of: Find) -> None:
    found = findings_of(reward=logistic(0.2, 0.8), checks=validation(0.3, 0.31, 0.29, 0.3, 0.31, 0.3, 0.29))
    assert alarms(found) == {"validation_flat"}


def test_an_earlier_checkpoint_is_as_good_when_the_checks_stop_improving(findings_of: Find) -> None:
    found = findings_of(reward=logistic(0.2, 0.8), checks=validation(0.2, 0.5, 0.7, 0.71, 0.7, 0.705, 0.71, 0.7))
    assert found["earlier_checkpoint_as_good"].onset_step in range(20, 50)


def test_hosted_runs_are_judged_by_reward_and_validation_alone(findings_of: Find) -> None:
    found = findings_of(profile="hosted", reward=logistic(0.2, 0.8), mean_length=200 * (1 + 3 * TIME))
    assert set(found) == {"learning"}


def test_a_run_with_no_reward_at_all_is_too_short(findings_of: Find) -> None:
    assert set(findings_of(reward=[None] * N, grad_norm=[1.0] * N)) == {"too_short"}


def test_every_code_that_comes_out_is_registered_and_says_what_to_do(findings_of: Find) -> None:
    found = findings_of(reward=logistic(0.6, 0.02), entropy=logistic(0.4, 3.0), zero_std_fraction=np.ones(N))
    assert found
    for code, finding in found.items():
        assert code in CODES
        assert finding.title.endswith(".")
        assert finding.advice
        assert finding.evidence


FINITE = st.one_of(st.floats(-1e6, 1e6), st.none(), st.sampled_from([NAN, INF, -INF, 0.0, 1e-300]))


@given(st.data(), st.integers(0, 60))
@settings(deadline=None, max_examples=60)
def test_every_run_gets_at_least_one_code_whatever_was_logged(findings_of: Find, data: st.DataObject, n: int) -> None:
    names = ("reward", "mean_length", "kl", "clipped_ratio", "zero_std_fraction", "reward_std", "entropy", "grad_norm")
    series = {name: data.draw(st.lists(FINITE, min_size=n, max_size=n)) for name in names}
    assert findings_of(**series)


def test_a_run_that_broke_after_one_row_is_not_told_to_train_longer(findings_of: Find) -> None:
    found = findings_of(reward=[0.5] * 60, grad_norm=[0.4] + [NAN] * 59)["too_short"]
    assert found.title.startswith("Too short: 1 logged row before the breakdown")
    assert "Find what broke first" in found.advice


def test_an_early_end_is_told_in_steps(findings_of: Find) -> None:
    facts = RunFacts("run", last_step=3, planned_steps=1000)
    assert findings_of(reward=[0.1, 0.2, 0.3], facts=facts)["ended_early"].title == (
        "The run ended at step 3 of 1000 planned steps."
    )
