from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri

from rlchecks.heldout.holm import UpperLimit, holm_uppers

# Benjamini and Hochberg 1995, section 4: 15 p-values; Holm rejects 3 of them at .05.
BH1995 = [
    0.0001,
    0.0004,
    0.0019,
    0.0095,
    0.0201,
    0.0278,
    0.0298,
    0.0344,
    0.0459,
    0.3240,
    0.4262,
    0.5719,
    0.6528,
    0.7590,
    1,
]


def normal(estimate: float) -> UpperLimit:
    return lambda level: float(estimate + ndtri((1 + level) / 2))


def holm_rejects(p: list[float], alpha: float) -> list[bool]:
    """Holm 1979, from the definition."""
    rejected = [False] * len(p)
    for step, index in enumerate(np.argsort(p)):
        if p[index] > alpha / (len(p) - step):
            break
        rejected[index] = True
    return rejected


def test_published_p_values_reject_three() -> None:
    # A one-sided test at .05 is a two-sided level of .90.
    uppers = holm_uppers([normal(ndtri(p)) for p in BH1995[:-1]] + [lambda _: 9.0], 0.90)
    assert [upper is not None and upper < 0 for upper in uppers] == [True] * 3 + [False] * 12


def test_one_difference_needs_no_adjustment() -> None:
    assert holm_uppers([normal(-2.0)], 0.95) == [normal(-2.0)(0.95)]


def test_undefined_limits_stay_undefined_and_do_not_count() -> None:
    assert holm_uppers([lambda _: None, normal(-2.0)], 0.95) == [None, normal(-2.0)(0.95)]
    assert holm_uppers([], 0.95) == []


@given(st.lists(st.floats(-6, 2), min_size=1, max_size=6), st.floats(-3, 1))
def test_limits_below_any_threshold_are_holms_rejections(estimates: list[float], threshold: float) -> None:
    uppers = holm_uppers([normal(estimate) for estimate in estimates], 0.95)
    p = [float(ndtr(estimate - threshold)) for estimate in estimates]
    assert [upper is not None and upper <= threshold for upper in uppers] == holm_rejects(p, 0.025)


def test_after_the_first_limit_that_is_high_enough_the_others_are_none() -> None:
    uppers = [lambda level, base=base: base + level for base in (-2.0, -0.9, 5.0)]
    adjusted = holm_uppers(uppers, 0.95, until=0.0)
    assert [limit is None for limit in adjusted] == [False, False, True]
    assert adjusted[:2] == holm_uppers(uppers, 0.95)[:2]


def test_others_count_at_every_step() -> None:
    assert holm_uppers([lambda level: level], 0.95, others=4) == [pytest.approx(0.99)]
