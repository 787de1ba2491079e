"""Held-out rows from CSV with a header."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pyarrow as pa

from rlchecks.errors import InputError
from rlchecks.heldout.rawrows import RawRows, first_line, require_columns, unknown_columns
from rlchecks.heldout.values import KNOWN

_BLOCK = 1 << 23  # bytes; a row must fit into one


def parse_csv(data: bytes, text: str, path: Path) -> RawRows:
    """The rows of a CSV file; an empty field is null, an empty quoted one an empty text.

    Args:
        data: its bytes.
        text: the same, decoded.
        path: its name, for errors.

    Raises:
        InputError: a row is torn, or the header lacks a required column or names one twice.
    """
    import pyarrow.csv as pv

    header = _header(text, path)
    present = [name for name in KNOWN if name in header]
    if data.count(b'"') % 2:
        _find_torn_row(text, path, len(header))
    try:
        table = pv.read_csv(
            pa.BufferReader(data),
            read_options=pv.ReadOptions(block_size=_BLOCK),
            parse_options=pv.ParseOptions(newlines_in_values=True),
            convert_options=pv.ConvertOptions(
                column_types={name: pa.string() for name in present},
                include_columns=present,
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid as error:
        _find_torn_row(text, path, len(header))
        raise InputError(f"the CSV is not readable ({first_line(error)})", path=path) from None
    if not len(table):
        raise InputError(
            "there is a header but no row", path=path, where="line 1", todo="give a file with held-out rows"
        )
    columns = {name: table[name] for name in present}
    return RawRows(columns, unknown_columns(header), len(table), lambda index: _csv_line(text, index))


def _header(text: str, path: Path) -> list[str]:
    try:
        header = next(row for row in csv.reader(io.StringIO(text, newline="")) if row)
    except csv.Error as error:
        raise InputError(f"the CSV header is not readable ({error})", path=path, where="line 1") from None
    doubled = sorted({name for name in header if name in KNOWN and header.count(name) > 1})
    if doubled:
        raise InputError(f"the header names {', '.join(doubled)} twice", path=path, where="line 1", todo="rename one")
    require_columns(header, path, "line 1")
    return header


def _find_torn_row(text: str, path: Path, width: int) -> None:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    start = 1
    try:
        for row in reader:
            if row and len(row) != width:
                problem = f"the row has {len(row)} fields, the header has {width}"
                raise InputError(problem, path=path, where=f"line {start}", todo="mend or remove the row")
            start = reader.line_num + 1
    except csv.Error as error:
        problem = f"the row is not complete CSV ({error})"
        raise InputError(problem, path=path, where=f"line {start}", todo="mend or remove the row") from None


def _csv_line(text: str, index: int) -> str:
    reader = csv.reader(io.StringIO(text, newline=""))
    start, seen = 1, -2
    try:
        for row in reader:
            seen += bool(row)
            if seen == index:
                return f"line {start}"
            start = reader.line_num + 1
    except csv.Error:
        pass
    return f"row {index + 1}"
