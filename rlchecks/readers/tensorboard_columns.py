"""Scalars as they are decoded, in any order, to columns in the order of the file."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlchecks.readers.tensorboard_decimals import to_decimals
from rlchecks.readers.tensorboard_events import SINGLE, Scalar


class Columns(NamedTuple):
    """Step, series and value of each scalar."""

    steps: NDArray[np.int64]
    keys: NDArray[np.int64]
    values: NDArray[np.float64]


class _Batch(NamedTuple):
    """One scalar each of some records: the records, which of their scalars, and what it says."""

    records: NDArray[np.int64]
    ordinals: NDArray[np.int64]
    columns: Columns


class Collection:
    """The scalars of a file, collected some thousands of records at a time."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, int, int, int]] = []
        self._numbers: list[float] = []
        self._single: list[bool] = []
        self._batches: list[_Batch] = []
        self._finished: list[Columns] = []

    def one(self, record: int, ordinal: int, step: int, key: int, scalar: Scalar) -> None:
        """Add a scalar of a record, which is its ``ordinal``-th."""
        self._rows.append((record, ordinal, step, key))
        self._numbers.append(scalar.number)
        self._single.append(scalar.kind == SINGLE)

    def many(self, records: NDArray[np.int64], ordinal: int, columns: Columns) -> None:
        """Add a scalar of each of several records."""
        self._batches.append(_Batch(records, np.full(len(records), ordinal), columns))

    def finish(self, count: int) -> None:
        """Bring the scalars of the last ``count`` records into order."""
        if self._rows:
            numbers = np.array(self._numbers)
            numbers[self._single] = to_decimals(numbers[self._single].astype(np.float32))
            records, ordinals, steps, keys = np.array(self._rows, dtype=np.int64).T
            self._batches.append(_Batch(records, ordinals, Columns(steps, keys, numbers)))
            self._rows, self._numbers, self._single = [], [], []
        if self._batches:
            self._finished.append(_in_order(self._batches, count))
            self._batches = []

    @property
    def has_a_step(self) -> bool:
        """Whether the first step was followed by another one."""
        return any((columns.steps != self._finished[0].steps[0]).any() for columns in self._finished)

    def all(self, names: list[str]) -> tuple[tuple[str, ...], Columns]:
        """Return the names of the series in the order in which they came up, and all scalars.

        Args:
            names: the name of each key, all of which have scalars.
        """
        if not self._finished:
            return (), Columns(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))
        steps, keys, values = map(np.concatenate, zip(*self._finished, strict=True))
        first = np.empty(len(names), dtype=np.int64)
        # Of several values for one place NumPy keeps the last.
        first[keys[::-1]] = np.arange(len(keys))[::-1]
        order = np.argsort(first)
        return tuple(names[key] for key in order), Columns(steps, np.argsort(order)[keys], values)


def _in_order(batches: list[_Batch], count: int) -> Columns:
    records = np.concatenate([batch.records for batch in batches])
    ends = np.cumsum(np.bincount(records, minlength=count))
    places = np.concatenate([[0], ends])[records] + np.concatenate([batch.ordinals for batch in batches])
    found = Columns(np.empty_like(places), np.empty_like(places), np.empty(len(places)))
    found.steps[places] = np.concatenate([batch.columns.steps for batch in batches])
    found.keys[places] = np.concatenate([batch.columns.keys for batch in batches])
    found.values[places] = np.concatenate([batch.columns.values for batch in batches])
    return found
