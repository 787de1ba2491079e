"""Single values, as trackers store them, to rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Alike(NamedTuple):
    """Rows that have the same keys.

    Attributes:
        rows: the rows.
        keys: their keys, ascending.
    """

    rows: NDArray[np.int64]
    keys: NDArray[np.int64]


def alike(count: int, at: NDArray[np.int64], key: NDArray[np.int64]) -> Iterator[Alike]:
    """Group rows by their keys.

    Args:
        count: number of rows.
        at: row of each value, ascending.
        key: key of each value, ascending in each row.
    """
    lengths = np.bincount(at, minlength=count)
    starts = np.cumsum(lengths) - lengths
    most = int(key.max(initial=0)) + 1
    for length in np.unique(lengths):
        rows = np.flatnonzero(lengths == length)
        keys = key[starts[rows, np.newaxis] + np.arange(length)]
        group = np.zeros(len(rows), dtype=np.int64)
        for column in keys.T:
            _, group = np.unique(group * most + column, return_inverse=True)
        _, first, group = np.unique(group, return_index=True, return_inverse=True)
        order = np.argsort(group, kind="stable")
        for one, members in zip(first, np.split(order, np.cumsum(np.bincount(group))[:-1]), strict=True):
            yield Alike(rows[members], keys[one])
