"""The course of a validation score: where a rise ends, and which check is as good as the best."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlchecks.signals.course import FEWEST, Course, course

Curve = Callable[[np.ndarray], np.ndarray]


def steps(n: int) -> np.ndarray:
    return np.linspace(0, 1000, n)


def rise_until(end: float, then: float = 0.0) -> Curve:
    return lambda t: 0.3 + 0.3 * np.minimum(t / end, 1) + then * np.maximum(t - end, 0)


def fading(pace: float) -> Curve:
    return lambda t: 0.3 + 0.3 * (1 - np.exp(-t / pace)) / (1 - np.exp(-1 / pace))


def followed(series: np.ndarray, at: np.ndarray | None = None) -> Course:
    found = course(steps(len(series)) if at is None else at, series)
    assert found is not None
    return found


def test_an_exact_bend_is_found_between_two_checks() -> None:
    # Eleven checks, 100 steps apart; bends are tried at quarters of that.
    found = followed(rise_until(0.425)(np.linspace(0, 1, 11)))
    assert found.stop == pytest.approx(425)
    assert (found.stop_low, found.stop_high) == (400, 500)
    np.testing.assert_allclose(found.missing[5:], 0, atol=1e-12)
    assert found.missing[0] == pytest.approx(0.3)


def test_a_rise_to_the_end_need_not_have_ended() -> None:
    found = followed(0.3 + 0.3 * np.linspace(0, 1, 10) + np.tile([0.01, -0.01], 5))
    assert found.stop_high == 1000
    assert found.missing_high[7] > 0.05


def test_a_fall_is_dated_by_where_it_was_best() -> None:
    peak = followed(rise_until(0.5, -0.3)(np.linspace(0, 1, 11)))
    assert peak.stop == pytest.approx(500)
    assert int(np.argmin(peak.missing)) == 5
    assert peak.missing_low[-1] == pytest.approx(0.15)
    fall = followed(0.6 - 0.3 * np.linspace(0, 1, 9))
    assert fall.stop is None
    np.testing.assert_allclose(fall.missing, 0.3 * np.linspace(0, 1, 9), atol=1e-12)


def test_a_constant_score_is_best_everywhere() -> None:
    found = followed(np.full(8, 0.4))
    assert found.stop is None
    np.testing.assert_array_equal(found.missing_high, 0)


def test_too_few_checks_and_numbers_that_overflow_have_no_course() -> None:
    assert course(steps(FEWEST - 1), np.linspace(0, 1, FEWEST - 1)) is None
    assert course(steps(8), np.tile([1.7e308, -1.7e308], 4)) is None
    assert course(np.zeros(8), np.linspace(0, 1, 8)) is None
    assert course(np.empty(0), np.empty(0)) is None


def test_noise_that_the_questions_explain_counts_where_the_fit_is_lucky() -> None:
    series = rise_until(0.4)(np.linspace(0, 1, 8))
    lucky, known = course(steps(8), series), course(steps(8), series, noise=0.05)
    assert lucky is not None
    assert known is not None
    assert lucky.missing_high[4] < 0.01
    assert known.missing_high[4] > 0.05
    assert known.stop_low is not None
    assert known.stop_high is not None
    assert known.stop_low < 400 < known.stop_high
    rough = series + np.tile([0.1, -0.1], 4)
    unaware, aware = course(steps(8), rough), course(steps(8), rough, noise=0.01)
    assert unaware is not None
    assert aware is not None
    np.testing.assert_array_equal(unaware.missing_high, aware.missing_high)


SERIES = st.lists(st.integers(0, 100), min_size=FEWEST, max_size=14)


@given(SERIES, st.floats(0.1, 1e6), st.floats(-1e3, 1e3))
@settings(deadline=None, max_examples=60)
def test_unit_and_origin_of_the_scores_do_not_matter(scores: list[int], unit: float, origin: float) -> None:
    series = np.array(scores, dtype=np.float64)
    one, other = followed(series), followed(series * unit + origin)
    np.testing.assert_allclose(other.missing_high, one.missing_high * unit, rtol=1e-5, atol=1e-5 * unit)
    np.testing.assert_allclose(other.missing_low, one.missing_low * unit, rtol=1e-5, atol=1e-5 * unit)


@given(SERIES, st.integers(1, 10**6), st.integers(0, 10**6))
@settings(deadline=None, max_examples=60)
def test_unit_and_origin_of_the_steps_do_not_matter(scores: list[int], unit: int, origin: int) -> None:
    at, series = np.arange(len(scores), dtype=np.float64), np.array(scores, dtype=np.float64)
    one, other = followed(series, at), followed(series, at * unit + origin)
    np.testing.assert_allclose(other.missing_high, one.missing_high, rtol=1e-5, atol=1e-5)


@given(SERIES)
@settings(deadline=None, max_examples=60)
def test_limits_lie_around_the_estimate(scores: list[int]) -> None:
    found = followed(np.array(scores, dtype=np.float64))
    assert (found.missing_low <= found.missing + 1e-9).all()
    assert (found.missing <= found.missing_high + 1e-9).all()
    if found.stop is not None:
        assert found.stop_low is not None
        assert found.stop_high is not None
        assert found.stop_low <= found.stop <= found.stop_high


@pytest.mark.parametrize("n", [6, 12, 30])
@pytest.mark.parametrize("curve", [rise_until(0.3), rise_until(0.55), rise_until(0.5, -0.3)], ids=str)
def test_the_limits_hold_the_end_of_a_rise(n: int, curve: Curve) -> None:
    noise, at = np.random.default_rng(1), np.linspace(0, 1, n)
    end = 1000 * float(np.argmax(curve(np.linspace(0, 1, 1001)))) / 1000
    held = [
        found.stop_low <= end <= found.stop_high
        for found in (followed(noise.binomial(200, curve(at)) / 200) for _ in range(200))
        if found.stop_low is not None and found.stop_high is not None
    ]
    assert len(held) > 190
    assert np.mean(held) > 0.9


@pytest.mark.parametrize("n", [6, 12, 30])
@pytest.mark.parametrize("curve", [fading(0.3), fading(0.5), rise_until(0.7), rise_until(1.0)], ids=str)
def test_a_check_is_seldom_called_as_good_that_is_not(n: int, curve: Curve) -> None:
    noise, at = np.random.default_rng(2), np.linspace(0, 1, n)
    wrong = 0
    for _ in range(200):
        found = followed(noise.binomial(200, curve(at)) / 200)
        good = np.flatnonzero(found.missing_high <= 0.05)
        wrong += bool(len(good)) and curve(np.array([1.0]))[0] - curve(at)[good[0]] > 0.05
    assert wrong <= 0.08 * 200


def test_a_plateau_of_enough_checks_is_seen() -> None:
    noise, at = np.random.default_rng(3), np.linspace(0, 1, 15)
    seen = [followed(noise.binomial(1000, rise_until(0.4)(at)) / 1000).missing_high[11] <= 0.05 for _ in range(100)]
    assert np.mean(seen) > 0.95
