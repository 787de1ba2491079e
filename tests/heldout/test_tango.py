from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import ndtri

from rlchecks.heldout.intervals import paired_interval
from rlchecks.heldout.limits import paired_limits
from rlchecks.heldout.tango import tango_limits

Z = float(ndtri(0.975))


@pytest.mark.parametrize(
    ("b", "c", "n", "lower", "upper"),
    [
        # Fagerland, Lydersen, Laake 2013, airway data: Tango -.517 to -.026.
        (1, 7, 21, -0.5172, -0.0260),
        # The example of PropCIs::scoreci.mp.
        (40, 20, 160, 0.0309, 0.2181),
        # Agresti's approval ratings, [[794, 86], [150, 570]].
        (150, 86, 1600, 0.0214, 0.0590),
        # No discordant question at all is not certainty: z^2 / (n + z^2).
        (0, 0, 10, -0.2775, 0.2775),
        (0, 0, 164, -0.0229, 0.0229),
        (0, 0, 300, -0.0126, 0.0126),
        (12, 16, 164, -0.0908, 0.0407),
        (40, 50, 1000, -0.0290, 0.0088),
    ],
)
def test_published_limits(b: int, c: int, n: int, lower: float, upper: float) -> None:
    found = tango_limits(b, c, n)
    assert found[0] == pytest.approx(lower, abs=5.1e-5)
    assert found[1] == pytest.approx(upper, abs=5.1e-5)


def test_everything_in_favour_ends_at_one() -> None:
    lower, upper = tango_limits(10, 0, 10)
    # With b = n the score equation reduces to n (1 - d) = z^2 (1 + d).
    assert lower == pytest.approx((10 - Z**2) / (10 + Z**2))
    assert upper == 1.0


counts = st.tuples(st.floats(0, 1), st.floats(0, 1), st.integers(1, 400)).map(
    lambda drawn: (drawn[0] * drawn[2], drawn[1] * (1 - drawn[0]) * drawn[2], drawn[2])
)


@given(counts)
def test_limits_enclose_the_estimate_and_mirror(case: tuple[float, float, int]) -> None:
    b, c, n = case
    lower, upper = tango_limits(b, c, n)
    assert -1.0 <= lower <= (b - c) / n <= upper <= 1.0
    mirrored = tango_limits(c, b, n)
    assert mirrored[0] == pytest.approx(-upper, abs=1e-9)
    assert mirrored[1] == pytest.approx(-lower, abs=1e-9)


@given(counts)
def test_limits_are_where_the_score_is_z(case: tuple[float, float, int]) -> None:
    b, c, n = case
    for limit in map(float, tango_limits(b, c, n)):
        if abs(limit) < 1 - 1e-9:
            # The definition: q is the likelihood's maximum under d, here by its own quadratic equation.
            roots = np.roots([2 * n, -b - c + (2 * n - b + c) * limit, -c * limit * (1 - limit)])
            q = max(roots.real)
            score = abs(b - c - n * limit)
            assert score == pytest.approx(Z * np.sqrt(max(n * (2 * q + limit * (1 - limit)), 0.0)), rel=1e-4, abs=1e-4)


def test_arrays_give_what_scalars_give() -> None:
    b, c, n = np.array([1.0, 40.0, 0.0]), np.array([7.0, 20.0, 0.0]), np.array([21.0, 160.0, 10.0])
    lower, upper = tango_limits(b, c, n)
    for index in range(3):
        one = tango_limits(b[index], c[index], n[index])
        assert (lower[index], upper[index]) == (one[0], one[1])


def base_rates(kind: str, rng: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.float64]:
    if kind == "solved":
        return np.ones(shape)
    return rng.beta(*{"mostly solved": (5.0, 0.2), "spread": (2.0, 0.3)}[kind], shape)


@pytest.mark.parametrize("n", [20, 50, 100, 200])
@pytest.mark.parametrize("kind", ["solved", "mostly solved", "spread"])
def test_rare_regressions_are_covered(kind: str, n: int) -> None:
    """2 % of the questions fall by .70; four repeats a side. The t interval alone covers .33 to .95 of them."""
    draws, repeats, share, fall = 10_000, 4, 0.02, 0.70
    rng = np.random.default_rng([n, len(kind)])
    before = base_rates(kind, rng, (draws, n))
    falls = rng.random((draws, n)) < share
    before = np.where(falls, np.maximum(before, fall), before)
    after = np.where(falls, before - fall, before)
    difference = (rng.binomial(repeats, after) - rng.binomial(repeats, before)) / repeats
    lower, upper = paired_limits(difference, averaged_binary=True)[1:3]
    for draw in range(20):
        one = paired_interval(difference[draw], averaged_binary=True)
        assert (one.lower, one.upper) == (pytest.approx(lower[draw]), pytest.approx(upper[draw]))
    truth = -share * fall
    assert ((lower <= truth) & (truth <= upper)).mean() >= 0.94
