from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlchecks.readers import maps
from rlchecks.readers.maps import BLOCK, Series, Texts, constant, dense, joined_texts, number_map, text_map

COUNT = 7
SPARSE = st.dictionaries(st.integers(0, COUNT - 1), st.floats())


def series(values: dict[int, float]) -> Series:
    return Series(np.array(list(values), dtype=np.int64), np.array(list(values.values()), dtype=np.float64))


@settings(deadline=None)
@given(columns=st.dictionaries(st.text(max_size=2), SPARSE, max_size=4), block=st.integers(1, 9))
def test_each_row_maps_the_columns_that_have_a_value_there(columns: dict[str, dict[int, float]], block: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(maps, "BLOCK", block)
        numbers = number_map(COUNT, {key: series(values) for key, values in columns.items()})
        cells = {key: [(row, str(value)) for row, value in values.items()] for key, values in columns.items()}
        texts = text_map(COUNT, cells)
    numbers.validate(full=True)
    texts.validate(full=True)
    for row in range(COUNT):
        expected = {key: values[row] for key, values in columns.items() if row in values}
        assert repr(dict(numbers[row].as_py())) == repr(expected)
        assert dict(texts[row].as_py()) == {key: str(value) for key, value in expected.items()}


@settings(deadline=None)
@given(values=SPARSE)
def test_a_dense_column_is_null_where_there_is_no_value(values: dict[int, float]) -> None:
    column = dense(series(values), COUNT)
    assert repr(column.to_pylist()) == repr([values.get(row) for row in range(COUNT)])


def test_texts_are_taken_from_arrays_too() -> None:
    one = Texts(np.array([2]), pa.array(["a"], pa.large_string()))
    other = Texts(np.array([0]), pa.array(["b"], pa.large_string()))
    assert text_map(3, {"k": joined_texts([one, other])}).to_pylist() == [[("k", "b")], [], [("k", "a")]]
    assert joined_texts([]).texts.to_pylist() == []


@pytest.mark.parametrize("count", [0, 1, BLOCK, BLOCK + 1, 3 * BLOCK])
def test_a_constant_is_held_once(count: int) -> None:
    column = constant("run", count)
    assert (len(column), column.type) == (count, pa.string())
    assert set(column.unique().to_pylist()) == ({"run"} if count else set())
    assert column.get_total_buffer_size() < 8 * BLOCK


def test_keys_are_held_once_while_the_same_columns_have_values() -> None:
    count = 4 * BLOCK
    columns: dict[str, Any] = {f"a key of some length {key}": Series(np.arange(count), np.zeros(count)) for key in "ab"}
    column = number_map(count, columns)
    texts = {chunk.keys.buffers()[2].address for chunk in column.chunks}
    assert texts == {column.chunk(0).keys.buffers()[2].address}
