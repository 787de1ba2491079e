from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlchecks.readers.formulas import formula, values_at
from rlchecks.readers.maps import Series


def series(**values: float) -> Series:
    """Values by row, as ``r3=0.5``."""
    return Series(np.array([int(row[1:]) for row in values]), np.array(list(values.values())))


@pytest.mark.parametrize(
    ("entry", "operands", "value", "text"),
    [
        ({"complement": ["a"]}, [0.25], 0.75, "1 - a"),
        ({"complement_of_percent": ["a"]}, [60.0], 0.4, "1 - a / 100"),
        ({"complement_of_ratio": ["a", "b"]}, [12.0, 16.0], 0.25, "1 - a / b"),
        ({"difference": ["a", "b"]}, [900.0, 120.0], 780.0, "a - b"),
        ({"ratio": ["a", "b"]}, [5.0, 20.0], 0.25, "a / b"),
        ({"sum": ["a", "b"]}, [0.5, 0.25], 0.75, "a + b"),
        ({"times": ["a"], "factor": 1e-4}, [0.01], 1e-6, "a * 0.0001"),
    ],
)
def test_formulas_compute_what_they_say(
    entry: dict[str, object], operands: list[float], value: float, text: str
) -> None:
    one = formula(entry)
    result = one.compute([series(r0=number) for number in operands])
    assert result.rows.tolist() == [0]
    assert result.numbers.tolist() == pytest.approx([value])
    assert one.text(["a", "b"][: len(operands)]) == one.pattern_text() == text


def test_a_value_needs_all_operands_in_its_row() -> None:
    result = formula({"sum": ["a", "b"]}).compute([series(r0=1.0, r2=3.0, r5=4.0), series(r5=10.0, r1=7.0, r2=20.0)])
    assert dict(zip(result.rows.tolist(), result.numbers.tolist(), strict=True)) == {2: 23.0, 5: 14.0}


@pytest.mark.parametrize("name", ["ratio", "complement_of_ratio"])
def test_nothing_is_divided_by_zero(name: str) -> None:
    result = formula({name: ["a", "b"]}).compute([series(r0=0.0, r1=3.0, r2=3.0), series(r0=0.0, r1=0.0, r2=4.0)])
    assert result.rows.tolist() == [2]


def test_a_logged_nan_stays_a_nan_and_infinity_is_no_error() -> None:
    result = formula({"difference": ["a", "b"]}).compute([series(r0=math.nan, r1=math.inf), series(r0=1.0, r1=1.0)])
    assert result.rows.tolist() == [0, 1]
    assert math.isnan(result.numbers[0])
    assert result.numbers[1] == math.inf


def test_a_formula_of_patterns_pairs_the_keys_of_one_part() -> None:
    one = formula({"sum": ["(?P<agent>[^/]+)/none", "(?P<agent>[^/]+)/all"]})
    assert one.choices(["a/none", "b/none", "a/all", "c/all"]) == [("a/none", "a/all")]
    assert one.choices(["a/none", "b/none", "b/all", "a/all"]) == [("a/none", "a/all"), ("b/none", "b/all")]
    assert one.choices(["x/a/none", "x/a/all"]) == []


def test_a_formula_of_keys_takes_them_exactly() -> None:
    one = formula({"times": ["actor/lr(1e-4)"], "factor": 1e-4})
    assert one.choices(["actor/lr(1e-4)"]) == [("actor/lr(1e-4)",)]
    assert one.choices(["actor/lr1e-4", "train/actor/lr(1e-4)"]) == []


@given(st.lists(st.tuples(st.integers(0, 50), st.floats(allow_nan=False)), unique_by=lambda pair: pair[0], min_size=1))
def test_values_are_found_by_their_rows_in_any_order(pairs: list[tuple[int, float]]) -> None:
    known = Series(np.array([row for row, _ in pairs]), np.array([number for _, number in pairs]))
    rows = np.array(sorted(row for row, _ in pairs))
    assert values_at(known, rows).tolist() == [dict(pairs)[row] for row in rows.tolist()]
