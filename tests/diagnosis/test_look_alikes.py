"""What looks alike and must be told apart: each sick run beside the sound one that resembles it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa
import pytest

from rlchecks.diagnosis import Finding, Severity
from rlchecks.schema import VALIDATION
from rlchecks.signals import RunFacts

Find = Callable[..., dict[str, Finding]]
N = 120
TIME = np.linspace(0, 1, N)
NAN, INF = float("nan"), float("inf")
SEEDS = range(8)


def alarms(findings: Mapping[str, Finding]) -> set[str]:
    return {code for code, finding in findings.items() if finding.severity > Severity.INFORMATION}


def noise(seed: int, sd: float, size: int = N) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, sd, size)


def course(*points: tuple[float, float], time: np.ndarray = TIME) -> np.ndarray:
    """Straight lines between (time, level)."""
    return np.interp(time, *zip(*points, strict=True))


def learned(seed: int, start: float = 0.3, end: float = 0.75, sd: float = 0.04) -> np.ndarray:
    return course((0.1, start), (0.8, end)) + noise(seed, sd)


def checks(*scores: float) -> pa.Table:
    rows = [{"run_id": "run", "step": at * N // (len(scores) - 1), "score": score} for at, score in enumerate(scores)]
    return pa.Table.from_pylist(rows, schema=VALIDATION)


# ---------------------------------------------------------------- length


@pytest.mark.parametrize("seed", SEEDS)
def test_thinking_longer_with_gains_on_held_out_checks_is_no_alarm_on_reasoning_tasks(
    findings_of: Find, seed: int
) -> None:
    series = {
        "reward": learned(seed),
        "mean_length": 400 * (1 + 1.2 * TIME) + noise(seed + 100, 10),
        "clipped_ratio": np.full(N, 0.03),
        "checks": checks(0.2, 0.28, 0.35, 0.44, 0.5, 0.56, 0.6, 0.66),
    }
    found = findings_of(profile="reasoning", **series)
    assert {"length_with_reward", "validation_rising"} <= set(found)
    assert not alarms(found)
    # The same growth is suspect where answers need not be long.
    assert alarms(findings_of(**series)) == {"length_with_reward"}
    # It is no thinking where other questions gain nothing by it,
    found = findings_of(profile="reasoning", **series | {"checks": checks(0.3, 0.31, 0.29, 0.3, 0.31, 0.3, 0.3, 0.29)})
    assert alarms(found) == {"validation_flat"}
    # nor where the answers do not get to their end.
    assert alarms(findings_of(profile="reasoning", **series | {"clipped_ratio": 0.24 * TIME})) == {"length_with_reward"}


@pytest.mark.parametrize("seed", SEEDS)
def test_length_that_grows_in_the_last_quarter_only_is_found_and_dated(findings_of: Find, seed: int) -> None:
    begun = course((0, 0), (0.75, 0), (1, 1))
    found = findings_of(
        reward=0.35 + 0.35 * begun + noise(seed, 0.02), mean_length=150 * (1 + 1.2 * begun) + noise(seed + 1, 4)
    )
    assert alarms(found) == {"length_with_reward"}
    assert found["length_with_reward"].onset_step == pytest.approx(0.75 * N, abs=0.1 * N)


@pytest.mark.parametrize(("growth", "alarmed"), [(1.5, {"length_with_reward"}), (1.15, set())])
@pytest.mark.parametrize("seed", SEEDS)
def test_growth_by_a_half_is_found_and_by_a_seventh_is_drift(
    findings_of: Find, seed: int, growth: float, alarmed: set[str]
) -> None:
    progress = course((0, 0), (0.2, 0), (0.8, 1))
    found = findings_of(
        reward=0.3 + 0.4 * progress + noise(seed, 0.03),
        mean_length=200 * (1 + (growth - 1) * progress) + noise(seed + 1, 4),
    )
    assert alarms(found) == alarmed


@pytest.mark.parametrize("seed", SEEDS)
def test_a_penalty_avoided_by_silence_is_no_learning_and_getting_to_the_point_is(findings_of: Find, seed: int) -> None:
    found = findings_of(
        reward=course((0.2, 0.3), (0.6, 0.42)) + noise(seed, 0.02), mean_length=course((0.2, 200), (0.6, 3))
    )
    assert alarms(found) == {"length_collapse"}
    assert "learning" not in found
    assert found["length_collapse"].onset_step == pytest.approx(0.2 * N, abs=0.1 * N)
    found = findings_of(reward=learned(seed), mean_length=course((0.1, 400), (0.8, 190)) + noise(seed, 10))
    assert set(found) == {"learning"}


# ---------------------------------------------------------------- level and signal


@pytest.mark.parametrize("seed", SEEDS)
def test_a_rise_is_one_by_its_size_and_not_by_its_p_alone(findings_of: Find, seed: int) -> None:
    # .035 of the scale, many standard errors above noise: of a saturated reward that is no learning.
    reward = 0.93 + 0.044 * TIME + noise(seed, 0.002)
    assert set(findings_of(reward=reward)) == {"no_trend"}
    assert set(findings_of(reward=0.9 + 0.08 * TIME + noise(seed, 0.002))) == {"learning"}


@pytest.mark.parametrize(
    ("code", "series"),
    [
        ("length_collapse", {"mean_length": course((0.2, 200), (0.6, 2))}),
        ("length_with_reward", {"mean_length": course((0.1, 150), (0.8, 400))}),
        ("kl_without_gain", {"reward": course((0, 0.25), (0.3, 0.75)) + noise(1, 0.02), "kl": TIME}),
        ("starved_floor", {"reward": course((0, 0.0), (1, 0.12)), "zero_std_fraction": np.full(N, 0.9)}),
        ("non_finite", {"grad_norm": [0.5] * 100 + [NAN] * 20}),
    ],
)
def test_a_rise_is_no_learning_beside_what_explains_it_away(
    findings_of: Find, code: str, series: dict[str, object]
) -> None:
    plain = {"reward": learned(1), "reward_std": np.full(N, 0.3)}
    assert set(findings_of(**plain)) == {"learning"}
    assert code in findings_of(**plain | series)
    assert "learning" not in findings_of(**plain | series)


def test_five_rows_show_a_level_and_no_trend(findings_of: Find) -> None:
    for rows, codes in ((5, {"starved_floor", "too_short"}), (4, {"too_short"})):
        assert set(findings_of(reward=[0.01] * rows, zero_std_fraction=[0.95] * rows)) == codes
    assert set(findings_of(reward=np.linspace(0.1, 0.9, 9), zero_std_fraction=[0.1] * 9)) == {"too_short"}


@pytest.mark.parametrize("seed", SEEDS)
def test_saturation_after_learning_is_not_the_ceiling_from_the_start(findings_of: Find, seed: int) -> None:
    late = np.clip(0.97 + noise(seed, 0.01), 0, 1)
    rising = course((0, 0), (0.4, 1))
    found = findings_of(reward=0.4 + (late - 0.4) * rising, zero_std_fraction=0.1 + 0.85 * rising)
    assert set(found) == {"saturated", "learning"}
    assert alarms(findings_of(reward=late, zero_std_fraction=np.full(N, 0.93))) == {"starved_ceiling"}


def test_what_is_learned_in_the_first_few_steps_is_saturation_too(findings_of: Find) -> None:
    # From .68 to .98 in four steps: the first fifth of the rows has a mean of .97.
    reward = [0.68, 0.79, 0.93, 0.98, *np.clip(0.995 + noise(3, 0.004, N - 4), 0, 1)]
    found = findings_of(reward=reward, zero_std_fraction=[0.2, 0.4, 0.6, 0.8, *[0.98] * (N - 4)])
    assert "saturated" in found
    assert not alarms(found)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_clipped_ratio_of_one_counts_only_if_the_answers_are_as_long_as_the_limit(
    findings_of: Find, seed: int
) -> None:
    longest = np.random.default_rng(seed).integers(280, 400, N)
    series = {"reward": learned(seed), "clipped_ratio": np.ones(N), "mean_length": np.full(N, 180.0)}
    assert not alarms(findings_of(**series, max_length=longest))
    assert alarms(findings_of(**series, max_length=np.full(N, 512))) == {"answers_clipped"}


@pytest.mark.parametrize("seed", SEEDS)
def test_zero_or_one_over_one_group_a_step_is_an_average_like_any_other(findings_of: Find, seed: int) -> None:
    generator = np.random.default_rng(seed)
    same = generator.random(N) < 0.35
    reward = np.where(same, generator.integers(0, 2, N), generator.uniform(0.2, 0.8, N))
    assert not alarms(findings_of(reward=reward, zero_std_fraction=same))
    starved = generator.random(N) < 0.97
    found = findings_of(reward=np.where(starved, 0.0, 0.125), zero_std_fraction=starved)
    assert alarms(found) == {"starved_floor"}


@pytest.mark.parametrize("seed", SEEDS)
def test_groups_that_agree_while_the_batch_still_differs_have_no_signal(findings_of: Find, seed: int) -> None:
    # The spread of the whole batch stays: half of the prompts are always solved, the other half never.
    series = {"reward": 0.5 + noise(seed, 0.03), "reward_std": 0.5 + noise(seed + 1, 0.005)}
    assert not alarms(findings_of(**series, zero_std_fraction=course((0, 0.2), (1, 0.6))))
    found = findings_of(**series, zero_std_fraction=course((0, 0.2), (0.7, 0.95)))
    assert alarms(found) == {"starved"}
    # The spread within groups shrinks to nothing, and that is all an older log shows.
    assert "starved" in findings_of(reward=series["reward"], reward_std=course((0, 0.4), (0.7, 0.0)))


@pytest.mark.parametrize(("low", "high"), [(-1, 0), (-10, 0), (-20, 20), (0, 10), (-0.5, 1.5)])
def test_floor_and_ceiling_are_not_swapped_on_other_scales(findings_of: Find, low: float, high: float) -> None:
    generator = np.random.default_rng(4)
    right = generator.binomial(256, 0.004, N) / 256
    spread = (high - low) * np.sqrt(right * (1 - right))
    starved = np.full(N, 0.96)
    found = findings_of(reward=low + (high - low) * right, reward_std=spread, zero_std_fraction=starved)
    assert "starved_floor" in found
    found = findings_of(reward=high - (high - low) * right, reward_std=spread, zero_std_fraction=starved)
    assert "starved_ceiling" in found
    declared = RunFacts("run", reward_range=(low, high))
    found = findings_of(facts=declared, reward=high - (high - low) * right, zero_std_fraction=starved)
    assert alarms(found) == {"starved_ceiling"}


def test_rewards_at_the_end_of_their_range_leave_no_signal_although_no_spread_is_logged(findings_of: Find) -> None:
    assert alarms(findings_of(reward=np.zeros(N))) == {"starved_floor"}
    assert alarms(findings_of(reward=np.ones(N))) == {"starved_ceiling"}
    assert not alarms(findings_of(reward=np.random.default_rng(2).normal(0.5, 0.01, N)))
    # Of single answers each lies at an end.
    single = np.random.default_rng(1).random(N) < 0.4
    assert not alarms(findings_of(reward=single))


def test_tiny_rewards_count_on_a_scale_of_their_own(findings_of: Find) -> None:
    reward, spread = learned(0), np.full(N, 0.3)
    assert set(findings_of(reward=1e-6 * reward, reward_std=1e-6 * spread)) == {"learning"}
    # One right answer in some hundred is a floor, not a scale.
    rare = np.random.default_rng(2).binomial(512, 0.001, N) / 512
    starved = np.full(N, 0.98)
    assert alarms(findings_of(reward=rare, reward_std=rare**0.5, zero_std_fraction=starved)) == {"starved_floor"}


def test_a_rise_far_from_zero_is_not_called_a_standstill(findings_of: Find) -> None:
    found = findings_of(reward=50 + learned(0), reward_std=np.full(N, 0.4))
    assert set(found) == {"inconclusive"}
    assert "only guessed" in found["inconclusive"].title
    assert set(findings_of(reward=50 + noise(0, 0.04), reward_std=np.full(N, 0.4))) == {"no_trend"}
    declared = RunFacts("run", reward_range=(50.0, 51.0))
    assert set(findings_of(facts=declared, reward=50 + learned(0), reward_std=np.full(N, 0.4))) == {"learning"}


@pytest.mark.parametrize("seed", SEEDS)
def test_single_answers_have_no_jump_to_the_top(findings_of: Find, seed: int) -> None:
    chance = np.where(np.linspace(0, 1, 600) < 0.5, 0.1, 0.6)
    right = np.random.default_rng(seed).random(600) < chance
    assert "sudden_reward" not in findings_of(reward=right)


# ---------------------------------------------------------------- divergence


@pytest.mark.parametrize("seed", SEEDS)
def test_a_high_level_of_kl_is_not_drift_and_neither_is_a_spike_that_heals(findings_of: Find, seed: int) -> None:
    flat = {"reward": 0.6 + noise(seed, 0.03)}
    assert not alarms(findings_of(**flat, kl=1.5 + noise(seed + 1, 0.05)))
    spike = np.where((TIME > 0.7) & (TIME < 0.73), 30.0, 0.05 + noise(seed + 1, 0.004))
    assert not alarms(findings_of(**flat, kl=spike))
    assert alarms(findings_of(**flat, kl=1.5 * TIME + noise(seed + 1, 0.02))) == {"kl_without_gain"}


@pytest.mark.parametrize("seed", SEEDS)
def test_kl_under_a_gain_that_slows_down_is_not_kl_after_a_gain_that_has_ended(findings_of: Find, seed: int) -> None:
    kl = 0.8 * TIME + np.abs(noise(seed + 1, 0.01))
    slowing = findings_of(reward=0.25 + 0.5 * TIME**0.6 + noise(seed, 0.03), kl=kl)
    assert set(slowing) == {"learning"}
    ended = findings_of(reward=course((0, 0.25), (0.3, 0.75)) + noise(seed, 0.03), kl=kl)
    assert alarms(ended) == {"kl_without_gain"}
    assert ended["kl_without_gain"].onset_step == pytest.approx(0.3 * N, abs=0.1 * N)


def test_a_flat_kl_that_is_measured_with_noise_is_seldom_drift(findings_of: Find) -> None:
    # As the plain estimator gives it, below 0 as well as above; the noise is that of some thousand tokens, or more.
    drifting = 0
    for seed in range(100):
        kl = 0.05 + noise(seed + 100, 0.1)
        drifting += "kl_without_gain" in findings_of(reward=0.6 + noise(seed, 0.03), kl=kl)
    assert drifting <= 2


def test_a_small_gain_that_goes_on_is_worth_a_little_kl(findings_of: Find) -> None:
    # .08 of the scale for .2 nats, evenly: learning slowly. The same for 4 nats is drift.
    reward = 0.5 + 0.08 * TIME + noise(1, 0.01)
    assert not alarms(findings_of(reward=reward, kl=0.2 * TIME))
    assert alarms(findings_of(reward=reward, kl=4 * TIME)) == {"kl_without_gain"}


def test_a_sum_over_the_sequence_is_no_kl_per_token(findings_of: Find) -> None:
    series = {"reward": 0.6 + noise(1, 0.02), "kl": 20 * TIME, "mean_length": np.full(N, 250.0)}
    summed = RunFacts("run", kl_semantics="sum_per_sequence")
    assert alarms(findings_of(**series)) == {"kl_without_gain"}
    assert not alarms(findings_of(facts=summed, **series))
    assert alarms(findings_of(facts=summed, **series | {"kl": 250 * TIME})) == {"kl_without_gain"}
    # Without lengths nothing is known per token, and nothing is said.
    found = findings_of(facts=summed, reward=series["reward"], kl=250 * TIME)
    assert not alarms(found)


@pytest.mark.parametrize("seed", SEEDS)
def test_gradients_of_exactly_zero_are_a_breakdown_only_where_the_reward_fell(findings_of: Find, seed: int) -> None:
    stuck = np.where(TIME < 0.5, 0.4, 0.0)
    fallen = course((0.4, 0.6), (0.5, 0.01)) + np.abs(noise(seed, 0.003))
    assert "diverged" in findings_of(reward=fallen, grad_norm=stuck)
    assert "diverged" not in findings_of(reward=fallen, grad_norm=np.full(N, 0.4))
    # A flat reward says by itself that nothing is learned, and no prompt with a signal says why.
    still = {"reward": 0.5 + noise(seed, 0.03), "reward_std": np.full(N, 0.3), "grad_norm": stuck}
    found = findings_of(**still, zero_std_fraction=np.full(N, 0.2))
    assert set(found) == {"no_trend"}
    assert "100% of the late gradient norms are exactly 0" in found["no_trend"].meaning
    assert found["no_trend"].evidence["zero_gradient_late"] == 1.0
    moving = findings_of(**still | {"grad_norm": np.full(N, 0.4)})["no_trend"]
    assert "gradient" not in moving.meaning
    assert "zero_gradient_late" not in moving.evidence
    assert set(findings_of(**still, zero_std_fraction=np.full(N, 0.97))) == {"starved"}
    # A policy that improves was updated: the norm was not measured.
    assert set(findings_of(reward=learned(seed), grad_norm=np.zeros(N))) == {"learning"}


# ---------------------------------------------------------------- reward functions and entropy


def functions(total: np.ndarray, **parts: np.ndarray) -> dict[str, object]:
    return {"reward": total, "extra": {f"reward/{name}": values for name, values in parts.items()}}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_rise_of_the_format_alone_is_not_a_rise_of_both_or_of_another_function(findings_of: Find, seed: int) -> None:
    still, rising = 0.3 + noise(seed, 0.03), course((0.1, 0.2), (0.5, 0.9)) + noise(seed + 1, 0.03)
    both = rising + noise(seed + 2, 0.03)
    only = findings_of(**functions((still + rising) / 2, correct=still, format_reward=rising))
    assert alarms(only) == {"format_only"}
    assert not alarms(findings_of(**functions((both + rising) / 2, correct=both, format_reward=rising)))
    # One function that dominates, and it pays for being right.
    dominant = findings_of(**functions(0.1 * still + 0.9 * rising, format_reward=still, correct=rising))
    assert set(dominant) == {"learning"}


@pytest.mark.parametrize("seed", SEEDS)
def test_entropy_that_collapses_is_told_from_entropy_that_falls(findings_of: Find, seed: int) -> None:
    found = findings_of(reward=learned(seed, 0.2, 0.5), entropy=0.8 * np.exp(-4 * TIME))
    assert set(found) == {"entropy_collapse", "learning"}
    assert set(findings_of(reward=learned(seed, 0.2, 0.5), entropy=0.8 * np.exp(-1.2 * TIME))) == {"learning"}
    # At the ceiling there is nothing left to explore.
    assert "entropy_collapse" not in findings_of(reward=learned(seed, 0.5, 0.95), entropy=0.8 * np.exp(-4 * TIME))


# ---------------------------------------------------------------- the log


@pytest.mark.parametrize("seed", SEEDS)
def test_a_restart_with_another_learning_rate_is_no_finding(findings_of: Find, seed: int) -> None:
    # Resumed from a checkpoint at half of the run: a little behind, with ten times the rate and other gradients.
    progress = course((0, 0), (0.5, 0.55), (0.501, 0.45), (1, 1))
    found = findings_of(
        reward=0.3 + 0.4 * progress + noise(seed, 0.03),
        learning_rate=np.where(TIME < 0.5, 1e-6, 1e-5),
        grad_norm=np.where(TIME < 0.5, 0.4, 1.6) * np.exp(noise(seed + 1, 0.3)),
        kl=0.1 * progress,
    )
    assert set(found) == {"learning"}
    # One that never finds back to where it stopped is no restart but a fall.
    lost = course((0, 0.5), (0.4, 0.7), (0.5, 0.7), (0.51, 0.1), (1, 0.1))
    assert alarms(findings_of(reward=lost + noise(seed, 0.03))) == {"reward_falling"}


def test_gaps_of_a_cadence_are_not_a_policy_that_is_gone(findings_of: Find) -> None:
    every = np.arange(N) % 7 == 0
    sparse = {name: [0.05 + 0.001 * at if every[at] else None for at in range(N)] for name in ("kl", "entropy")}
    assert set(findings_of(reward=learned(0), **sparse)) == {"learning"}
    gone = {name: [0.05 if at < 90 else None for at in range(N)] for name in ("kl", "entropy")}
    assert "non_finite" in findings_of(reward=learned(0), **gone)
    gone = {name: [0.05 if every[at] and at < 90 else None for at in range(N)] for name in ("kl", "entropy")}
    assert "non_finite" in findings_of(reward=learned(0), **gone)
    logged = {"kl": [NAN if at in (50, 51) else 0.05 for at in range(N)]}
    assert alarms(findings_of(reward=learned(0), **logged)) == {"non_finite"}


def test_a_run_that_broke_in_its_last_tenth_is_sick_although_it_learned(findings_of: Find) -> None:
    broken = {name: [0.2] * 110 + [NAN] * 10 for name in ("kl", "grad_norm")}
    found = findings_of(reward=learned(0), **broken)
    assert found["non_finite"].severity == Severity.CRITICAL
    assert found["non_finite"].onset_step == 111
    assert "learning" not in found


@pytest.mark.parametrize("seed", SEEDS)
def test_a_reward_or_a_length_that_breaks_in_the_last_tenth_is_found_and_dated(findings_of: Find, seed: int) -> None:
    sound = course((0, 0.3), (0.5, 0.6), time=TIME) + noise(seed, 0.03)
    broken = np.where(TIME > 0.9, 0.03 + 0.2 * np.abs(noise(seed, 0.05)), sound)
    found = findings_of(reward=broken, mean_length=200 + noise(seed + 1, 6))
    assert alarms(found) == {"reward_falling"}
    assert found["reward_falling"].onset_step == pytest.approx(0.9 * N, abs=0.05 * N)
    found = findings_of(reward=sound, mean_length=np.where(TIME > 0.9, 8, 200) + noise(seed + 1, 2))
    assert alarms(found) == {"length_collapse"}
    assert found["length_collapse"].onset_step == pytest.approx(0.9 * N, abs=0.05 * N)
    # A few rows that come back are no collapse.
    dip = (TIME > 0.9) & (TIME < 0.94)
    found = findings_of(reward=sound, mean_length=np.where(dip, 8, 200) + noise(seed + 1, 2))
    assert not alarms(found)


@pytest.mark.parametrize("seed", SEEDS)
def test_harder_prompts_from_some_step_on_are_no_collapse(findings_of: Find, seed: int) -> None:
    reward = course((0, 0.4), (0.5, 0.75), (0.505, 0.4), (1, 0.5)) + noise(seed, 0.03)
    assert not alarms(findings_of(reward=reward))
    # On a scale whose floor is not known, the lowest that was seen is no floor.
    assert not alarms(findings_of(reward=4 * reward - 2))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_large_steady_fall_warns_however_fast_its_fastest_part_is(findings_of: Find, seed: int) -> None:
    found = findings_of(reward=course((0.2, 0.9), (0.35, 0.75), (0.65, 0.4), (0.9, 0.3)) + noise(seed, 0.06))
    assert alarms(found) == {"reward_falling"}


@pytest.mark.parametrize("seed", SEEDS)
def test_what_was_gained_and_lost_again_is_told_from_a_cycle(findings_of: Find, seed: int) -> None:
    found = findings_of(reward=course((0, 0.3), (0.5, 0.8), (1, 0.35)) + noise(seed, 0.03))
    assert "reward_falling" in found
    assert not alarms(found)
    assert "reward_falling" not in findings_of(reward=0.5 + 0.2 * np.sin(8 * np.pi * TIME) + noise(seed, 0.03))


def test_a_run_that_ended_early_is_information_unless_it_broke(findings_of: Find) -> None:
    facts = RunFacts("run", planned_steps=2 * N)
    found = findings_of(facts=facts, reward=learned(0))
    assert set(found) == {"learning", "ended_early"}
    assert not alarms(found)
    broken = findings_of(facts=facts, reward=learned(0), grad_norm=[0.5] * 110 + [INF] * 10)
    assert "ended_early" in broken
    assert broken["non_finite"].severity == Severity.CRITICAL


# ---------------------------------------------------------------- noise


@pytest.mark.parametrize("seed", range(40))
def test_random_walks_and_cycles_raise_no_alarm(findings_of: Find, seed: int) -> None:
    # Within the scale: a walk that ends .15 of it lower has fallen, and saying so is right.
    generator = np.random.default_rng(seed)
    walk = 0.5 + 0.05 * generator.normal(0, 1, N).cumsum() / np.sqrt(N)
    waves = 0.5 + 0.15 * np.sin(2 * np.pi * (generator.uniform(3, 6) * TIME + generator.uniform()))
    for reward in (walk + noise(seed, 0.02), waves + noise(seed, 0.02)):
        found = findings_of(reward=reward, mean_length=200 * np.exp(noise(seed + 1, 0.03)), kl=np.full(N, 0.02))
        assert not alarms(found)


@pytest.mark.parametrize("seed", range(20))
def test_an_early_fast_rise_to_a_plateau_is_learning_and_no_jump(findings_of: Find, seed: int) -> None:
    found = findings_of(
        reward=course((0, 0.2), (0.2, 0.7)) + noise(seed, 0.03), kl=0.2 * course((0, 0), (0.2, 1)) + 0.001
    )
    assert set(found) == {"learning"}


@pytest.mark.parametrize("seed", range(20))
def test_twelve_rows_show_a_clear_rise_and_raise_no_alarm(findings_of: Find, seed: int) -> None:
    steps = np.linspace(0, 1, 12)
    found = findings_of(reward=0.25 + 0.45 * steps + noise(seed, 0.04, 12), mean_length=200 + noise(seed, 6, 12))
    assert set(found) == {"learning"}
    flat = findings_of(reward=0.5 + noise(seed, 0.1, 12), mean_length=200 + noise(seed, 20, 12))
    assert not alarms(flat)
