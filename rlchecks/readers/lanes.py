"""Which rows of a log can be parts of one another: those of different processes, or of different parts of a trainer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Lanes(NamedTuple):
    """Rows that have keys in common, directly or by way of other rows, are in one lane.

    Attributes:
        of_rows: the lane of each row; rows without any value are in a lane of their own, the last one.
        of_keys: the lane of each key.
    """

    of_rows: NDArray[np.int64]
    of_keys: NDArray[np.int64]


def lanes(count: int, metrics: Iterable[NDArray[np.int32]]) -> Lanes:
    """Find the lanes of rows.

    Args:
        count: number of rows.
        metrics: for each key the rows in which it has a value.
    """
    first_key = np.full(count, -1, dtype=np.int64)
    parent: list[int] = []

    def root(key: int) -> int:
        while parent[key] != key:
            parent[key] = key = parent[parent[key]]
        return key

    for key, rows in enumerate(metrics):
        parent.append(key)
        labels = first_key[rows]
        for other in np.flatnonzero(np.bincount(labels + 1)[1:]).tolist():
            parent[root(other)] = root(key)
        first_key[rows[labels < 0]] = key
    # The last one is for the rows that no key has labelled: -1 counts from the end.
    of_keys = np.array([*map(root, range(len(parent))), len(parent)], dtype=np.int64)
    return Lanes(of_keys[first_key], of_keys[:-1])
