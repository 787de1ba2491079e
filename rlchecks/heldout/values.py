"""One column of held-out rows, from whatever type a file gave it to the type of the archive's table.

Arrow does the work where the column has one type; a column of mixed types goes value by value. Both ways agree.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from rlchecks.schema import EVALUATIONS

REQUIRED = ("question_id", "checkpoint", "judge", "score")
"""Columns that every file has; only ``score`` may be empty in a row."""

OPTIONAL = ("step", "epoch", "decoding", "answer", "prompt", "target", "category", "cluster")
"""Columns that a file may have."""

KNOWN = REQUIRED + OPTIONAL

_IDENTIFIERS = frozenset({"question_id", "checkpoint", "judge"})
_FREE_TEXT = frozenset({"answer", "prompt", "target"})  # an empty one is a text; chat messages are kept as JSON
_WHOLE = frozenset({"step", "epoch"})
_UNSCORED = frozenset({"", "na", "n/a", "nan", "null", "none"})
_TRUTH = {"true": 1.0, "false": 0.0}
_MAX_INT64 = 2**63 - 1
_LARGEST = 2**31 - 1  # bytes of text in one of Arrow's string arrays


class BadValueError(Exception):
    """A value that a column cannot take."""

    def __init__(self, index: int, problem: str) -> None:
        """Say which row of the file (from 0) and what was expected."""
        super().__init__(problem)
        self.index = index
        self.problem = problem


def convert(name: str, column: pa.ChunkedArray | Sequence[object]) -> pa.ChunkedArray:
    """The column as the archive keeps it.

    Args:
        name: one of :data:`KNOWN`.
        column: an Arrow column, or Python values from JSON.

    Returns:
        float64 scores (null: unscored), int64 ``step`` and ``epoch``, else text; identifiers are never null.

    Raises:
        BadValueError: a value is of no use in this column.
    """
    if isinstance(column, pa.ChunkedArray):
        ready = _from_arrow(name, column)
        if ready is None:
            return convert(name, column.to_pylist())
    else:
        ready = _from_values(name, column)
    if name in _IDENTIFIERS:
        empty = pc.index(pc.fill_null(pc.equal(ready, ""), True), True).as_py()
        if empty >= 0:
            raise BadValueError(empty, f"{name} is empty")
    return ready


def _from_arrow(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    kind = column.type
    if pt.is_dictionary(kind):
        _check_size(name, column)
        column = column.cast(kind.value_type)
        kind = column.type
    wanted = EVALUATIONS.field(name).type
    if pt.is_null(kind):
        return column.cast(wanted)
    if name == "score":
        return _arrow_scores(column)
    if name in _WHOLE:
        return column.cast(wanted) if pt.is_signed_integer(kind) else None
    if pt.is_integer(kind):
        return column.cast(wanted)
    if not (pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind)):
        return None
    text = column.cast(wanted)
    return text if name in _FREE_TEXT else pc.if_else(pc.equal(text, ""), None, text)


def _check_size(name: str, column: pa.ChunkedArray) -> None:
    """Refuse what Arrow cannot unpack: a few bytes can stand for gigabytes of one text over and over."""
    row = 0
    for chunk in column.chunks:
        if pt.is_string(column.type.value_type) and len(chunk):
            lengths = pc.binary_length(chunk.dictionary).cast(pa.int64()).take(chunk.indices)
            if (pc.sum(lengths).as_py() or 0) > _LARGEST:
                raise BadValueError(row, f"{name} holds more text from here on than is read at once")
        row += len(chunk)


def _arrow_scores(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    kind = column.type
    if pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind):
        text = pc.utf8_lower(pc.utf8_trim_whitespace(column.cast(pa.string())))
        text = pc.if_else(pc.is_in(text, value_set=pa.array(sorted(_UNSCORED))), None, text)
        try:
            scores = text.cast(pa.float64())
        except pa.ArrowInvalid:
            return None
    elif pt.is_floating(kind) or pt.is_integer(kind):
        scores = column.cast(pa.float64(), safe=False)
    elif pt.is_boolean(kind):
        return column.cast(pa.uint8()).cast(pa.float64())
    else:
        return None
    infinite = pc.index(pc.fill_null(pc.is_inf(scores), False), True).as_py()
    if infinite >= 0:
        raise BadValueError(infinite, "score is infinite; expected a finite number, true, false or null")
    return pc.if_else(pc.is_nan(scores), None, scores)


def _from_values(name: str, values: Sequence[object]) -> pa.ChunkedArray:
    read: Callable[[str, Any], object] = _score if name == "score" else _whole if name in _WHOLE else _text
    ready = []
    for index, value in enumerate(values):
        try:
            ready.append(read(name, value))
        except ValueError as error:
            raise BadValueError(index, f"{name} is {_shown(value)}; {error}") from None
    wanted = EVALUATIONS.field(name).type
    try:
        return pa.chunked_array([pa.array(ready, wanted)])
    except UnicodeEncodeError:
        return pa.chunked_array([pa.array(_without_surrogates(name, ready), wanted)])


def _score(name: str, value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, str):
        text = value.strip().lower()
        if text in _UNSCORED:
            return None
        if text in _TRUTH:
            return _TRUTH[text]
        number = _number(text)
    elif isinstance(value, int | float) or type(value).__name__ == "Decimal":
        try:
            number = float(value)  # type: ignore[arg-type]
        except OverflowError:
            number = math.inf
        if math.isnan(number):
            return None
    else:
        number = None
    if number is None or not math.isfinite(number):
        raise ValueError("expected a finite number, true, false or null")
    return number


def _whole(name: str, value: object) -> int | None:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str):
        if value.strip().lower() in _UNSCORED:
            return None
        number = _number(value)
    else:
        number = value if isinstance(value, int | float) and not isinstance(value, bool) else None
    if number is None or not abs(number) <= _MAX_INT64 or number != int(number):
        raise ValueError("expected a whole number or null")
    return int(number)


def _text(name: str, value: object) -> str | None:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str):
        return value if value or name in _FREE_TEXT or name in _IDENTIFIERS else None
    if isinstance(value, bool):
        if name not in _IDENTIFIERS:
            return "true" if value else "false"
    elif isinstance(value, int):
        return str(value)
    elif isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    elif isinstance(value, list | dict) and name in _FREE_TEXT:
        try:
            return json.dumps(value, ensure_ascii=False, default=str)
        except RecursionError:
            raise ValueError("expected a value that is not nested too deeply") from None
    raise ValueError("expected text or a number" if name in _IDENTIFIERS else "expected text")


def _number(text: str) -> float | None:
    if "_" in text:  # float() accepts 1_000
        return None
    try:
        return float(text)
    except ValueError:
        return None


def _without_surrogates(name: str, values: Sequence[object]) -> list[object]:
    """Half a surrogate pair, which a model can write, becomes the replacement character; in a name it is refused."""
    ready: list[object] = []
    for index, value in enumerate(values):
        if isinstance(value, str):
            clean = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            if clean != value and name not in _FREE_TEXT:
                raise BadValueError(index, f"{name} is {_shown(value)}; expected text that UTF-8 can hold")
            value = clean
        ready.append(value)
    return ready


def _shown(value: object) -> str:
    try:
        text = ascii(value)
    except RecursionError:
        text = f"a deep {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."
