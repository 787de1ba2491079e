"""Lower limits by empirical likelihood with a floor, against its definition and against losses nobody saw."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import stdtrit

from rlchecks.heldout.bounded import bounded_lower
from rlchecks.heldout.limits import paired_limits


@pytest.mark.parametrize(
    ("n", "confidence", "exact"),
    # Clopper and Pearson 1934, none seen of n: 1 - (alpha / 2)^(1 / n); 0 of 30 at one-sided 95 %: .0950.
    [(30, 0.90, 0.0950), (30, 0.95, 0.1157), (100, 0.95, 0.0362), (2000, 0.95, 0.00184)],
)
def test_equal_gains_have_the_exact_limit_of_a_loss_that_was_not_seen(n: int, confidence: float, exact: float) -> None:
    values = np.full((1, n), 0.0)
    values[0, 0] = 1e-9  # a row must not be constant
    assert bounded_lower(values, -1.0, confidence, n - 1.0)[0] == pytest.approx(-exact, abs=5e-5)


def empirical_likelihood(values: np.ndarray, mean: float) -> float:
    """Owen 1988: twice the logarithm of the likelihood ratio, by its own Lagrange equation."""
    z = values - mean
    low, high = -1.0 / z.max() + 1e-9, -1.0 / z.min() - 1e-9
    multiplier = brentq(lambda found: float((z / (1.0 + found * z)).sum()), low, high)
    return 2.0 * float(np.log1p(multiplier * z).sum())


@given(st.integers(30, 200), st.integers(0, 1000), st.floats(0.3, 0.4))
def test_far_from_the_floor_it_is_owens_interval_with_students_quantile(n: int, seed: int, spread: float) -> None:
    values = np.random.default_rng(seed).normal(0.0, spread, n).clip(-1, 1)
    found = float(bounded_lower(values[None, :], -5.0, 0.95, n - 1.0)[0])
    # A floor so far away binds only where a spread is small against it.
    inside = float(bounded_lower(values[None, :], values.min(), 0.95, n - 1.0)[0])
    assert empirical_likelihood(values, inside) == pytest.approx(float(stdtrit(n - 1, 0.975)) ** 2, rel=1e-5)
    assert found <= inside + 1e-9


@given(st.lists(st.sampled_from([-1.0, -0.7, -0.1, 0.0, 0.03, 0.2, 1.0]), min_size=2, max_size=60))
def test_limits_lie_between_the_floor_and_the_mean_and_rows_do_not_matter(values: list[float]) -> None:
    row = np.array(values)
    if np.ptp(row) == 0:
        row[0] -= 0.01
    found = bounded_lower(np.stack([row, row[::-1], np.arange(len(row)) / 100]), -1.01, 0.95, len(row) - 1.0)
    assert -1.01 <= found[0] < row.mean()
    assert found[0] == pytest.approx(found[1], abs=1e-6)
    assert found[0] == pytest.approx(bounded_lower(row[None, :], -1.01, 0.95, len(row) - 1.0)[0], abs=1e-6)


def test_a_higher_confidence_is_a_lower_limit() -> None:
    values = np.random.default_rng(0).normal(0.0, 0.1, (1, 150))
    limits = [float(bounded_lower(values, -1.0, level, 149.0)[0]) for level in (0.8, 0.9, 0.95, 0.99, 0.999)]
    assert limits == sorted(limits, reverse=True)


@pytest.mark.parametrize("noise", [0.0, 0.02, 0.05, 0.1])
def test_a_rare_regression_hidden_by_small_gains_is_seldom_passed(noise: float) -> None:
    """2 % lose .70, half of the others gain .03, 100 questions: t alone passes it at the margin in .14."""
    rng = np.random.default_rng(7)
    shape = (3000, 100)
    u = rng.random(shape)
    gain = np.where(u < 0.02, -0.7, np.where(u < 0.51, 0.03, 0.0))
    differences = gain + np.clip(noise * rng.standard_normal(shape), -0.3, 0.3)
    truth = -0.02 * 0.7 + 0.49 * 0.03
    found = paired_limits(differences)
    assert np.mean(found.lower > truth) <= 0.03
    assert np.mean((found.lower <= truth) & (found.upper >= truth)) >= 0.94


def test_a_plain_spread_keeps_the_power_of_t() -> None:
    rng = np.random.default_rng(8)
    differences = rng.normal(0.04, 0.2, (3000, 200))
    half = stdtrit(199, 0.975) * differences.std(axis=1, ddof=1) / 200**0.5
    alone = np.mean(differences.mean(axis=1) - half > 0)
    assert 0.75 < alone < 0.85
    assert alone - np.mean(paired_limits(differences).lower > 0) <= 0.01
