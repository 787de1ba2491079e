from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlchecks.grading.effects import FEWEST_CLUSTERS, Undefined, within


def groups(prompts: int, answers: int) -> np.ndarray:
    return np.repeat(np.arange(prompts), answers)


def test_levels_of_groups_cancel() -> None:
    rng = np.random.default_rng(1)
    group = groups(40, 8)
    level = rng.normal(0, 10, 40)[group]
    # Hard prompts get longer answers and lower scores: across prompts the slope is negative.
    feature = -level + rng.normal(0, 1, len(group))
    score = level + 0.5 * feature + rng.normal(0, 0.1, len(group))
    effect = within(score, feature, group, group)
    assert effect.slope == pytest.approx(0.5, abs=0.03)
    assert np.polyfit(feature, score, 1)[0] < 0
    assert effect.clusters == 40
    assert 15 < effect.df < 39


def test_the_slope_is_that_of_least_squares_with_one_level_a_group() -> None:
    rng = np.random.default_rng(2)
    group = groups(12, 5)
    feature, score = rng.normal(size=60), rng.normal(size=60)
    design = np.column_stack([feature, np.eye(12)[group]])
    assert within(score, feature, group, group).slope == pytest.approx(np.linalg.lstsq(design, score)[0][0])
    beside = rng.normal(size=60)
    design = np.column_stack([feature, beside, np.eye(12)[group]])
    both = within(score, feature, group, group, beside)
    assert both.slope == pytest.approx(np.linalg.lstsq(design, score)[0][0])


@pytest.mark.parametrize("shared", [0.0, 1.0])
def test_intervals_cover_also_when_answers_of_a_prompt_depend_on_each_other(shared: float) -> None:
    from scipy.special import stdtrit

    rng = np.random.default_rng(3)
    covered = 0
    draws = 400
    for _ in range(draws):
        # A prompt comes back at three steps; what pays for length in it is its own.
        cluster = np.repeat(np.arange(30), 12)
        group = np.repeat(np.arange(90), 4)
        feature = rng.normal(size=360)
        own = rng.normal(0, shared, 30)[cluster]
        effect = within(own * feature + rng.normal(size=360), feature, group, cluster)
        covered += abs(effect.slope) <= stdtrit(effect.df, 0.975) * effect.error
    # Three Monte Carlo errors below 93 %: sandwich errors of 30 clusters are a little short.
    assert covered / draws >= 0.93 - 3 * np.sqrt(0.95 * 0.05 / draws)


def test_what_few_answers_have_is_no_payment_beside_the_length() -> None:
    from scipy.special import stdtrit

    rng = np.random.default_rng(4)
    group = groups(25, 8)
    said, draws = 0, 400
    for _ in range(draws):
        length = rng.normal(300, 80, 200)
        feature = (rng.random(200) < 0.15) * rng.uniform(0.8, 1.2, 25)[group]
        effect = within(0.001 * length + rng.normal(size=200), feature, group, group, length)
        said += abs(effect.slope) > stdtrit(effect.df, 0.975) * effect.error
    assert said / draws <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / draws)
    # Two prompts: what the length leaves of them in all the others is no variation.
    lonely = np.where(group < 2, feature + rng.random(200), 0.0)
    with pytest.raises(Undefined, match="fewer than"):
        within(rng.normal(size=200), lonely, group, group, length)
    # Everywhere, but by far the most in one prompt.
    with pytest.raises(Undefined, match="nearly all"):
        within(
            rng.normal(size=200), feature + rng.normal(0, 1, 200) * np.where(group == 0, 100, 1), group, group, length
        )


def test_balanced_clusters_have_the_degrees_of_freedom_of_their_number() -> None:
    group = groups(20, 4)
    feature = np.tile([0.0, 1.0, 2.0, 3.0], 20)
    effect = within(np.random.default_rng(0).normal(size=80), feature, group, group)
    assert effect.df == pytest.approx(19)


@pytest.mark.parametrize(
    ("feature", "prompts", "reason"),
    [
        (np.ones(80), 20, "does not vary"),
        (np.repeat(np.arange(20.0), 4), 20, "does not vary"),
        (np.arange(80.0) * (np.arange(80) < 8), 20, "fewer than"),
    ],
)
def test_what_does_not_vary_within_prompts_is_undefined(feature: np.ndarray, prompts: int, reason: str) -> None:
    group = groups(prompts, 4)
    with pytest.raises(Undefined, match=reason):
        within(np.random.default_rng(0).normal(size=80), feature, group, group)
    assert FEWEST_CLUSTERS > 2


def test_a_feature_that_is_the_one_held_fixed_is_undefined() -> None:
    group = groups(20, 4)
    feature = np.random.default_rng(0).normal(size=80)
    with pytest.raises(Undefined):
        within(feature.copy(), 2 * feature, group, group, feature)


@settings(max_examples=50)
@given(shift=st.floats(-1e3, 1e3), factor=st.floats(0.01, 100), seed=st.integers(0, 1000))
def test_units_of_score_and_feature_carry_over(shift: float, factor: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    group = groups(15, 4)
    feature, score = rng.normal(size=60), rng.normal(size=60)
    plain, scaled = within(score, feature, group, group), within(factor * score + shift, feature, group, group)
    assert scaled.slope == pytest.approx(factor * plain.slope, rel=1e-6, abs=1e-9 * factor)
    assert scaled.error == pytest.approx(factor * plain.error, rel=1e-6)
