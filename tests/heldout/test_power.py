from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlchecks.heldout.plan import questions_needed
from rlchecks.heldout.power import (
    MOST_QUESTIONS,
    power_of,
    power_of_share,
    questions_for_share,
    questions_for_variance,
    variance_of,
    variance_upper,
)


@pytest.mark.parametrize(("effect", "share"), [(0.02, 0.05), (0.05, 0.1), (0.03, 0.2), (0.02, 0.3)])
def test_tangos_interval_asks_for_few_more_questions(effect: float, share: float) -> None:
    least, found = questions_needed(effect, share), questions_for_share(effect, share)
    assert least is not None
    assert found is not None
    assert least <= found <= 1.06 * least
    assert power_of_share(found, effect, share) == pytest.approx(0.8, abs=0.006)


@given(st.floats(0.005, 0.3), st.floats(0.0005, 0.3))
def test_the_smallest_number_with_the_power_is_found(effect: float, variance: float) -> None:
    found = questions_for_variance(effect, variance)
    if found is not None and found < 20_000:
        assert found >= 7.8488 * variance / effect**2
        assert power_of(found, effect, variance) >= 0.795
        assert found == 100 or power_of(found - 1, effect, variance) < 0.801


def test_scores_that_hardly_differ_ask_for_enough_questions_to_see_a_rare_loss() -> None:
    # By the variance alone 8; but of fewer than about 3.7 / .02 questions none need have lost everything.
    found = questions_for_variance(0.02, 0.02**2)
    assert found is not None
    assert 3.69 / 0.02 < found < 250


def test_more_repeats_never_take_the_variance_below_that_between_questions() -> None:
    variances = [variance_of(0.01, 0.05, 0.07, repeats) for repeats in (1, 2, 4, 1_000_000)]
    assert variances == sorted(variances, reverse=True)
    assert variances[0] == pytest.approx(0.13)
    assert variances[-1] == pytest.approx(0.01, abs=1e-6)


def test_no_effect_or_too_small_a_one_has_no_plan() -> None:
    assert questions_for_variance(0.0, 0.1) is None
    assert questions_for_variance(-0.1, 0.1) is None
    assert questions_for_variance(1e-4, 0.1) is None
    assert questions_for_share(0.0, 0.1) is None
    assert 7.8489 * 0.1 / 1e-4**2 - MOST_QUESTIONS > 0


@pytest.mark.parametrize("variance", [0.0, -1.0, float("nan")])
def test_a_variance_of_zero_is_refused(variance: float) -> None:
    with pytest.raises(ValueError, match="variance"):
        questions_for_variance(0.02, variance)


def test_the_upper_limit_of_a_variance_is_the_textbooks() -> None:
    # chi-squared with 19 degrees of freedom has its .025 quantile at 8.907 (Fisher 1925, table III).
    assert variance_upper(1.0, 20) == pytest.approx(19 / 8.907, abs=5e-4)
