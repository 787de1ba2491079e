"""Sparse columns to Arrow arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

BLOCK = 1 << 16
"""Most rows of one array. Arrays of the same content are one in memory, so that keys and constants take no room."""


class Series(NamedTuple):
    """Values at some rows: where, and the doubles there."""

    rows: NDArray[np.int64]
    numbers: NDArray[np.float64]


class Texts(NamedTuple):
    """Texts at some rows: where, and Arrow's array of the texts there."""

    rows: NDArray[np.int64]
    texts: pa.Array


def dense(series: Series, count: int) -> pa.Array:
    """Build a double array of ``count`` rows, null where the series has no value."""
    if len(series.rows) == count and _ascend(series.rows):
        return pa.array(series.numbers, pa.float64())
    numbers = np.full(count, np.nan)
    absent = np.ones(count, dtype=np.bool_)
    numbers[series.rows], absent[series.rows] = series.numbers, False
    return pa.array(numbers, pa.float64(), mask=absent)


def constant(text: str, count: int) -> pa.ChunkedArray:
    """Build a string array with the same text ``count`` times."""
    block = pa.repeat(text, min(count, BLOCK))
    return pa.chunked_array([block[: count - first] for first in range(0, count, BLOCK)], pa.string())


def number_map(count: int, columns: Mapping[str, Series]) -> pa.ChunkedArray:
    """Build a ``map<string, double>`` array of ``count`` rows from sparse columns."""
    parts = [(series.rows, pa.array(series.numbers, pa.float64())) for series in columns.values()]
    return _map(count, list(columns), parts, pa.float64())


def text_map(count: int, columns: Mapping[str, Texts | Sequence[tuple[int, str]]]) -> pa.ChunkedArray:
    """Build a ``map<string, string>`` array of ``count`` rows from sparse columns, or from lists of rows and texts."""
    parts = [texts if isinstance(texts, Texts) else _texts(texts) for texts in columns.values()]
    return _map(count, list(columns), parts, pa.string())


def joined_texts(parts: Sequence[Texts]) -> Texts:
    """Put sparse columns of texts together."""
    rows = np.concatenate([np.empty(0, dtype=np.int64), *(part.rows for part in parts)])
    return Texts(rows, pa.concat_arrays([pa.nulls(0, pa.large_string()), *(part.texts for part in parts)]))


def _texts(cells: Sequence[tuple[int, str]]) -> Texts:
    return Texts(
        np.array([row for row, _ in cells], dtype=np.int64), pa.array([text for _, text in cells], pa.string())
    )


def _map(
    count: int, names: Sequence[str], parts: Sequence[tuple[NDArray[np.int64], pa.Array]], kind: pa.DataType
) -> pa.ChunkedArray:
    named = pa.array(names, pa.string())
    ordered = [(rows, some) if _ascend(rows) else _sorted(rows, some) for rows, some in parts]
    blocks: list[pa.Array] = []
    layout, keys = np.empty(0, dtype=np.int64), named[:0]
    for first in range(0, count, BLOCK):
        size = min(BLOCK, count - first)
        at, which, values = [layout[:0]], [layout[:0]], [pa.nulls(0, kind)]
        for place, (rows, some) in enumerate(ordered):
            low, high = np.searchsorted(rows, (first, first + size))
            if low < high:
                at.append(rows[low:high] - first)
                which.append(np.full(high - low, place))
                values.append(some[low:high].cast(kind))
        row = np.concatenate(at)
        order = np.argsort(row, kind="stable")
        now = np.concatenate(which)[order]
        if not np.array_equal(now, layout):
            layout, keys = now, named.take(pa.array(now))
        offsets = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=size))])
        items = pa.concat_arrays(values).take(pa.array(order))
        blocks.append(pa.MapArray.from_arrays(pa.array(offsets, pa.int32()), keys, items))
    return pa.chunked_array(blocks, pa.map_(pa.string(), kind))


def _ascend(rows: NDArray[np.int64]) -> bool:
    return bool(np.all(rows[1:] > rows[:-1]))


def _sorted(rows: NDArray[np.int64], values: pa.Array) -> tuple[NDArray[np.int64], pa.Array]:
    order = np.argsort(rows, kind="stable")
    return rows[order], values.take(pa.array(order))
