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
_CUT = "the last line has no line feed, so its last value may be cut off: it is taken as missing"


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


class _Lines:
    """The lines that a parser takes one by one, then an empty one, taken into a cell only if that is still open.

    Attributes:
        characters: how many were taken since this was last set to 0.
        ended: whether the last line has its end, or its last cell has.
        over: whether all lines were taken.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = lines
        self.characters = 0
        self.ended = True
        self.over = False

    def __iter__(self) -> Iterator[str]:
        line = ""
        for line in self._lines:
            self.characters += len(line)
            yield line
        # A number in quotation marks that are closed is whole: nothing can be cut off.
        self.ended = line.endswith(("\n", "\r", '"'))
        self.over = True
        yield ""


class _Spans:
    """Counts the rows that go on over several lines: a stray quotation mark makes one row of many."""

    def __init__(self) -> None:
        self._number = 0
        self._longest = (0, 0)

    def add(self, first: int, last: int) -> None:
        self._number += 1
        self._longest = max(self._longest, (last - first + 1, -first))

    def warnings(self) -> list[str]:
        if not self._number:
            return []
        lines, first = self._longest
        others = f"; so do {counted(self._number - 1, 'other')}, over no more lines" if self._number > 1 else ""
        return [f"line {-first}: a cell in quotation marks goes on over {lines} lines{others}"]


def delimited(lines: Iterable[str], path: Path) -> tuple[Rows, list[str]]:
    """Read a table whose first line names its columns.

    All cells are texts; those that are empty or say so are missing. So is the last one of a file that does not end
    with a line end or a quotation mark, since ``0.42`` may be the beginning of ``0.423``.

    Args:
        lines: the lines with what ends them; cells in quotation marks may go on from one to the next.
        path: the file, for errors.

    Returns:
        The rows, and what to tell: a last line with too few cells was not written to its end and is left out; the
        last value may be cut off; the longest row that goes on over several lines.

    Raises:
        InputError: a line is damaged, a quotation mark is never closed, or there is more than is kept.
    """
    rows = Rows(path)
    block: list[list[str]] = []
    spans = _Spans()
    short: tuple[str, int] | None = None
    remaining = iter(lines)
    first = next(remaining, "")
    taken = _Lines(chain([first], remaining))
    reader = csv.reader(taken, delimiter=delimiter(first))
    header: list[str] = []
    end = 0
    try:
        names = next(reader, [])
        for cells in chain([names], reader):
            start, end = end + 1, reader.line_num
            if not cells:
                continue
            if taken.over:
                raise _unclosed(cells[-1], end - 1, path)
            if end > start:
                spans.add(start, end)
            if cells is names:
                header = _header(names, path)
                continue
            if short is not None or len(cells) > len(header):
                where, number = short or (_where(start, end), len(cells))
                problem = f"{counted(number, 'cell')} where the header has {len(header)}"
                raise InputError(problem, path=place(path), where=where)
            if len(cells) < len(header):
                short = _where(start, end), len(cells)
                continue
            # The last row stays in the block until the end of the file has been seen.
            if len(block) >= _ROWS or (block and taken.characters >= _CHARACTERS):
                rows.extend(header, list(map(_column, zip(*block, strict=True))))
                block, taken.characters = [], 0
            block.append(cells)
    except csv.Error as error:
        raise InputError(f"no valid CSV ({error})", path=place(path), where=f"line {end + 1}") from error
    warnings = spans.warnings()
    if short is not None:
        warnings.append(f"{short[0]} was not written to its end: left out")
    elif block and not taken.ended and _without_last(block[-1]):
        warnings.append(_CUT)
    if block:
        rows.extend(header, list(map(_column, zip(*block, strict=True))))
    return rows, warnings


def _where(start: int, end: int) -> str:
    return f"line {start}" if start == end else f"lines {start} to {end}"


def _unclosed(cell: str, last: int, path: Path) -> InputError:
    # What is open at the end of the file is the last cell: it holds all that follows its quotation mark.
    opened = last + 1 - max(1, len(_LINE.findall(cell)))
    problem = "a quotation mark opens a cell that is not closed before the end of the file"
    return InputError(problem, path=place(path), where=f"line {opened}", todo="close it or remove it")


def _without_last(cells: list[str]) -> bool:
    for at in reversed(range(len(cells))):
        if cells[at].strip():
            cells[at] = ""
            return True
    return False


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
