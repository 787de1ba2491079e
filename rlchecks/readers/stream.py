"""Reading a file once from front to back, however large: hashed on the way, never held as a whole."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rlchecks.errors import InputError
from rlchecks.readers.files import regular_size, unreadable
from rlchecks.readers.text import clean, place
from rlchecks.run import InputFile

MAX_LINE = 16 << 20
"""Longest line, in bytes, that is taken as a whole; a row of 20,000 keys is shorter than 1 MiB."""

_BLOCK = 1 << 20


class Line(NamedTuple):
    """A line of a file.

    Attributes:
        number: from 1.
        data: its bytes without the line feed; the first ``longest`` of them if it is longer.
        whole: whether ``data`` is all of it.
        ended: whether a line feed ended it; the last line of a log that is still written has none.
    """

    number: int
    data: bytes
    whole: bool
    ended: bool


class Stream:
    """A regular file, read once.

    Use one of :meth:`blocks` and :meth:`lines` once and to its end; then :attr:`source` is the record of the reading.

    Raises:
        InputError: from the iteration: the file is missing, unreadable, no regular file, or empty.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._hash = hashlib.sha256()
        self._bytes = 0

    @property
    def source(self) -> InputFile:
        """The record of what was read so far."""
        return InputFile(clean(str(self.path)), self._hash.hexdigest(), self._bytes)

    def blocks(self, size: int = _BLOCK) -> Iterator[bytes]:
        """Yield the file in blocks of ``size`` bytes; the last may be shorter."""
        regular_size(self.path)
        try:
            with open(self.path, "rb") as file:
                while block := file.read(size):
                    self._hash.update(block)
                    self._bytes += len(block)
                    yield block
        except OSError as error:
            raise unreadable(self.path, error) from error
        if not self._bytes:
            raise InputError("the file is empty", path=place(self.path))

    def lines(self, longest: int = MAX_LINE) -> Iterator[Line]:
        """Yield the lines; of one longer than ``longest`` bytes its beginning."""
        number = 1
        rest: list[bytes] = []
        held = 0
        for block in self.blocks():
            first, *others = block.split(b"\n")
            if held <= longest:
                rest.append(first)
            held += len(first)
            if not others:
                continue
            yield _line(number, rest, held, longest, ended=True)
            for data in others[:-1]:
                number += 1
                yield _line(number, [data], len(data), longest, ended=True)
            number += 1
            rest, held = [others[-1]], len(others[-1])
        if held:
            yield _line(number, rest, held, longest, ended=False)


def _line(number: int, parts: list[bytes], held: int, longest: int, *, ended: bool) -> Line:
    whole = held <= longest
    data = parts[0] if len(parts) == 1 else b"".join(parts)
    return Line(number, data if whole else data[:longest], whole, ended)
