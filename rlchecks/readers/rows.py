"""Logged rows, kept by column: about eight bytes a number, however many rows there are."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rlchecks.readers.budget import MAX_KEYS, MAX_VALUES, Budget
from rlchecks.readers.cells import Cells, Positions, cells_of
from rlchecks.readers.piles import Pile, Together
from rlchecks.readers.sparse import alike

__all__ = ["MAX_KEYS", "MAX_VALUES", "Row", "Rows"]

Row: TypeAlias = Mapping[str, object]
"""One logged row: key to value as the log has it."""

# So many values wait as Python's objects, some ten megabytes, until they are made compact together.
_WAITING = 1 << 17
# So many rows are made at once when the rows are walked through.
_BLOCK = 1 << 10
# Arrays with fewer values on average cost more than what is in them.
_SMALL = 64
_NONE = np.empty(0, dtype=np.int32)


class Rows(Sequence[Row]):
    """Logged rows in the order of the log; each is given back as it was appended.

    Args:
        path: the log, for the error about one that is too large.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._kept = Budget(path)
        self._waiting: list[Row] = []
        self._waiting_values = 0
        self._shapes: list[tuple[str, ...]] = []
        self._shape_number: dict[tuple[str, ...], int] = {}
        self._shape_of = [_NONE]
        self._columns: dict[str, dict[str, Pile]] = {}
        self._packed = 0
        self._arrays = self._values_joined = 0

    @classmethod
    def of(cls, rows: Sequence[Row], path: Path | None = None) -> Rows:
        """Take rows from anywhere; those that are compact already stay what they are."""
        if isinstance(rows, Rows):
            return rows
        made = cls(path)
        for row in rows:
            made.append(row)
        return made

    @classmethod
    def of_values(
        cls,
        counter: str,
        steps: NDArray[np.int64],
        names: Sequence[str],
        at: NDArray[np.int64],
        key: NDArray[np.int64],
        values: NDArray[np.float64],
    ) -> Rows:
        """Build rows from single values, as trackers store them.

        Args:
            counter: key of the step.
            steps: the step of each row, in the order of the log.
            names: logged keys.
            at: row of each value.
            key: its key, a place in ``names``.
            values: the values; no row has two of one key.

        Raises:
            InputError: as :meth:`append`.
        """
        made = cls()
        order = np.lexsort((key, at))
        shape_of = np.empty(len(steps), dtype=np.int32)
        for rows, keys in alike(len(steps), at[order], key[order]):
            shape_of[rows] = made._shape((counter, *(names[one] for one in keys.tolist())))
        order = np.lexsort((at, key))
        ends = np.cumsum(np.bincount(key, minlength=len(names)))
        columns = {counter: cells_of(np.arange(len(steps), dtype=np.int32), steps)}
        for name, some in zip(names, np.split(order, ends)[:-1], strict=True):
            columns[name] = cells_of(at[some].astype(np.int32), values[some])
        made._add(shape_of, {name: cells for name, cells in columns.items() if cells})
        return made

    def append(self, row: Row) -> None:
        """Add a row, which must not change any more.

        Raises:
            InputError: the log has more values, texts or keys than are kept.
        """
        self._waiting.append(row)
        self._waiting_values += len(row) + 1
        if self._waiting_values >= _WAITING:
            self.pack()

    def extend(self, keys: Sequence[str], columns: Sequence[Sequence[object] | NDArray[np.generic] | pa.Array]) -> None:
        """Add rows that all have the same keys.

        Args:
            keys: the keys.
            columns: the values of each key, one for each row, as :func:`rlchecks.readers.cells.cells_of` takes them.

        Raises:
            InputError: as :meth:`append`.
        """
        self.pack()
        at = np.arange(self._packed, self._packed + len(columns[0]), dtype=np.int32)
        shape_of = np.full(len(at), self._shape(tuple(keys)), dtype=np.int32)
        self._add(shape_of, {key: cells_of(at, values) for key, values in zip(keys, columns, strict=True)})

    def pack(self) -> None:
        """Make compact what was appended so far.

        It is done by itself every so many values; who appends large texts does it more often.

        Raises:
            InputError: as :meth:`append`.
        """
        rows, self._waiting, self._waiting_values = self._waiting, [], 0
        if not rows:
            return
        members: dict[tuple[str, ...], list[int]] = {}
        for index, row in enumerate(rows):
            members.setdefault(tuple(row), []).append(index)
        shape_of = np.empty(len(rows), dtype=np.int32)
        parts: dict[str, list[tuple[Positions, Sequence[object]]]] = {}
        for keys, some in members.items():
            shape_of[some] = self._shape(keys)
            at = np.array(some, dtype=np.int32) + np.int32(self._packed)
            values = zip(*(rows[index].values() for index in some), strict=True)
            for key, column in zip(keys, values, strict=True):
                parts.setdefault(key, []).append((at, column))
        together = Together()
        self._add(shape_of, {key: together.cells(some) for key, some in parts.items()})

    @property
    def keys(self) -> Sequence[str]:
        """All keys in the order in which they came up."""
        self.pack()
        return tuple(self._columns)

    @property
    def shapes(self) -> Sequence[tuple[str, ...]]:
        """The shapes that rows have: their keys."""
        self.pack()
        return self._shapes

    @property
    def shape_of(self) -> NDArray[np.int32]:
        """The shape of each row, a place in :attr:`shapes`."""
        self._join()
        return self._shape_of[0]

    def column(self, key: str) -> Sequence[Cells]:
        """Return the values of a key, one :class:`Cells` for each kind; they must not be changed."""
        self._join()
        together = Together()
        return [pile.join(together) for pile in self._columns.get(key, {}).values()]

    def present(self, key: str) -> Positions:
        """Return the rows in which a key has a value."""
        parts = [cells.at for cells in self.column(key)]
        return parts[0] if len(parts) == 1 else np.sort(np.concatenate([_NONE, *parts]))

    def __len__(self) -> int:
        """Number of rows."""
        return self._packed + len(self._waiting)

    def __getitem__(self, index: int) -> Row:  # type: ignore[override]
        """Return a row."""
        at = range(len(self))[index]
        return self._made(at, at + 1)[0]

    def __iter__(self) -> Iterator[Row]:
        """Yield the rows."""
        for first in range(0, len(self), _BLOCK):
            yield from self._made(first, first + _BLOCK)

    def _made(self, first: int, end: int) -> Sequence[Row]:
        shapes = self.shapes
        rows: list[dict[str, object]] = [dict.fromkeys(shapes[shape]) for shape in self.shape_of[first:end]]
        for key in dict.fromkeys(chain.from_iterable(rows)):
            for cells in self.column(key):
                part = cells.between(first, end)
                for at, value in zip(part.at.tolist(), part.tolist(), strict=True):
                    rows[at - first][key] = value
        return rows

    def _shape(self, keys: tuple[str, ...]) -> int:
        if keys not in self._shape_number:
            self._shape_number[keys] = len(self._shapes)
            self._shapes.append(keys)
            self._kept.values += len(keys)
            for key in keys:
                if key not in self._columns:
                    self._columns[key] = {}
                    self._kept.keys += 1
                    self._kept.text += sys.getsizeof(key)
        return self._shape_number[keys]

    def _add(self, shape_of: NDArray[np.int32], columns: Mapping[str, Sequence[Cells]]) -> None:
        self._shape_of.append(shape_of)
        self._packed += len(shape_of)
        self._kept.values += len(shape_of)
        for key, parts in columns.items():
            piles = self._columns[key]
            for cells in parts:
                if cells.kind not in piles:
                    piles[cells.kind] = Pile(cells.kind)
                piles[cells.kind].add(cells)
                self._arrays += 1
                self._kept.values += len(cells.at)
                self._kept.text += cells.text_bytes
        self._kept.check()
        if self._arrays * _SMALL > self._kept.values > 1.25 * self._values_joined:
            self._join()

    def _join(self) -> None:
        self.pack()
        if len(self._shape_of) == 1:
            return
        self._shape_of = [np.concatenate(self._shape_of)]
        together = Together()
        self._arrays = 0
        for piles in self._columns.values():
            for pile in piles.values():
                pile.join(together)
                self._arrays += 1
        self._values_joined = self._kept.values
