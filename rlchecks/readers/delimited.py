"""CSV and TSV, read row by row."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from rlchecks.errors import InputError
from rlchecks.readers.budget import MAX_KEYS
from rlchecks.readers.rows import Rows
from rlchecks.readers.stream import MAX_LINE, Stream
from rlchecks.readers.text import counted, decode, listing, place

_DELIMITERS = ",;\t|"
_MISSING = ("", "na", "n/a", "null", "none", "-")
# A carriage return ends a line too.
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
# So many rows, or so many characters of them, are made compact together.
_ROWS = 1 << 12
_CHARACTERS = 1 << 22


def delimiter(text: str) -> str:
    """Tell from the first line of a table what stands between its cells."""
    header = text.partition("\n")[0]
    return max(_DELIMITERS, key=header.count)


def text_lines(stream: Stream) -> Iterator[str]:
    """Yield the lines of a file of UTF-8 text with what ends them.

    Raises:
        InputError: the file cannot be read, is no UTF-8, or has a line longer than is read.
    """
    for line in stream.lines():
        if not line.whole:
            problem = f"longer than {MAX_LINE:,} bytes, the most that is read"
            raise InputError(problem, path=place(stream.path), where=f"line {line.number}")
        try:
            text = decode(line.data, stream.path) if line.number == 1 else line.data.decode()
        except UnicodeDecodeError as error:
            problem, where = "the text is no UTF-8", f"line {line.number}"
            raise InputError(problem, path=place(stream.path), where=where, todo="save it as UTF-8") from error
        ended = text + "\n" if line.ended else text
        if "\r" in text:
            yield from _LINE.findall(ended)
        else:
            yield ended


def delimited(lines: Iterable[str], path: Path) -> tuple[Rows, list[str]]:
    """Read a table whose first line names its columns.

    All cells are texts; those that are empty or say so are missing.

    Args:
        lines: the lines with what ends them; cells in quotation marks may go on from one to the next.
        path: the file, for errors.

    Returns:
        The rows, and what to tell: a last line with too few cells was not written to its end and is left out.

    Raises:
        InputError: a line is damaged, or there is more than is kept.
    """
    rows = Rows(path)
    block: list[list[str]] = []
    characters = 0
    short: tuple[int, int] | None = None

    def taken() -> Iterator[str]:
        nonlocal characters
        for line in remaining:
            characters += len(line)
            yield line

    remaining = iter(lines)
    first = next(remaining, "")
    reader = csv.reader(chain([first], taken()), delimiter=delimiter(first))
    try:
        header = _header(next(reader, []), path)
        for cells in reader:
            if not cells:
                continue
            if short is not None or len(cells) > len(header):
                line, number = short or (reader.line_num, len(cells))
                problem = f"{counted(number, 'cell')} where the header has {len(header)}"
                raise InputError(problem, path=place(path), where=f"line {line}")
            if len(cells) < len(header):
                short = reader.line_num, len(cells)
                continue
            block.append(cells)
            if len(block) >= _ROWS or characters >= _CHARACTERS:
                rows.extend(header, list(map(_column, zip(*block, strict=True))))
                block, characters = [], 0
    except csv.Error as error:
        raise InputError(f"no valid CSV ({error})", path=place(path), where=f"line {reader.line_num}") from error
    if block:
        rows.extend(header, list(map(_column, zip(*block, strict=True))))
    return rows, [f"line {short[0]} was not written to its end: left out"] if short else []


def _header(cells: Sequence[str], path: Path) -> list[str]:
    if len(cells) > MAX_KEYS:
        problem = f"{len(cells):,} columns, more than the {MAX_KEYS:,} of any log"
        raise InputError(problem, path=place(path), where="line 1")
    header = [name.strip() or f"column {position}" for position, name in enumerate(cells, 1)]
    twice = sorted(name for name, times in Counter(header).items() if times > 1)
    if twice:
        raise InputError(f"the header names {listing(twice)} twice", path=place(path), where="line 1")
    return header


def _column(cells: Sequence[str]) -> pa.LargeStringArray:
    texts = pa.array(cells, pa.large_string())
    missing = pc.is_in(pc.utf8_lower(pc.utf8_trim_whitespace(texts)), pa.array(_MISSING, pa.large_string()))
    return pc.if_else(missing, None, texts) if pc.any(missing).as_py() else texts
