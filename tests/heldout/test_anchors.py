"""Published numbers on paired comparisons that no other test of a single function holds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from rlchecks.heldout.holm import looks_divisor
from rlchecks.heldout.intervals import paired_t, tango
from rlchecks.heldout.mcnemar import mcnemar
from rlchecks.heldout.plan import (
    differing_share_upper,
    minimum_detectable,
    questions_needed,
)
from rlchecks.heldout.power import questions_for_variance, variance_of
from tests.heldout.test_intervals import MAIZE, SLEEP


@pytest.mark.parametrize("margin", [0.01, 0.02, 0.03, 0.05])
def test_questions_at_one_sided_five_percent(margin: float) -> None:
    # 6.1826 p_d / m^2 with (1.644854 + .841621)^2 = 6.1826, for shares of .05, .10, .20 and .30.
    published = {
        0.01: (3092, 6183, 12366, 18548),
        0.02: (773, 1546, 3092, 4637),
        0.03: (344, 687, 1374, 2061),
        0.05: (124, 248, 495, 742),
    }
    for share, needed in zip((0.05, 0.1, 0.2, 0.3), published[margin], strict=True):
        assert questions_needed(margin, share, confidence=0.9, minimum=1) == needed


@pytest.mark.parametrize(("repeats", "needed"), [(1, 3876), (2, 2423), (4, 1696), (10, 1260)])
def test_millers_questions_by_repeats(repeats: int, needed: int) -> None:
    # Miller 2024, arXiv 2411.00640, power: delta .03, omega^2 = 1/9, sigma^2 = 1/6 on each side.
    variance = variance_of(1 / 9, 1 / 6, 1 / 6, repeats)
    assert questions_for_variance(0.03, variance) == pytest.approx(needed, abs=1)


@pytest.mark.parametrize(("repeats", "detectable"), [(1, 0.1327), (10, 0.0757)])
def test_millers_detectable_difference_of_198_questions(repeats: int, detectable: float) -> None:
    found = minimum_detectable(198, variance_of(1 / 9, 1 / 6, 1 / 6, repeats))
    assert found == pytest.approx(detectable, abs=5e-5)


def test_pairing_is_what_finds_the_difference_in_the_sleep_data() -> None:
    # R's documentation of t.test: unpaired Welch p = .07939, paired p = .002833; exact sign flips .00390625.
    first, second = (
        np.array([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]),
        np.array([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]),
    )
    assert stats.ttest_ind(first, second, equal_var=False).pvalue == pytest.approx(0.07939, abs=5e-6)
    assert stats.ttest_rel(first, second).pvalue == pytest.approx(0.002833, abs=5e-7)
    assert sign_flips(SLEEP) == 0.00390625
    upper = paired_t(first - second).upper
    assert upper is not None
    assert upper < 0


def test_fishers_exact_sign_flips_of_darwins_maize() -> None:
    # Fisher 1935, The Design of Experiments, section 21: 1726 of 32768.
    assert sign_flips(MAIZE) == 1726 / 32768


def sign_flips(differences: np.ndarray) -> float:
    """Two-sided p-value over all signs of the differences that are not zero."""
    whole = np.round(differences[differences != 0] * 10).astype(int)
    sums = np.zeros(1, dtype=int)
    for size in np.abs(whole):
        sums = np.r_[sums + size, sums - size]
    return float(np.mean(np.abs(sums) >= abs(whole.sum())))


@pytest.mark.parametrize(
    ("b", "c", "plain", "corrected"),
    # Agresti's approval ratings; statsmodels' own tests, checked there against R's mcnemar.test.
    [(86, 150, 17.3559, 16.8178), (121, 59, None, 20.67222), (80, 59, None, 2.877698)],
)
def test_mcnemars_statistics(b: int, c: int, plain: float | None, corrected: float) -> None:
    found = mcnemar(b, c)
    assert found is not None
    assert stats.chi2.isf(found.corrected, 1) == pytest.approx(corrected, rel=5e-6)
    if plain is not None:
        assert stats.chi2.isf(found.asymptotic, 1) == pytest.approx(plain, rel=5e-6)


def test_agrestis_wald_interval_is_what_t_gives_on_the_same_people() -> None:
    # Agresti, Categorical Data Analysis, approval ratings: difference .04, SE .009549, (.0213, .0587).
    differences = np.repeat([1.0, -1.0, 0.0], [150, 86, 1364])
    found = paired_t(differences)
    assert found.estimate == pytest.approx(0.04)
    assert differences.std() / 40 == pytest.approx(0.009549, abs=5e-7)
    assert (found.lower, found.upper) == (pytest.approx(0.0213, abs=5.1e-5), pytest.approx(0.0587, abs=5.1e-5))


def test_forty_against_fifty_of_a_thousand_excludes_three_points_and_not_two() -> None:
    lower = tango(40, 50, 1000).lower
    assert lower is not None
    assert -0.03 < lower < -0.02


@pytest.mark.parametrize(
    ("x", "n", "lower"),
    # Newcombe 1998, Statistics in Medicine 17:857, Wilson's lower limits, here of the complement.
    [(81, 263, 0.2553), (15, 148, 0.0624), (0, 20, 0.0), (1, 29, 0.0061)],
)
def test_wilsons_lower_limits(x: int, n: int, lower: float) -> None:
    assert 1.0 - differing_share_upper(n - x, n) == pytest.approx(lower, abs=5e-5)


def test_questions_of_one_cluster_are_not_independent() -> None:
    # Without clusters .1507557 (Miller 2024, appendix A, on the data of the test of four equal clusters).
    values = np.array([1, 1, 1, 0, 0, 0, 1, 1, 0, 1, 0, 0.0])
    assert values.std(ddof=1) / 12**0.5 == pytest.approx(0.1507557, abs=5e-8)


@pytest.mark.parametrize(("k", "any_passes"), [(5, 0.2262), (10, 0.4013), (20, 0.6415)])
def test_of_many_looks_without_correction_one_passes_and_with_it_seldom(k: int, any_passes: float) -> None:
    # 1 - .95^k for independent looks at 5 %.
    assert 1.0 - 0.95**k == pytest.approx(any_passes, abs=5e-5)
    one_by_one = 1.0 - np.prod([1.0 - 0.025 / looks_divisor(look) for look in range(1, k + 1)])
    at_once = 1.0 - (1.0 - 0.025 / looks_divisor(k, k)) ** k
    assert at_once < 0.025 < one_by_one < 0.05


@pytest.mark.parametrize(("look", "divisor"), [(1, 1), (2, 3), (3, 6), (20, 210)])
def test_later_looks_have_less_of_alpha(look: int, divisor: int) -> None:
    assert looks_divisor(look) == divisor
    assert looks_divisor(look, look) == max(look, 1)


@pytest.mark.parametrize("earlier", [0, 1, 4])
@pytest.mark.parametrize("together", [1, 3, 20])
def test_all_looks_spend_at_most_twice_alpha(earlier: int, together: int) -> None:
    before = sum(1.0 / looks_divisor(look) for look in range(1, earlier + 1))
    at_once = together / looks_divisor(earlier + together, together)
    after = sum(1.0 / looks_divisor(look) for look in range(earlier + together + 1, 5000))
    assert before + at_once + after <= 2.0
