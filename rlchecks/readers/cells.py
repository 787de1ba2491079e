"""Logged values of one key, kept in little memory and exactly as they were logged."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Positions: TypeAlias = NDArray[np.int32]
"""Rows by their place in the log, ascending."""

_KINDS = {float: "f", np.float64: "f", int: "i", str: "text", type(None): "none"}
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1


class Cells(NamedTuple):
    """Values of one key, all of one kind; where there is None there is no value.

    Attributes:
        at: the rows that have them, ascending.
        values: a float64, int64 or object array of NumPy, or an Arrow array of texts; one of doubles stands for the
            texts that Arrow writes for them.
    """

    at: NDArray[np.signedinteger]
    values: Any

    @property
    def kind(self) -> str:
        """``f``, ``i``, ``O``, ``text``, or ``quoted`` for texts of numbers."""
        if isinstance(self.values, np.ndarray):
            return str(self.values.dtype.kind)
        return "quoted" if self.values.type == pa.float64() else "text"

    @property
    def text_bytes(self) -> int:
        """Memory of what is no number, in bytes."""
        if self.kind == "text":
            return int(self.values.nbytes)
        return sum(map(_weight, self.values.tolist())) if self.kind == "O" else 0

    def tolist(self) -> list[object]:
        """Give the values back as they were logged."""
        values = self.values.cast(pa.large_string()) if self.kind == "quoted" else self.values
        return list(values.tolist())

    def where(self, mask: NDArray[np.bool_]) -> Cells:
        """Pick the cells where ``mask`` is true."""
        if mask.all():
            return self
        picked = np.flatnonzero(mask)
        return Cells(self.at[picked], self.values.take(picked))

    def between(self, first: int, end: int) -> Cells:
        """Pick the cells of the rows from ``first`` to before ``end``."""
        # Bounds of another type would have numpy convert all rows first.
        low, high = np.searchsorted(self.at, np.array((first, end), dtype=np.int32))
        return Cells(self.at[low:high], self.values[low:high])


def cells_of(at: Positions, values: Sequence[object] | NDArray[np.generic] | pa.Array) -> list[Cells]:
    """Sort the values of some rows by kind.

    Args:
        at: the rows.
        values: a value for each of them: Python's, or an array of doubles or 64-bit integers, or one of Arrow's.
    """
    if not len(at):
        return []
    if isinstance(values, np.ndarray):
        return [Cells(at, values)]
    if isinstance(values, pa.Array):
        return _of_arrow(at, values)
    types = set(map(type, values))
    if len(types) == 1:
        return _of_kind(_KINDS.get(types.pop(), "O"), at, values)
    kinds = [_KINDS.get(type(value), "O") for value in values]
    found: list[Cells] = []
    for kind in dict.fromkeys(kinds):
        members = [position for position, one in enumerate(kinds) if one == kind]
        found += _of_kind(kind, at[members], [values[position] for position in members])
    return found


def _of_kind(kind: str, at: Positions, values: Sequence[object]) -> list[Cells]:
    if kind == "none":
        return []
    try:
        if kind == "f":
            return [Cells(at, np.fromiter(values, np.float64, len(values)))]
        if kind == "i":
            return [Cells(at, np.fromiter(values, np.int64, len(values)))]
        if kind == "text":
            return _of_texts(at, pa.array(values, pa.large_string()))
    except OverflowError:
        fits = np.array([isinstance(value, int) and _LOWEST <= value <= _HIGHEST for value in values])
        small = [value for value, fit in zip(values, fits, strict=True) if fit]
        large = [value for value, fit in zip(values, fits, strict=True) if not fit]
        return [*(_of_kind("i", at[fits], small) if small else []), *_of_kind("O", at[~fits], large)]
    except UnicodeEncodeError:
        # Lone surrogates, which Arrow cannot hold.
        pass
    return [Cells(at, np.fromiter(values, np.object_, len(values)))]


def _of_arrow(at: Positions, values: pa.Array) -> list[Cells]:
    present = values.is_valid().to_numpy(zero_copy_only=False)
    if not present.all():
        at, values = at[present], values.drop_null()
    if values.type in (pa.float32(), pa.float64()):
        return cells_of(at, values.cast(pa.float64()).to_numpy())
    if pa.types.is_signed_integer(values.type):
        return cells_of(at, values.cast(pa.int64()).to_numpy())
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        return _of_texts(at, values.cast(pa.large_string()))
    return cells_of(at, values.to_pylist())


def _of_texts(at: Positions, texts: pa.LargeStringArray) -> list[Cells]:
    """Keep as numbers the texts that can be had back from them."""
    try:
        numbers = texts.cast(pa.float64())
    except pa.ArrowInvalid:
        parts = [Cells(at, texts)]
    else:
        same = pc.equal(numbers.cast(pa.large_string()), texts).to_numpy(zero_copy_only=False)
        parts = [Cells(at, numbers).where(same), Cells(at, texts).where(~same)]
    return [part for part in parts if len(part.at)]


def _weight(value: object) -> int:
    """Memory of a value in bytes; truth values are shared by all."""
    if isinstance(value, bool):
        return 0
    size = 0
    rest: list[object] = [value]
    while rest:
        one = rest.pop()
        size += sys.getsizeof(one)
        if isinstance(one, dict):
            rest += [*one.keys(), *one.values()]
        elif isinstance(one, (list, tuple)):
            rest += one
    return size
