"""Sparse columns to Arrow arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


class Series(NamedTuple):
    """Values at some rows: where, and the doubles there."""

    rows: NDArray[np.int64]
    numbers: NDArray[np.float64]


def dense(series: Series, count: int) -> pa.Array:
    """Build a double array of ``count`` rows, null where the series has no value."""
    numbers = np.full(count, np.nan)
    absent = np.ones(count, dtype=np.bool_)
    numbers[series.rows], absent[series.rows] = series.numbers, False
    return pa.array(numbers, pa.float64(), mask=absent)


def number_map(count: int, columns: dict[str, Series]) -> pa.Array:
    """Build a ``map<string, double>`` array of ``count`` rows from sparse columns."""
    rows = [series.rows for series in columns.values()]
    numbers = np.concatenate([series.numbers for series in columns.values()]) if columns else np.empty(0)
    order, keys, offsets = _map_layout(count, list(columns), rows)
    return pa.MapArray.from_arrays(offsets, keys, pa.array(numbers[order], pa.float64()))


def text_map(count: int, columns: dict[str, list[tuple[int, str]]]) -> pa.Array:
    """Build a ``map<string, string>`` array of ``count`` rows from sparse columns."""
    rows = [np.array([row for row, _ in cells], dtype=np.int64) for cells in columns.values()]
    texts = pa.array([text for cells in columns.values() for _, text in cells], pa.string())
    order, keys, offsets = _map_layout(count, list(columns), rows)
    return pa.MapArray.from_arrays(offsets, keys, texts.take(pa.array(order)))


def _map_layout(
    count: int, names: list[str], rows: list[NDArray[np.int64]]
) -> tuple[NDArray[np.int64], pa.Array, pa.Array]:
    at = np.concatenate(rows) if rows else np.empty(0, dtype=np.int64)
    which = np.repeat(np.arange(len(rows)), [len(some) for some in rows])
    order = np.argsort(at, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(at, minlength=count))])
    keys = pa.array(names, pa.string()).take(pa.array(which[order]))
    return order, keys, pa.array(offsets, pa.int32())
