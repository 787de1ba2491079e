"""A float32 becomes the short decimal that was meant, and else stays exactly what it is."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlchecks.readers.tensorboard_decimals import DIGITS, to_decimals


def one(number: float) -> float:
    return float(to_decimals(np.array([number], dtype=np.float32))[0])


@pytest.mark.parametrize("number", [0.1, -0.1, 1e-4, 5e-6, 0.3875, 0.0002, 1e18, 0.04, 1e-18, 9999.0, 0.9999])
def test_short_decimals_come_back(number: float) -> None:
    assert one(number) == number


@pytest.mark.parametrize("number", [0.5416666865348816, 1 / 3, 0.38123, 123456.78, 16777216.0, 1e-30, 3.4e38])
def test_other_values_stay_as_they_are(number: float) -> None:
    assert one(number) == float(np.float32(number))


@pytest.mark.parametrize("number", [0.0, -0.0, math.inf, -math.inf, math.nan, 1e-45, 1.1754944e-38])
def test_special_values_stay(number: float) -> None:
    assert repr(one(number)) == repr(float(np.float32(number)))


@given(st.floats(width=32))
@settings(max_examples=500)
def test_the_float32_never_changes_and_no_decimal_is_longer_than_it_may(number: float) -> None:
    found = one(number)
    assert np.array_equal(np.float32(found), np.float32(number), equal_nan=True)
    if found != float(np.float32(number)) and not math.isnan(found):
        assert len(Decimal(repr(found)).normalize().as_tuple().digits) <= DIGITS


@given(st.integers(-9999, 9999), st.integers(-15, 15))
def test_every_short_decimal_of_usual_size_comes_back(digits: int, exponent: int) -> None:
    number = float(f"{digits}e{exponent}")
    assert one(number) == number
