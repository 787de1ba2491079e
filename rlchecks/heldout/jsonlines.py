"""Held-out rows from JSON Lines: one object per line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa

from rlchecks.errors import InputError
from rlchecks.heldout.rawrows import EXPECTED, RawRows, unknown_columns
from rlchecks.heldout.values import KNOWN, OPTIONAL, REQUIRED

_PLAIN = ("string", "int64", "double", "bool", "null")
_TEXT = ("checkpoint", "judge", "decoding", "answer", "prompt", "target", "category", "cluster")
_BLOCK = 1 << 23  # bytes; a row must fit into one
_MOST_OPENINGS = 1000  # of brackets and braces in a line: Arrow's reader recurses without a limit
_NEWLINE, _RETURN, _OPENING, _CLOSING, _BRACKET = (ord(sign) for sign in "\n\r{}[")


def parse_json_lines(data: bytes, text: str, path: Path) -> RawRows:
    """The rows of a JSON Lines file.

    Args:
        data: its bytes.
        text: the same, decoded.
        path: its name, for errors.

    Raises:
        InputError: a line is no complete JSON object or lacks a required key.
    """
    return fast_rows(data, text) or exact_rows(text, path)


def fast_rows(data: bytes, text: str) -> RawRows | None:
    """The rows by Arrow's reader, several times as fast; None where it might read otherwise than :func:`exact_rows`."""
    lines = _shallow_lines(data)
    if not lines:
        return None
    import pyarrow.json as pj

    schema = pa.schema([(name, pa.string()) for name in _TEXT])
    try:
        table = pj.read_json(
            pa.BufferReader(data),
            read_options=pj.ReadOptions(block_size=_BLOCK),
            parse_options=pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="infer"),
        )
    except (pa.ArrowException, UnicodeDecodeError):
        return None
    if len(table) != lines or not set(REQUIRED) <= set(table.column_names):  # two rows may share a line
        return None
    plain = all(str(kind) in _PLAIN for kind in table.schema.types)
    for name in REQUIRED:  # to Arrow, a missing key is a null
        if table[name].null_count and not (plain and len(re.findall(rf'"{name}"\s*:', text)) == lines):
            return None
    # Arrow reads text that looks like a date as a date, and whole numbers beyond 64 bits as rounded ones.
    if any(str(table[name].type) not in _PLAIN for name in KNOWN if name in table.column_names):
        return None
    if table["question_id"].type == pa.float64():
        return None
    # An optional column of nulls says nothing; a required one has to be refused or counted.
    present = list(REQUIRED)
    present += [name for name in OPTIONAL if name in table.column_names and table[name].null_count < len(table)]
    unknown = unknown_columns(table.column_names)
    return RawRows({name: table[name] for name in present}, unknown, len(table), lambda index: f"line {index + 1}")


def exact_rows(text: str, path: Path) -> RawRows:
    """The rows by Python's reader, line by line, which knows where it stands.

    Args:
        text: the file's text.
        path: its name, for errors.

    Raises:
        InputError: a line is no complete JSON object or lacks a required key.
    """
    records: list[dict[str, object]] = []
    numbers: list[int] = []
    doubled = 0

    def built(pairs: list[tuple[str, object]]) -> dict[str, object]:
        nonlocal doubled
        made = dict(pairs)
        doubled += len(made) < len(pairs)
        return made

    loads = json.JSONDecoder(object_pairs_hook=built).decode
    required = frozenset(REQUIRED)
    for number, line in enumerate(text.split("\n"), start=1):
        if not line or line.isspace():
            continue
        try:
            record = loads(line)
        except (ValueError, RecursionError) as error:
            reason = "nested too deeply" if isinstance(error, RecursionError) else getattr(error, "msg", error)
            problem = f"the line is no complete JSON object ({reason})"
            raise InputError(problem, path=path, where=f"line {number}", todo="mend or remove the line") from None
        if not isinstance(record, dict):
            problem = f"the line is a JSON {type(record).__name__}, expected an object"
            raise InputError(problem, path=path, where=f"line {number}", todo="write one object per line")
        if not required <= record.keys():
            missing = ", ".join(name for name in REQUIRED if name not in record)
            raise InputError(f"the row lacks {missing}", path=path, where=f"line {number}", todo=EXPECTED)
        records.append(record)
        numbers.append(number)
    names: dict[str, None] = {}
    for record in records:
        names.update(dict.fromkeys(record))
    columns = {name: [record.get(name) for record in records] for name in KNOWN if name in names}
    unknown = unknown_columns(list(names))
    return RawRows(columns, unknown, len(records), lambda index: f"line {numbers[index]}", doubled)


def _shallow_lines(data: bytes) -> int:
    """Number of lines, if no value can be nested deeply: each line is an object of its own with few openings; else 0.

    A value that goes on in the next line would need a line that does not begin with ``{`` after one that ends with
    ``}``, or be an error at that very place.
    """
    size = len(data)
    while size and data[size - 1] in (_NEWLINE, _RETURN):
        size -= 1
    codes = np.frombuffer(data, np.uint8, size)
    if not size:
        return 0
    ends = np.append(np.flatnonzero(codes == _NEWLINE), size)
    starts = np.append(0, ends[:-1] + 1)
    if (starts == ends).any():  # an empty line, which the exact reader passes over
        return 0
    last = ends - 1
    last = np.where(codes[last] == _RETURN, np.maximum(last - 1, starts), last)
    if not ((codes[starts] == _OPENING) & (codes[last] == _CLOSING)).all():
        return 0
    # Each line has one opening, so that no line has more than are left over; counting them is quicker than finding.
    if data.count(b"{") + data.count(b"[") - len(ends) < _MOST_OPENINGS:
        return len(ends)
    places = np.flatnonzero((codes == _OPENING) | (codes == _BRACKET))
    openings = np.diff(np.searchsorted(places, np.append(starts, size)))
    return len(ends) if openings.max() <= _MOST_OPENINGS else 0
