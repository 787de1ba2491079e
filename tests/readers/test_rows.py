from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlchecks.errors import InputError
from rlchecks.readers import budget
from rlchecks.readers import rows as rows_module
from rlchecks.readers.rows import Rows

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.floats(),
    st.integers(-(2**70), 2**70),
    st.text(st.characters(codec=None), max_size=3),
    st.floats().map(repr),
    st.sampled_from(["1", "-0", "3.0", "007", "1e5", " 2", "+3", "nan", "NaN", "inf", "0.1", "12345678901234567890"]),
    st.lists(st.floats(), max_size=2),
    st.dictionaries(st.text(max_size=1), st.integers(), max_size=2),
)
KEYS = st.sampled_from(["step", "reward", "kl", "note", "\ud800"])
ROWS = st.lists(st.dictionaries(KEYS, VALUES), max_size=12)


def exactly(rows: Iterable[Any]) -> list[str]:
    """Write rows so that types, NaN, and the order of keys count."""
    return [repr(dict(row)) for row in rows]


@settings(deadline=None)
@given(rows=ROWS, waiting=st.integers(1, 20), small=st.sampled_from([0, 64]))
def test_rows_are_given_back_as_they_were_appended(rows: list[dict[str, Any]], waiting: int, small: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows_module, "_WAITING", waiting)
        patch.setattr(rows_module, "_SMALL", small)
        patch.setattr(rows_module, "_BLOCK", 5)
        kept = Rows()
        for row in rows:
            kept.append(row)
        assert len(kept) == len(rows)
        assert exactly(kept) == exactly(rows)
        assert exactly(kept[index] for index in range(len(rows))) == exactly(rows)
        assert exactly(kept[index] for index in range(-len(rows), 0)) == exactly(rows)


@settings(deadline=None)
@given(rows=ROWS)
def test_keys_shapes_and_presence_tell_what_the_rows_have(rows: list[dict[str, Any]]) -> None:
    kept = Rows.of(rows)
    assert list(kept.keys) == list(dict.fromkeys(key for row in rows for key in row))
    assert [kept.shapes[shape] for shape in kept.shape_of] == [tuple(row) for row in rows]
    for key in kept.keys:
        assert kept.present(key).tolist() == [at for at, row in enumerate(rows) if row.get(key) is not None]
    assert kept.present("absent").tolist() == []


@settings(deadline=None)
@given(parts=st.lists(ROWS, max_size=4))
def test_rows_by_row_and_by_column_stand_in_their_order(parts: list[list[dict[str, Any]]]) -> None:
    kept, expected = Rows(), []
    for part in parts:
        for row in part:
            kept.append(row)
        kept.extend(["a", "b"], [[1, None, "x"], [0.5, math.nan, 2]])
        expected += [*part, {"a": 1, "b": 0.5}, {"a": None, "b": math.nan}, {"a": "x", "b": 2}]
    assert exactly(kept) == exactly(expected)


def test_columns_of_arrays_are_taken_as_they_are() -> None:
    kept = Rows()
    arrays = [
        pa.array([1.5, None, math.nan]),
        pa.array([1, None, 2**62], pa.int64()),
        pa.array(["x", None, ""]),
        pa.array([True, None, False]),
        pa.array([[1], None, []]),
        pa.array([1, None, 2], pa.uint8()),
        pa.array([None, None, None]),
        np.array([1.0, 2.0, 3.0]),
    ]
    names = "abcdefgh"
    kept.extend(names, arrays)
    rows = [dict(zip(names, values, strict=True)) for values in zip(*(array.tolist() for array in arrays), strict=True)]
    assert exactly(kept) == exactly(rows)


def test_rows_that_are_compact_stay_what_they_are() -> None:
    kept = Rows.of([{"a": 1}])
    assert Rows.of(kept) is kept


def test_a_row_that_is_not_there_is_an_index_error() -> None:
    with pytest.raises(IndexError):
        Rows.of([{"a": 1}])[1]


