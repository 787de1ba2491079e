"""JSON Lines, one object a line, read once and never held as a whole."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from rlchecks.errors import InputError
from rlchecks.readers.files import Objects
from rlchecks.readers.rows import Row, Rows
from rlchecks.readers.stream import MAX_LINE, Line, Stream
from rlchecks.readers.text import GZIP, UTF16_MARKS, counted, decode, place, readable_part
from rlchecks.run import InputFile

PACK_BYTES = 16 << 20
"""After so many bytes of input, rows are made compact: a row may hold texts of any length."""

_MARK = b"\xef\xbb\xbf"
_BLANK = re.compile(r"\s*")


class JsonLines:
    """The objects of a JSON Lines file with the numbers of their lines.

    To be iterated once and to its end; then :attr:`source` and :attr:`warnings` are complete. Blank lines are passed
    over, a byte order mark too. The last line of a log that was killed is torn: it is left out with a warning.

    Raises:
        InputError: from the iteration: the file cannot be read, a line is no UTF-8, no JSON or no object, or longer
            than ``longest``.
    """

    def __init__(self, path: Path, longest: int = MAX_LINE) -> None:
        self._path = path
        self._longest = longest
        self._stream = Stream(path)
        self._objects = Objects()
        self._torn: int | None = None
        self.taken = 0
        """Bytes of the lines that were read so far."""

    def __iter__(self) -> Iterator[tuple[int, Row]]:
        """Yield the number of each line, from 1, and its object."""
        decoder = json.JSONDecoder(object_pairs_hook=self._objects)
        fault: InputError | None = None
        good = False
        for line in self._stream.lines(self._longest):
            data = line.data.removeprefix(_MARK) if line.number == 1 else line.data
            self.taken += len(data)
            if not data or data.isspace():
                continue
            if fault is not None:
                raise fault
            if not line.whole:
                longest = f"longer than {self._longest:,} bytes, the most that is read"
                raise InputError(longest, path=place(self._path), where=f"line {line.number}")
            try:
                row = self._parse(line, data, decoder)
            except InputError as error:
                if not good:
                    raise
                # Whether it is the last line, and so a torn one, is known when no other follows.
                fault, self._torn = error, line.number
                continue
            if not isinstance(row, dict):
                raise InputError("expected an object", path=place(self._path), where=f"line {line.number}")
            good = True
            yield line.number, row

    @property
    def source(self) -> InputFile:
        """The record of what was read."""
        return self._stream.source

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was noticed."""
        warnings = []
        if self._torn is not None:
            warnings.append(f"line {self._torn} was not written to its end: left out")
        if self._objects.repeated:
            number = counted(self._objects.repeated, "object")
            warnings.append(f"{number} with a key given twice: the last value counts")
        return tuple(warnings)

    def _parse(self, line: Line, data: bytes, decoder: json.JSONDecoder) -> object:
        where = f"line {line.number}"
        if line.number == 1 and data.startswith((GZIP, *UTF16_MARKS)):
            decode(data, self._path)
        try:
            row = decoder.decode(data.decode())
        except UnicodeDecodeError as error:
            raise InputError(
                "the text is no UTF-8", path=place(self._path), where=where, todo="save it as UTF-8"
            ) from error
        except (ValueError, RecursionError) as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply or a number too long"
            raise InputError(
                f"no valid JSON ({reason})", path=place(self._path), where=where, todo="repair or remove it"
            ) from error
        return row


def collect(lines: JsonLines, rows: Rows, row_of: Callable[[int, Row], Row | None] = lambda number, row: row) -> None:
    """Append the lines to rows, in memory that does not grow with their texts alone.

    Args:
        lines: read to their end.
        rows: what they are appended to.
        row_of: makes a row of the number of a line and its object; None leaves it out.

    Raises:
        InputError: a line cannot be read, or there is too much for memory.
    """
    packed = 0
    for number, line in lines:
        row = row_of(number, line)
        if row is not None:
            rows.append(row)
        if lines.taken - packed > PACK_BYTES:
            packed = lines.taken
            rows.pack()


def first_object(head: bytes) -> Row:
    """Parse the first object of a file from its beginning; empty if it is cut off or there is none.

    Never raises.
    """
    text = readable_part(head)
    begins = _BLANK.match(text)
    at = begins.end() if begins else 0
    if text[at : at + 1] != "{":
        return {}
    try:
        row, _ = json.JSONDecoder().raw_decode(text, at)
    except (ValueError, RecursionError):
        return {}
    return row if isinstance(row, dict) else {}
