"""Trend statistics: published numbers, the definition, degenerate series, and false alarms on autocorrelated noise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from rlchecks.signals.trend import (
    knee,
    linear,
    mann_kendall,
    ordering,
    row_median,
    smooth,
    spearman,
    theil_sen,
    whole,
)

NAN = np.nan


def row(*values: float) -> np.ndarray:
    return np.array([values], dtype=float)


def test_theil_sen_gives_the_slope_of_sens_own_example() -> None:
    # Sen 1968, the example of scipy's own test of theilslopes: x = 1 2 3 4 10 12 18, y = 9 15 19 20 45 55 78, slope 4.
    series = np.full((1, 18), NAN)
    series[0, [0, 1, 2, 3, 9, 11, 17]] = [9, 15, 19, 20, 45, 55, 78]
    assert theil_sen(series)[0] == pytest.approx(4.0)


def test_mann_kendall_corrects_for_ties() -> None:
    # The example of Gilbert 1987 with ties: S = 21, variance 62.3333, z = 2.5332, p = .011303.
    result = mann_kendall(np.array([10, 22, 21, 30, 22, 30, 40, 40], dtype=float))
    assert result.s == 21
    assert result.variance == pytest.approx(62.3333, abs=1e-4)
    assert result.z == pytest.approx(2.5332, abs=1e-4)
    assert result.p == pytest.approx(0.011303, abs=1e-6)


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 2.0], [3.0, 3.0, 3.0], [NAN, 1.0, NAN]])
def test_mann_kendall_is_undefined_without_at_least_three_values_that_differ(values: list[float]) -> None:
    assert np.isnan(mann_kendall(np.array(values, dtype=float)).p)


def test_slope_is_that_of_least_squares() -> None:
    series = row(1.0, 3.0, 2.0, 5.0, 4.0, 7.0)
    expected = stats.linregress(np.linspace(0, 1, 6), series[0])
    assert linear(series).slope[0] == pytest.approx(expected.slope)


def test_without_autocorrelation_the_p_value_comes_close_to_least_squares() -> None:
    generator = np.random.default_rng(1)
    series = generator.normal(size=(200, 40)) + np.linspace(0, 1, 40)
    plain = np.array([stats.linregress(np.linspace(0, 1, 40), one).pvalue for one in series])
    ours = linear(series).p
    # The correction is one-sided (rho is cut at 0), so ours can only be more cautious, and not by much.
    assert np.mean(ours >= plain - 1e-9) > 0.95
    assert np.median(ours / plain) < 3


@pytest.mark.parametrize(("rho", "most"), [(0.0, 0.05), (0.3, 0.07), (0.6, 0.085), (0.8, 0.1)])
def test_false_alarms_on_autocorrelated_noise_stay_near_the_nominal_rate(rho: float, most: float) -> None:
    generator = np.random.default_rng(7)
    noise = generator.normal(size=(4000, 40))
    series = np.empty_like(noise)
    series[:, 0] = noise[:, 0] / np.sqrt(1 - rho**2)
    for column in range(1, 40):
        series[:, column] = rho * series[:, column - 1] + noise[:, column]
    alarms = np.mean(linear(series).p < 0.05)
    # Plain least squares gives .06, .15, .33 and .52 here. A line through 40 blocks cannot tell a strong wander from
    # a trend altogether, which is why a finding also needs a minimum effect.
    assert alarms <= most


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_p_is_undefined_under_four_blocks(size: int) -> None:
    series = np.full((1, 40), NAN)
    series[0, :size] = np.arange(size)
    assert np.isnan(linear(series).p[0])


def test_constant_series_has_no_trend_and_an_exact_line_a_certain_one() -> None:
    assert linear(row(*[2.0] * 10)).p[0] == 1.0
    assert linear(row(*np.arange(10.0))).p[0] == 0.0


def test_ordering_is_the_share_of_ordered_pairs() -> None:
    # A fifth of fifteen blocks is three; of the nine pairs (4, 3) does not rise.
    between = [0.0] * 9
    assert ordering(row(1, 2, 2, *between, 9, 3, 5), 0.2)[0] == 1.0
    assert ordering(row(1, 4, 2, *between, 9, 3, 5), 0.2)[0] == pytest.approx(8 / 9)
    assert ordering(row(*[1.0] * 15), 0.2)[0] == 0.5


def test_ordering_compares_three_and_three_blocks_at_least_if_there_are_as_many() -> None:
    # Two and two are in order in one of six cases without any trend.
    assert ordering(row(1, 2, 5, 0, 0, 0, 0, 4, 9, 3), 0.2)[0] == pytest.approx(7 / 9)
    assert ordering(row(1, 2, 3, 4), 0.2)[0] == 1.0
    assert ordering(row(2, 1), 0.2)[0] == 0.0


def test_spearman_is_scipys_on_means_of_three() -> None:
    generator = np.random.default_rng(3)
    first, second = generator.normal(size=(2, 1, 39))
    expected = stats.spearmanr(first.reshape(13, 3).mean(axis=1), second.reshape(13, 3).mean(axis=1)).statistic
    assert spearman(first, second)[0] == pytest.approx(expected)
    tied = np.floor(first * 2)
    expected = stats.spearmanr(tied.reshape(13, 3).mean(axis=1), second.reshape(13, 3).mean(axis=1)).statistic
    assert spearman(tied, second)[0] == pytest.approx(expected)


def test_spearman_of_a_constant_is_undefined() -> None:
    assert np.isnan(spearman(row(*[1.0] * 40), row(*np.arange(40.0)))[0])


@pytest.mark.parametrize("where", [0.25, 0.5, 0.75])
def test_knee_is_where_the_rise_ends(where: float) -> None:
    time = np.linspace(0, 1, 40)
    assert knee(np.minimum(time, where)[None, :])[0] == pytest.approx(where, abs=0.03)


def test_knee_of_a_straight_rise_is_at_the_end() -> None:
    assert knee(np.linspace(0, 1, 40)[None, :])[0] == pytest.approx(1.0)


def test_smoothing_leaves_out_missing_blocks() -> None:
    assert smooth(row(1.0, NAN, 3.0, 5.0))[0] == pytest.approx([1.0, NAN, 4.0, 4.0], nan_ok=True)


@given(arrays(float, (3, 11), elements=st.one_of(st.floats(-5, 5), st.just(NAN))))
@settings(deadline=None)
def test_row_median_is_nanmedian(values: np.ndarray) -> None:
    for ours, one in zip(row_median(values), values, strict=True):
        finite = one[np.isfinite(one)]
        assert np.isnan(ours) if not len(finite) else ours == pytest.approx(np.median(finite))


@given(
    arrays(float, (2, 40), elements=st.one_of(st.floats(-100, 100), st.just(NAN))),
    st.floats(0.5, 20),
    st.floats(-10, 10),
)
@settings(deadline=None, max_examples=50)
def test_ordering_and_knee_do_not_depend_on_scale_and_origin(series: np.ndarray, factor: float, shift: float) -> None:
    # Rounded, so that a shift cannot swallow differences that the test is about.
    series = np.round(series, 3)
    moved = np.round(series * factor, 9) + shift
    assert np.allclose(ordering(series, 0.2), ordering(moved, 0.2), equal_nan=True)


def test_medians_of_what_overflowed_are_those_of_the_other_values() -> None:
    assert row_median(row(np.inf, 1.0, 2.0, np.nan)).tolist() == [2.0]
    assert row_median(row(-np.inf, 1.0, 2.0)).tolist() == [1.0]


def test_means_are_those_of_all_blocks_or_undefined() -> None:
    series = np.array([[1.0, np.nan, 2.0], [1.0, np.inf, 2.0]])
    np.testing.assert_array_equal(whole(series), [[1.0, np.nan, 2.0], [np.nan] * 3])
