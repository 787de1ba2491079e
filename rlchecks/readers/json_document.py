"""A JSON document read from front to back, so that a long list in it never is in memory as a whole."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from rlchecks.errors import InputError
from rlchecks.readers.files import Objects
from rlchecks.readers.json_lines import PACK_BYTES
from rlchecks.readers.rows import Rows
from rlchecks.readers.stream import MAX_LINE, Stream
from rlchecks.readers.text import GZIP, UTF16_MARKS, counted, decode, place
from rlchecks.run import InputFile

_SPACE = re.compile(r"[ \t\n\r]*")
# What is nearer to the end of the text than the longest word or escape is long may come of its being cut there.
_NEAR = 16


class JsonDocument:
    """A JSON document, bare ``NaN`` and ``Infinity`` included; of a key that an object has twice the last counts.

    It is read by whoever knows what is in it: :meth:`opens` tells what comes next, and then :meth:`value`,
    :meth:`elements`, :meth:`rows` or :meth:`members` reads it, at the end :meth:`close`.

    Args:
        path: the file.
        longest: most characters of a value that is read as a whole.

    Raises:
        InputError: from all methods: the file cannot be read, is no UTF-8 or no JSON, is nested too deeply, or a value
            is longer than ``longest``.
    """

    def __init__(self, path: Path, longest: int = MAX_LINE) -> None:
        self._path = path
        self._longest = longest
        self._stream = Stream(path)
        self._texts = self._decoded()
        self._objects = Objects()
        self._decoder = json.JSONDecoder(object_pairs_hook=self._objects)
        self._text = ""
        self._at = 0
        # Where the text begins in the file.
        self._line = self._column = 1
        self.taken = 0
        """Characters of the text that was read so far."""

    @property
    def source(self) -> InputFile:
        """The record of what was read."""
        return self._stream.source

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was noticed."""
        number = self._objects.repeated
        return (f"{counted(number, 'object')} with a key given twice: the last value counts",) if number else ()

    def opens(self) -> str:
        """Return the next character that is no space, without reading it; nothing at the end."""
        while True:
            found = _SPACE.match(self._text, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._text) or not self._more():
                return self._text[self._at : self._at + 1]

    def value(self) -> Any:
        """Read a value as a whole."""
        self.opens()
        while True:
            repeated = self._objects.repeated
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                cut = error.pos >= len(self._text) - _NEAR or error.msg.startswith("Unterminated string")
                if not cut or not self._more():
                    raise self._invalid(error.msg, error.pos) from error
            except RecursionError as error:
                raise InputError("the JSON is nested too deeply for a log", path=place(self._path)) from error
            except ValueError as error:
                # Python refuses integers of more than 4300 digits.
                raise InputError(f"a number cannot be read ({error})", path=place(self._path)) from error
            else:
                # A number that ends where the text ends may go on: 2.5 with 0 or e-3.
                if end <= len(self._text) - _NEAR or not isinstance(value, (int, float)) or not self._more():
                    self._at = end
                    return value
            self._objects.repeated = repeated

    def elements(self) -> Iterator[Any]:
        """Read a list, one value after the other."""
        self._take("[", "value")
        if self.opens() == "]":
            self._at += 1
            return
        while True:
            yield self.value()
            if not self._goes_on("]"):
                return

    def rows(self, name: str, expected: str) -> Rows:
        """Read a list of objects, in memory that does not grow with their texts alone.

        Args:
            name: of the list, for the error about an element that is no object.
            expected: what was expected instead.
        """
        rows = Rows(self._path)
        packed = self.taken
        for index, row in enumerate(self.elements()):
            if not isinstance(row, dict):
                raise InputError(f"expected {expected}", path=place(self._path), where=f"{name}[{index}]")
            rows.append(row)
            if self.taken - packed > PACK_BYTES:
                packed = self.taken
                rows.pack()
        return rows

    def members(self) -> Iterator[str]:
        """Read the keys of an object; after each of them its value has to be read."""
        seen: set[str] = set()
        twice = False
        self._take("{", "value")
        if self.opens() == "}":
            self._at += 1
            return
        while True:
            if self.opens() != '"':
                raise self._invalid("Expecting property name enclosed in double quotes", self._at)
            key = self.value()
            self._take(":", "':' delimiter")
            twice |= key in seen
            seen.add(key)
            yield key
            if not self._goes_on("}"):
                break
        self._objects.repeated += twice

    def close(self) -> None:
        """Make sure that nothing follows."""
        if self.opens():
            raise self._invalid("Extra data", self._at)

    def _take(self, character: str, expected: str) -> None:
        if self.opens() != character:
            raise self._invalid(f"Expecting {expected}", self._at)
        self._at += 1

    def _goes_on(self, end: str) -> bool:
        """Read what stands after an element: a comma, or the end."""
        character = self.opens()
        if character not in (",", end):
            raise self._invalid("Expecting ',' delimiter", self._at)
        self._at += 1
        return character == ","

    def _more(self) -> bool:
        """Read at least as much again as is still to be looked at, which is kept."""
        rest = len(self._text) - self._at
        if rest > self._longest:
            where = f"line {self._place(self._at)[0]}"
            problem = f"a value longer than {self._longest:,} characters, the most that is read"
            raise InputError(problem, path=place(self._path), where=where)
        new: list[str] = []
        try:
            while sum(map(len, new)) <= rest and (text := next(self._texts, None)) is not None:
                new.append(text)
        except UnicodeDecodeError as error:
            before = "".join([self._text, *new]).count("\n") + error.object.count(b"\n", 0, error.start)
            problem, where = "the text is no UTF-8", f"line {self._line + before}"
            raise InputError(problem, path=place(self._path), where=where, todo="save it as UTF-8") from error
        if new:
            self._line, self._column = self._place(self._at)
            self._text = "".join([self._text[self._at :], *new])
            self._at = 0
        return bool(new)

    def _decoded(self) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder("utf-8")()
        for block in chain(self._stream.blocks(), [b""]):
            first = not self.taken
            if first and (block.startswith((GZIP, *UTF16_MARKS)) or b"\0" in block[:2]):
                decode(block[:2], self._path)
            text = decoder.decode(block, final=not block)
            self.taken += len(text)
            yield text.removeprefix("\ufeff") if first else text

    def _place(self, at: int) -> tuple[int, int]:
        """Find the line and the column in the file of a place in the text."""
        before = self._text.rfind("\n", 0, at)
        column = self._column + at if before < 0 else at - before
        return self._line + self._text.count("\n", 0, at), column

    def _invalid(self, problem: str, at: int) -> InputError:
        line, column = self._place(at)
        where = f"line {line}, column {column}"
        todo = "the file may be cut off or not written to its end"
        return InputError(f"no valid JSON ({problem})", path=place(self._path), where=where, todo=todo)