def test_a_number_takes_eight_bytes_and_its_row_four() -> None:
    rows = Rows.of([{"step": step, "reward": step / 7, "kl": step / 3} for step in range(60_000)])
    cells = [part for key in rows.keys for part in rows.column(key)]
    assert sum(part.values.nbytes for part in cells) == 60_000 * 3 * 8
    assert len({id(part.at) for part in cells}) == 1
    assert cells[0].at.nbytes == 60_000 * 4


def test_a_number_that_was_logged_as_text_takes_no_more() -> None:
    rows = Rows.of([{"reward": repr(at / 7)} for at in range(1, 60_001)])
    assert sum(part.values.nbytes for part in rows.column("reward")) < 60_000 * 9
    assert list(rows)[6] == {"reward": "1.0"}


def test_rows_of_two_shapes_share_what_says_where_they_are() -> None:
    rows = Rows.of([{"a": 0.5, "b": 0.5, **({"c": 1.0} if at % 3 else {})} for at in range(300_000)])
    assert len({id(part.at) for key in "ab" for part in rows.column(key)}) == 1


@pytest.mark.parametrize(
    ("limit", "rows", "problem"),
    [
        ("MAX_VALUES", [{"a": 1}] * 5, "11 values, more than the 9 that are read"),
        ("MAX_TEXT", [{"a": "x" * 100}], "bytes of texts, more than the 9 that are read"),
        ("MAX_TEXT", [{"a": [["x" * 100], {"y": 1}]}], "bytes of texts, more than the 9 that are read"),
        ("MAX_TEXT", [{"x" * 100: None}], "bytes of texts, more than the 9 that are read"),
        ("MAX_KEYS", [{str(key): 1 for key in range(10)}], "10 different keys, more than the 9 of any log"),
    ],
)
def test_what_does_not_fit_into_memory_is_refused(
    limit: str, rows: list[dict[str, Any]], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Rows.of(rows, Path("some/log"))
    monkeypatch.setattr(budget, limit, 9)
    with pytest.raises(InputError, match=f"^some/log: .*{problem}"):
        kept.pack()


def test_rows_of_counters_alone_and_of_nothing_are_counted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MAX_VALUES", 9)
    kept = Rows.of([{}] * 10)
    with pytest.raises(InputError, match="10 values, more"):
        kept.pack()


def naive(steps: list[int], names: list[str], values: list[tuple[int, int, float]]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [{"n": step} for step in steps]
    for at, key, value in values:
        rows[at][names[key]] = value
    return rows


@settings(deadline=None)
@given(
    cells=st.dictionaries(st.tuples(st.integers(0, 7), st.integers(0, 3)), st.floats(), max_size=24),
    steps=st.lists(st.integers(0, 10**12), min_size=8, max_size=8),
    dice=st.randoms(use_true_random=False),
)
def test_single_values_become_the_rows_that_they_are_values_of(
    cells: dict[tuple[int, int], float], steps: list[int], dice: Any
) -> None:
    values = [(at, key, value) for (at, key), value in cells.items()]
    dice.shuffle(values)
    names = ["a", "b", "c", "never"]
    at, key = (np.array([value[part] for value in values], dtype=np.int64) for part in (0, 1))
    numbers = np.array([value for _, _, value in values], dtype=np.float64)
    kept = Rows.of_values("n", np.array(steps, dtype=np.int64), names, at, key, numbers)
    assert [repr(sorted(row.items())) for row in kept] == [
        repr(sorted(row.items())) for row in naive(steps, names, values)
    ]
    assert [set(kept.shapes[shape]) for shape in kept.shape_of] == [set(row) for row in naive(steps, names, values)]


@pytest.mark.parametrize("steps", [[], [3, 7]])
def test_no_values_at_all_leave_the_steps(steps: list[int]) -> None:
    nothing = np.empty(0, dtype=np.int64)
    kept = Rows.of_values("n", np.array(steps, dtype=np.int64), ["a"], nothing, nothing, np.empty(0))
    assert list(kept) == [{"n": step} for step in steps]
