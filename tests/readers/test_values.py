from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlchecks.readers.values import to_count, to_number, to_numbers, to_text

NUMBERS = st.none() | st.floats() | st.integers(-(2**53), 2**53)


@settings(deadline=None)
@given(st.lists(NUMBERS))
def test_numbers_stay_what_they_are(values: list[float | int | None]) -> None:
    found = to_numbers(values)
    assert found.present.tolist() == [value is not None for value in values]
    assert not found.texts
    assert found.quoted == 0
    for number, value in zip(found.numbers, values, strict=True):
        assert np.array_equal([number], [math.nan if value is None else value], equal_nan=True)


@settings(deadline=None)
@given(st.lists(st.none() | st.floats()))
def test_quoted_numbers_are_the_same_numbers_and_counted(values: list[float | None]) -> None:
    quoted = to_numbers([None if value is None else repr(value) for value in values])
    plain = to_numbers(values)
    assert np.array_equal(quoted.numbers, plain.numbers, equal_nan=True)
    assert quoted.present.tolist() == plain.present.tolist()
    assert quoted.quoted == sum(value is not None for value in values)


# One odd value takes a column off the fast way; both ways must agree.
@settings(deadline=None)
@given(st.lists(st.one_of(st.floats(), st.sampled_from(["1.5", " 2 ", "+3", "1e-5", "NaN", "-Infinity", "x"]))))
def test_the_fast_and_the_slow_way_agree(values: list[Any]) -> None:
    alone = to_numbers(values)
    mixed = to_numbers([*values, True])
    assert np.array_equal(alone.numbers, mixed.numbers[:-1], equal_nan=True)
    assert alone.present.tolist() == mixed.present[:-1].tolist()
    assert [*alone.texts, (len(values), "true")] == mixed.texts


@pytest.mark.parametrize("text", ["1_000", "0x10", "١", "1,5", "12 tokens", "", "1e", ".", "--1", "np.float64(1)"])
def test_what_no_framework_writes_as_a_number_is_text(text: str) -> None:
    assert to_number(text) is None
    assert to_numbers([text]).texts == [(0, text)]
    assert not to_numbers([text]).present[0]


def test_truth_values_lists_and_objects_are_text() -> None:
    found = to_numbers([True, [1, {"a": math.nan}], {"ü": None}, 1.0, 10**400])
    assert found.texts == [(0, "true"), (1, '[1, {"a": NaN}]'), (2, '{"ü": null}'), (4, str(10**400))]
    assert found.present.tolist() == [False, False, False, True, False]


def test_large_integers_are_rounded_to_doubles() -> None:
    assert to_numbers([2**60 + 1, 3]).numbers.tolist() == [2.0**60, 3.0]


def test_decimals_are_numbers() -> None:
    assert to_number(Decimal("0.5")) == 0.5


def test_lone_surrogates_are_written_out() -> None:
    assert to_text("\ud800") == r"\ud800"
    assert to_numbers(["\ud800"]).texts == [(0, r"\ud800")]


@pytest.mark.parametrize(
    ("value", "count"),
    [
        *[(5, 5), (5.0, 5), ("5", 5), ("5.0", 5), (0, 0), (10, 10)],
        *[(11, None), (-1, None), (0.5, None), (True, None), (None, None), ("x", None)],
        *[(math.nan, None), (math.inf, None), (10**400, None), ([5], None)],
    ],
)
def test_counts_are_whole_numbers_within_limits(value: object, count: int | None) -> None:
    assert to_count(value, 10) == count


def test_a_long_row_of_digits_takes_no_time() -> None:
    for text in ("1" * 300_000 + "x", "1" * 300_000, "1" * 1_990 + "x"):
        assert to_number(text) is None
    assert to_number("0." + "0" * 300 + "1") == 1e-301
