"""McNemar's test against published tables and the definition."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rlchecks.heldout.mcnemar import mcnemar


@pytest.mark.parametrize(
    ("b", "c", "exact", "mid_p", "asymptotic", "corrected"),
    [
        # Airway data, Fagerland, Lydersen and Laake 2013: b = 1, c = 7.
        (1, 7, 0.070313, 0.039063, 0.033895, 0.077100),
        # One against nine.
        (1, 9, 0.0214844, 0.0117187, None, None),
        # Approval of a prime minister, Agresti: 86 and 150 of 1600.
        (86, 150, None, None, 3.099e-05, 4.115e-05),
        # statsmodels' own tests, checked there against R.
        (121, 59, None, None, None, 5.4501e-06),
        (80, 59, None, None, None, 0.0898143),
    ],
)
def test_published_p_values(
    b: int, c: int, exact: float | None, mid_p: float | None, asymptotic: float | None, corrected: float | None
) -> None:
    found = mcnemar(b, c)
    assert found is not None
    for ours, published in zip(found, (exact, mid_p, asymptotic, corrected), strict=True):
        if published is not None:
            assert ours == pytest.approx(published, rel=5e-4, abs=1e-6)


def test_no_question_that_differs_is_no_test() -> None:
    assert mcnemar(0, 0) is None


def test_negative_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="not negative"):
        mcnemar(-1, 2)


@given(st.integers(0, 300), st.integers(0, 300))
def test_exact_is_the_binomial_test_and_sides_do_not_matter(b: int, c: int) -> None:
    found = mcnemar(b, c)
    if b + c == 0:
        assert found is None
        return
    assert found is not None
    assert found.exact == pytest.approx(stats.binomtest(b, b + c).pvalue)
    assert found == pytest.approx(mcnemar(c, b))
    assert 0 <= found.mid_p <= found.exact <= 1
