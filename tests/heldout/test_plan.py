from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlchecks.heldout.plan import differing_share_upper, minimum_detectable, questions_needed


@pytest.mark.parametrize(
    ("margin", "share", "needed"),
    # 7.8489 p_d / m^2 with (1.959964 + .841621)^2 = 7.848880.
    [(0.02, 0.05, 982), (0.02, 0.30, 5887), (0.05, 0.20, 628), (0.30, 0.50, 100), (1.0, 1.0, 100)],
)
def test_the_published_formula_and_the_minimum(margin: float, share: float, needed: int) -> None:
    assert questions_needed(margin, share) == needed


def test_millers_example() -> None:
    # Miller 2024: detecting .03 with variance 1/9 needs 969 questions.
    assert questions_needed(0.03, 1 / 9) == 969


@pytest.mark.parametrize("effect", [0.0, -0.1, 1e-12])
def test_no_number_of_questions_confirms_nothing(effect: float) -> None:
    assert questions_needed(effect, 0.5) is None


@pytest.mark.parametrize("share", [0.0, -0.1, 1.1, float("nan")])
def test_a_share_of_zero_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="share of differing"):
        questions_needed(0.02, share)


@pytest.mark.parametrize(
    ("differing", "n", "upper"),
    # Newcombe 1998, Wilson's interval: 81/263, 15/148, 0/20, 1/29.
    [(81, 263, 0.3662), (15, 148, 0.1605), (0, 20, 0.1611), (1, 29, 0.1718), (0, 0, 1.0), (9, 9, 1.0)],
)
def test_the_share_that_differs_has_wilsons_upper_limit(differing: int, n: int, upper: float) -> None:
    assert differing_share_upper(differing, n) == pytest.approx(upper, abs=5e-5)


@given(st.integers(100, 100_000), st.floats(0.01, 1.0))
def test_the_detectable_difference_needs_just_these_questions(n: int, share: float) -> None:
    effect = minimum_detectable(n, share)
    assert effect is not None
    needed = questions_needed(effect, share)
    assert needed is not None
    assert abs(needed - n) <= 1


def test_nothing_is_detectable_without_questions() -> None:
    assert minimum_detectable(0, 0.5) is None
