"""Values of one key that grow in place: what is appended in many pieces takes the room of one array."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rlchecks.readers.cells import Cells, Positions, cells_of

_CODES = {"f": "d", "quoted": "d", "i": "q"}


class Together:
    """Puts rows together, once for all keys that have values in the same rows."""

    def __init__(self) -> None:
        # The parts are kept beside the result, so that no other array gets one of their ids.
        self._known: dict[tuple[int, ...], tuple[Sequence[Positions], Positions, NDArray[np.int64] | None]] = {}

    def rows(self, parts: Sequence[Positions]) -> tuple[Positions, NDArray[np.int64] | None]:
        """Put rows together.

        Returns:
            The rows, ascending, and the order in which they are taken from the parts; None for that of the parts.
        """
        if len(parts) == 1:
            return parts[0], None
        ids = tuple(map(id, parts))
        if ids not in self._known:
            at = np.concatenate(parts)
            order = None if np.all(at[1:] > at[:-1]) else np.argsort(at, kind="stable")
            self._known[ids] = parts, at if order is None else at[order], order
        return self._known[ids][1:]

    def cells(self, parts: Sequence[tuple[Positions, Sequence[object]]]) -> list[Cells]:
        """Sort the values of a key by kind, those of rows of one shape after those of another."""
        at, order = self.rows([at for at, _ in parts])
        values = list(chain.from_iterable(values for _, values in parts)) if len(parts) > 1 else parts[0][1]
        return cells_of(at, values if order is None else [values[position] for position in order.tolist()])


class Pile:
    """Values of one key and one kind.

    Args:
        kind: as :attr:`rlchecks.readers.cells.Cells.kind`.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._at: list[Positions] = []
        # Python's arrays grow in place, as NumPy's and Arrow's do not.
        self._numbers: array[Any] = array(_CODES.get(kind, "b"))
        self._others: list[Any] = []
        self._joined: Cells | None = None

    def add(self, cells: Cells) -> None:
        """Put values of later rows on it."""
        self._joined = None
        self._at.append(cells.at)
        if self._kind not in _CODES:
            self._others.append(cells.values)
            return
        data = np.ascontiguousarray(cells.values).view(np.uint8).data
        try:
            self._numbers.frombytes(data)
        except BufferError:
            # Somebody still looks at what was there before.
            self._numbers = array(self._numbers.typecode, self._numbers)
            self._numbers.frombytes(data)

    def join(self, together: Together) -> Cells:
        """Return all values; they must not be changed."""
        if self._joined is None:
            at, order = together.rows(self._at)
            self._at = [at]
            self._joined = Cells(at, self._values(order))
        return self._joined

    def _values(self, order: NDArray[np.int64] | None) -> Any:
        if self._kind in _CODES:
            numbers = np.frombuffer(self._numbers, dtype=self._numbers.typecode)
            return pa.array(numbers) if self._kind == "quoted" else numbers
        values = pa.concat_arrays(self._others) if self._kind == "text" else np.concatenate(self._others)
        self._others = [values if order is None else values.take(order)]
        return self._others[0]
