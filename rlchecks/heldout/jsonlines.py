"""Held-out rows from JSON Lines: one object per line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow as pa

from rlchecks.errors import InputError
from rlchecks.heldout.rawrows import EXPECTED, RawRows, unknown_columns
from rlchecks.heldout.values import KNOWN, REQUIRED

_PLAIN = ("string", "int64", "double", "bool", "null")
_TEXT = ("checkpoint", "judge", "decoding", "answer", "prompt", "target", "category", "cluster")
_BLOCK = 1 << 23  # bytes; a row must fit into one


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
    lines = text.rstrip().count("\n") + 1
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
    present = [name for name in KNOWN if name in table.column_names and table[name].null_count < len(table)]
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
    loads = json.JSONDecoder().decode
    required = frozenset(REQUIRED)
    for number, line in enumerate(text.split("\n"), start=1):
        if not line or line.isspace():
            continue
        try:
            record = loads(line)
        except (ValueError, RecursionError) as error:
            problem = f"the line is no complete JSON object ({getattr(error, 'msg', error)})"
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
    return RawRows(columns, unknown, len(records), lambda index: f"line {numbers[index]}")
