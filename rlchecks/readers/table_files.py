"""Tables as rows: CSV, TSV, JSON Lines, a JSON list of objects, Parquet."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from rlchecks.errors import InputError
from rlchecks.readers.files import Objects, parse_json, read_bytes
from rlchecks.readers.parquet import PARQUET, first_row, read_table
from rlchecks.readers.steps import Row
from rlchecks.readers.text import clean, counted, decode, listing, place, readable_part
from rlchecks.run import InputFile

_DELIMITED = frozenset({".csv", ".tsv"})
_LINES = frozenset({".jsonl", ".ndjson"})
SUFFIXES = _DELIMITED | _LINES | {".json", ".parquet"}
"""File name extensions of the tables that are read, in lower case."""

_MISSING = frozenset({"", "na", "n/a", "null", "none", "-"})
_DELIMITERS = ",;\t|"
_OBJECT = re.compile(r"\s*[\[,]?\s*(?=\{)")


class Table(NamedTuple):
    """Rows of a table, the record of having read it, and whether its format knows only text."""

    rows: list[Row]
    source: InputFile
    untyped: bool
    warnings: tuple[str, ...]


def read_rows(path: Path) -> Table:
    """Read all rows of a table whose extension is one of :data:`SUFFIXES`.

    A last line that was not written to its end is left out with a warning.

    Raises:
        InputError: the file cannot be read, a line is damaged, or there are no rows.
    """
    contents = read_bytes(path)
    suffix = path.suffix.lower()
    rows: list[Row]
    warnings: list[str] = []
    if suffix in _DELIMITED:
        rows, warnings = _delimited(decode(contents.data, path), path)
    elif suffix in _LINES:
        rows, warnings = _lines(decode(contents.data, path), path)
    elif suffix == ".json":
        document, repeated = parse_json(contents.data, path)
        if not isinstance(document, list) or not all(isinstance(row, dict) for row in document):
            raise InputError("expected a list of objects, one for each step", path=place(path))
        rows, warnings = list(document), _repeated_keys(repeated)
    else:
        table = read_table(contents.data, path)
        rows = [{clean(key): value for key, value in row.items()} for row in table.to_pylist()]
    if not rows:
        raise InputError("the table has no rows", path=place(path))
    return Table(rows, contents.source, suffix in _DELIMITED, tuple(warnings))


def peek(path: Path, head: bytes) -> list[Row]:
    """Parse the rows that stand whole in the beginning of a table; of CSV and Parquet only the first.

    Never raises: whatever cannot be parsed ends the list.
    """
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        row = first_row(path) if head.startswith(PARQUET) else {}
        return [row] if row else []
    text = readable_part(head)
    if suffix == ".json" and not text.lstrip().startswith("["):
        return []
    return _first_line(text) if suffix in _DELIMITED else list(_whole_objects(text))


def _first_line(text: str) -> list[Row]:
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text))
    try:
        header = [name.strip() for name in next(lines)]
        first = next(lines, [])
    except (csv.Error, StopIteration):
        return []
    return [dict(zip(header, [*first, *[""] * len(header)], strict=False))]


def _whole_objects(text: str) -> Iterator[Row]:
    decoder = json.JSONDecoder()
    before = _OBJECT.match(text)
    while before:
        try:
            row, position = decoder.raw_decode(text, before.end())
        except (ValueError, RecursionError):
            return
        yield row
        before = _OBJECT.match(text, position)


def _delimiter(text: str) -> str:
    header = text.partition("\n")[0]
    return max(_DELIMITERS, key=header.count)


def _delimited(text: str, path: Path) -> tuple[list[Row], list[str]]:
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text))
    rows: list[Row] = []
    short: int | None = None
    try:
        header = [name.strip() or f"column {position + 1}" for position, name in enumerate(next(lines, []))]
        twice = sorted({name for name in header if header.count(name) > 1})
        if twice:
            raise InputError(f"the header names {listing(twice)} twice", path=place(path), where="line 1")
        for cells in lines:
            if not cells:
                continue
            if short is not None or len(cells) > len(header):
                line, number = (lines.line_num, len(cells)) if short is None else (short, len(rows[-1]))
                problem = f"{counted(number, 'cell')} where the header has {len(header)}"
                raise InputError(problem, path=place(path), where=f"line {line}")
            if len(cells) < len(header):
                short = lines.line_num
            rows.append(dict(zip(header, map(_cell, cells), strict=False)))
    except csv.Error as error:
        raise InputError(f"no valid CSV ({error})", path=place(path), where=f"line {lines.line_num}") from error
    if short is None:
        return rows, []
    rows.pop()
    return rows, [f"line {short} was not written to its end: left out"]


def _cell(cell: str) -> str | None:
    return None if cell.strip().lower() in _MISSING else cell


def _lines(text: str, path: Path) -> tuple[list[Row], list[str]]:
    objects = Objects()
    decoder = json.JSONDecoder(object_pairs_hook=objects)
    rows: list[Row] = []
    lines = _numbered(text)
    for number, line in lines:
        try:
            row = decoder.decode(line)
        except (ValueError, RecursionError) as error:
            if rows and next(lines, None) is None:
                return rows, [f"line {number} was not written to its end: left out", *_repeated_keys(objects.repeated)]
            reason = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply or a number too long"
            raise InputError(
                f"no valid JSON ({reason})", path=place(path), where=f"line {number}", todo="repair or remove it"
            ) from error
        if not isinstance(row, dict):
            raise InputError("expected an object of logged values", path=place(path), where=f"line {number}")
        rows.append(row)
    return rows, _repeated_keys(objects.repeated)


def _numbered(text: str) -> Iterator[tuple[int, str]]:
    # Not splitlines(): JSON may hold the other characters that end lines there.
    return ((number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip())


def _repeated_keys(repeated: int) -> list[str]:
    return [f"{counted(repeated, 'object')} with a key given twice: the last value counts"] if repeated else []


def keys_in(rows: Iterable[Row]) -> list[str]:
    """List the keys of rows in their order of appearance."""
    return list(dict.fromkeys(key for row in rows for key in row))
