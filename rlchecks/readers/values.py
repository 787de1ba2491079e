"""Logged values: what is a number, what is text, what is missing."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rlchecks.readers.cells import Cells
from rlchecks.readers.text import clean

# Python's float() also takes 1_000 and digits of other scripts, which no framework writes.
_PATTERN = r"[ \t\n\r\f\v]*[+-]?(\d+(\.\d*)?([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|nan|inf|infinity)[ \t\n\r\f\v]*"
_NUMBER = re.compile(_PATTERN, re.I | re.A)
# A double in full has fewer than 1,100 characters.
_LONGEST = 2000
_PLAIN = frozenset({float, int, type(None)})
_TEXT = frozenset({str, type(None)})
_NO_TEXTS = pa.nulls(0, pa.large_string())


class Numbers(NamedTuple):
    """A logged column as doubles.

    Attributes:
        numbers: float64, NaN where there is none.
        present: where a number was logged; a logged NaN is present.
        texts: position and text of the values that are no numbers.
        quoted: how many numbers were logged as text.
    """

    numbers: NDArray[np.float64]
    present: NDArray[np.bool_]
    texts: list[tuple[int, str]]
    quoted: int


class Doubles(NamedTuple):
    """Logged values as doubles.

    Attributes:
        numbers: float64, NaN where there is none.
        present: where there is one.
        texts: the values that are no numbers, as an Arrow array.
        quoted: how many numbers were logged as text.
    """

    numbers: NDArray[np.float64]
    present: NDArray[np.bool_]
    texts: pa.Array
    quoted: int


def doubles(cells: Cells) -> Doubles:
    """Convert logged values as :func:`to_numbers` does."""
    if cells.kind == "text":
        return _doubles_of_texts(cells.values)
    if cells.kind == "O":
        numbers, present, texts, quoted = to_numbers(cells.values.tolist())
        return Doubles(numbers, present, pa.array([text for _, text in texts], pa.large_string()), quoted)
    quoted = cells.kind == "quoted"
    numbers = cells.values.to_numpy() if quoted else cells.values.astype(np.float64, copy=False)
    return Doubles(numbers, np.ones(len(numbers), dtype=np.bool_), _NO_TEXTS, len(numbers) if quoted else 0)


def to_numbers(values: Sequence[object]) -> Numbers:
    """Convert logged values to doubles.

    Numbers in quotation marks are numbers. Truth values, lists, objects, other text, and integers beyond the range
    of a double are texts. None is missing.
    """
    column, quoted = _all_numbers(values)
    if column is not None:
        return Numbers(column.to_numpy(zero_copy_only=False), _present(column), [], quoted)
    numbers = np.full(len(values), np.nan)
    present = np.zeros(len(values), dtype=np.bool_)
    texts: list[tuple[int, str]] = []
    for position, value in enumerate(values):
        if value is None:
            continue
        number = to_number(value)
        if number is None:
            texts.append((position, to_text(value)))
        else:
            numbers[position], present[position] = number, True
            quoted += isinstance(value, str)
    return Numbers(numbers, present, texts, quoted)


def to_number(value: object) -> float | None:
    """Convert one logged value; None if it is no number."""
    if isinstance(value, str):
        return float(value) if len(value) <= _LONGEST and _NUMBER.fullmatch(value) else None
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        return None
    try:
        return float(value)
    except (OverflowError, ValueError, TypeError):
        return None


def to_count(value: object, most: int) -> int | None:
    """Convert a logged value to a whole number from 0 to ``most``; None if it is none."""
    if type(value) is int:
        return value if 0 <= value <= most else None
    number = to_number(value)
    if number is None or not 0 <= number <= most or number != int(number):
        return None
    return int(number)


def to_text(value: object) -> str:
    """Write a logged value as text; truth values, lists and objects as JSON."""
    if isinstance(value, str):
        return clean(value)
    return clean(json.dumps(value, ensure_ascii=False, default=str))


def _all_numbers(values: Sequence[object]) -> tuple[pa.Array | None, int]:
    """Convert a column at once if all of it are numbers, or all of it are texts of numbers; and count the texts."""
    types = set(map(type, values))
    try:
        if types <= _PLAIN:
            return pa.array(values, pa.float64()), 0
        if types <= _TEXT:
            column = pa.array(values, pa.string()).cast(pa.float64())
            return column, len(column) - column.null_count
    except (pa.ArrowInvalid, UnicodeEncodeError):
        # An integer of more than 53 bits, or some other text.
        pass
    return None, 0


def _present(column: pa.Array) -> NDArray[np.bool_]:
    present: NDArray[np.bool_] = column.is_valid().to_numpy(zero_copy_only=False)
    return present


def _doubles_of_texts(texts: pa.LargeStringArray) -> Doubles:
    count = len(texts)
    try:
        return Doubles(texts.cast(pa.float64()).to_numpy(), np.ones(count, dtype=np.bool_), _NO_TEXTS, count)
    except pa.ArrowInvalid:
        numeric = pc.match_substring_regex(texts, f"^{_PATTERN}$", ignore_case=True)
    present = numeric.to_numpy(zero_copy_only=False)
    numbers = np.full(count, np.nan)
    numbers[present] = list(map(float, texts.filter(numeric).to_pylist()))
    return Doubles(numbers, present, texts.filter(pc.invert(numeric)), int(present.sum()))
