"""Several checkpoints against the best of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlchecks.heldout.best import against_best
from rlchecks.heldout.intervals import paired_interval


def test_the_best_of_two_is_a_comparison_of_two() -> None:
    noise = np.random.default_rng(1)
    scores = (noise.random((2, 150)) < [[0.4], [0.6]]).astype(float)
    worse, better = against_best(scores, binary_single=True)
    # One comparison, one-sided at 5 %: the limits of the two-sided interval at 90 %.
    found = paired_interval(scores[1] - scores[0], binary_single=True, confidence=0.9)
    assert better.difference == 0.0
    assert (worse.difference, worse.lower) == (
        pytest.approx(-(found.estimate or 0)),
        pytest.approx(-(found.upper or 0)),
    )
    assert better.upper == pytest.approx(found.upper)
    assert (better.lower, worse.upper) == (0.0, 0.0)
    assert (worse.may_be_best, better.may_be_best) == (False, True)


def test_equal_checkpoints_may_all_be_the_best() -> None:
    scores = np.tile(np.arange(200) % 2.0, (4, 1))
    standings = against_best(scores, binary_single=True)
    assert all(one.may_be_best for one in standings)
    assert {one.difference for one in standings} == {0.0}
    assert all(-0.05 < (one.lower or 0) < 0 < (one.upper or 0) < 0.05 for one in standings)


def test_what_cannot_be_compared_may_differ_by_anything() -> None:
    scores = np.array([[1.0, 1.0, np.nan, np.nan], [np.nan, np.nan, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0]])
    standings = against_best(scores, binary_single=True)
    assert all(one.may_be_best for one in standings)
    assert [one.lower for one in standings[:2]] == [None, None]
    graded = against_best(np.tile([0.2, 0.7, 0.4], (3, 1)))  # no variance: no t interval
    assert all(one.may_be_best and one.lower is None for one in graded)


def test_clusters_widen_the_limits() -> None:
    noise = np.random.default_rng(2)
    scores = np.repeat(noise.normal(0.5, 0.2, (3, 40)), 5, axis=1)
    alone, together = against_best(scores), against_best(scores, clusters=np.repeat(np.arange(40), 5))
    assert together[0].lower is not None
    assert alone[0].lower is not None
    assert together[0].lower < alone[0].lower


SCORES = st.integers(2, 5).flatmap(
    lambda count: st.lists(
        st.lists(st.sampled_from([0.0, 1.0]), min_size=count, max_size=count), min_size=3, max_size=40
    )
)


@given(SCORES)
@settings(deadline=None, max_examples=60)
def test_limits_hold_the_estimate_and_one_is_possible(scores: list[list[float]]) -> None:
    table = np.array(scores).T
    standings = against_best(table, binary_single=True)
    means = table.mean(axis=1)
    assert any(one.may_be_best for one in standings)
    for index, one in enumerate(standings):
        others = np.delete(means, index).max()
        assert one.lower is not None
        assert one.upper is not None
        assert one.lower - 1e-9 <= means[index] - others <= one.upper + 1e-9
        assert one.lower <= 0 <= one.upper
        assert one.may_be_best is (one.upper > 0)
        assert one.difference == pytest.approx(means[index] - means.max())


@given(SCORES, st.integers(0, 1000))
@settings(deadline=None, max_examples=30)
def test_the_order_of_the_checkpoints_does_not_matter(scores: list[list[float]], seed: int) -> None:
    table = np.array(scores).T
    order = np.random.default_rng(seed).permutation(len(table))
    one, other = against_best(table, binary_single=True), against_best(table[order], binary_single=True)
    for place, index in enumerate(order):
        assert other[place].lower == pytest.approx(one[index].lower)
        assert other[place].may_be_best == one[index].may_be_best


@pytest.mark.slow
@pytest.mark.parametrize("skills", [[0.0] * 4, [-1.0, -0.3, 0.0, -0.1, -0.5], [0.0, 0.0, 0.7]])
@pytest.mark.parametrize("repeats", [1, 4])
def test_all_limits_hold_together(skills: list[float], repeats: int) -> None:
    noise = np.random.default_rng(3)
    hard = noise.normal(0, 1.5, 100_000)
    truth = np.array([(1 / (1 + np.exp(-(skill + hard)))).mean() for skill in skills])
    held = 0
    for _ in range(200):
        chance = 1 / (1 + np.exp(-(np.array(skills)[:, None] + noise.normal(0, 1.5, 150))))
        scores = (noise.random((repeats, *chance.shape)) < chance).mean(axis=0)
        standings = against_best(scores, binary_single=repeats == 1, averaged_binary=True)
        held += all(
            one.lower is not None
            and one.upper is not None
            and one.lower - 1e-9 <= truth[index] - np.delete(truth, index).max() <= one.upper + 1e-9
            for index, one in enumerate(standings)
        )
    assert held >= 0.93 * 200
