from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlchecks.report import format as fmt


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.425, "+0.425"),
        (-0.0101, "-0.010"),
        (0, "0.000"),
        (0.0004, "+0.0004"),
        (-2e-9, "-2e-09"),
        (1234.5, "+1,234"),
        (1e300, "+1e+300"),
        (None, "undefined"),
        (math.nan, "NaN"),
        (-math.inf, "-infinity"),
    ],
)
def test_a_difference_has_a_sign_and_never_rounds_to_zero(value: Any, text: str) -> None:
    assert fmt.signed(value) == text


def test_an_interval_is_written_as_in_the_decision_rule() -> None:
    assert fmt.interval(0.425, 0.383, 0.467) == "+0.425 [+0.383, +0.467]"
    assert fmt.interval(0.1, None, None) == "+0.100, no interval"
    assert fmt.interval(None, None, None) == "undefined"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "50%"),
        (0.795, "79.5%"),
        (0, "0%"),
        (1.0, "100%"),
        (0.99999, ">99.9%"),
        (0.0001, "<0.1%"),
        (-0.0001, ">-0.1%"),
        (12.5, "1,250%"),
        (None, "not measured"),
        (math.nan, "NaN"),
    ],
)
def test_a_percentage_never_rounds_to_none_or_all(value: Any, text: str) -> None:
    assert fmt.percent(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.371, "0.371"),
        (13.466, "13.47"),
        (123.45, "123.5"),
        (2048.4, "2,048"),
        (3.0, "3"),
        (1_000_000, "1,000,000"),
        (10**400, "inf"),
        (1.2e-9, "1.2e-09"),
        (True, "yes"),
        (None, "not measured"),
        (math.inf, "infinity"),
    ],
)
def test_numbers_have_about_three_digits(value: Any, text: str) -> None:
    assert fmt.number(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_sign_of_a_difference_is_that_of_its_text(value: float) -> None:
    assert fmt.signed(value)[0] == ("+" if value > 0 else "-" if value < 0 else "0")


def test_counts_take_the_plural() -> None:
    assert [fmt.count(n, "question") for n in (0, 1, 2000, None)] == [
        "0 questions",
        "1 question",
        "2,000 questions",
        "not measured",
    ]


def test_signals_are_written_in_their_unit() -> None:
    assert fmt.signal("clipped_ratio_late", 0.25) == "25%"
    assert fmt.signal("length_growth", 1.35) == "1.350"
    assert fmt.signal("scale_basis", "\x1b[31munit") == "unit"


def test_any_json_value_has_a_text() -> None:
    value = {"a": [1, None, {"b": True}], "c": "\x1b[2Jx"}
    assert fmt.anything(value) == "a: 1, not measured, b: yes; c: x"
    assert fmt.anything([]) == "none"
    assert fmt.anything([[[[[1]]]]]) == "…"
    assert len(fmt.anything(["x" * 1000] * 1000)) <= 301


def test_times_are_readable_and_other_text_stays() -> None:
    assert fmt.moment("2026-11-30T16:04:12Z") == "30 Nov 2026, 16:04 UTC"
    assert fmt.moment("<b>yesterday</b>") == "<b>yesterday</b>"
    assert fmt.moment(None) == ""
