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
from rlchecks.readers.delimited import delimited, delimiter, text_lines
from rlchecks.readers.files import read_bytes
from rlchecks.readers.json_document import JsonDocument
from rlchecks.readers.json_lines import JsonLines, collect
from rlchecks.readers.parquet import PARQUET, first_row, read_columns
from rlchecks.readers.rows import Row, Rows
from rlchecks.readers.stream import Stream
from rlchecks.readers.text import place, readable_part
from rlchecks.run import InputFile

_DELIMITED = frozenset({".csv", ".tsv"})
_LINES = frozenset({".jsonl", ".ndjson"})
SUFFIXES = _DELIMITED | _LINES | {".json", ".parquet"}
"""File name extensions of the tables that are read, in lower case."""

_OBJECT = re.compile(r"\s*[\[,]?\s*(?=\{)")


class Table(NamedTuple):
    """Rows of a table, the record of having read it, and whether its format knows only text."""

    rows: Rows
    source: InputFile
    untyped: bool
    warnings: tuple[str, ...]


def read_rows(path: Path) -> Table:
    """Read all rows of a table whose extension is one of :data:`SUFFIXES`.

    A last line that was not written to its end is left out with a warning.

    Raises:
        InputError: the file cannot be read, a line is damaged, there are more values than are kept, or no rows.
    """
    suffix = path.suffix.lower()
    if suffix in _DELIMITED:
        table = _delimited(path)
    elif suffix in _LINES:
        table = _lines(path)
    else:
        table = _document(path) if suffix == ".json" else _parquet(path)
    if not table.rows:
        raise InputError("the table has no rows", path=place(path))
    return table


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
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter(text))
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


def _delimited(path: Path) -> Table:
    stream = Stream(path)
    rows, warnings = delimited(text_lines(stream), path)
    return Table(rows, stream.source, True, tuple(warnings))


def _lines(path: Path) -> Table:
    lines = JsonLines(path)
    rows = Rows(path)
    collect(lines, rows)
    return Table(rows, lines.source, False, lines.warnings)


def _document(path: Path) -> Table:
    document = JsonDocument(path)
    if document.opens() not in ("[", "{"):
        document.value()
    expected = "a list of objects, one for each step"
    if document.opens() != "[":
        raise InputError(f"expected {expected}", path=place(path))
    rows = document.rows("list", expected)
    document.close()
    return Table(rows, document.source, False, document.warnings)


def _parquet(path: Path) -> Table:
    contents = read_bytes(path)
    rows = Rows(path)
    for columns in read_columns(contents.data, path):
        rows.extend(list(columns), list(columns.values()))
    return Table(rows, contents.source, False, ())


def keys_in(rows: Iterable[Row]) -> list[str]:
    """List the keys of rows in their order of appearance."""
    return list(dict.fromkeys(key for row in rows for key in row))
