"""Console output of trainers: what a terminal showed, as captured in a file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from rlchecks.readers.console_log import read_log, runs_in
from rlchecks.readers.console_scan import first_row, scan
from rlchecks.readers.registry import ReadOptions
from rlchecks.readers.stream import Stream
from rlchecks.readers.text import GZIP, UTF16_MARKS, decode
from rlchecks.run import RunLog

LOOKED_AT = 32 << 20
"""Bytes at the beginning of a file that are searched for a logged row to tell whether it is a log; of a larger one
also :data:`WINDOWS` evenly spread pieces of a mebibyte."""

WINDOWS = 32

_BLOCK = 1 << 20


class ConsoleReader:
    """Reads what trainers print: Hugging Face's and TRL's dictionaries, verl's lines, and those of others."""

    name = "console"
    suffixes = frozenset({".log", ".out", ".txt", ".err"})
    looks_for = (
        "console output of a trainer (.log, .out, .txt, .err) with logged rows, such as {'loss': 0.1, 'reward': 0.5,"
        " ..., 'epoch': 0.1} or 'step:1 - critic/score/mean:0.5 - ...'"
    )

    def holds(self, names: Iterable[str]) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`; no directory is console output."""
        return False

    def detect(self, path: Path, head: bytes) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`; whether there is a logged row in what is looked at."""
        suffix = path.suffix.lower()
        # Rotated logs end in a number.
        if suffix not in self.suffixes and suffix and not suffix[1:].isdigit():
            return False
        if path.is_dir() or head.startswith((GZIP, *UTF16_MARKS)):
            return False
        return first_row(_samples(path)) is not None

    def parts(self, path: Path) -> list[str]:
        """See :class:`rlchecks.readers.registry.Reader`; runs without a reward are not listed.

        Raises:
            InputError: the file cannot be read.
        """
        return runs_in(scan(_text(Stream(path)), path).entries, {}).named

    def opening(self, path: Path, part: str | None = None) -> str | None:
        """See :class:`rlchecks.readers.registry.Reader`; the first row.

        Raises:
            InputError: the file cannot be read.
        """
        if part is None:
            first = first_row(_text(Stream(path)))
        else:
            found = scan(_text(Stream(path)), path)
            first = found.rows[runs_in(found.entries, {}).all[int(part) - 1].entries[0].at]
        return json.dumps(first, sort_keys=True, default=str) if first else None

    def read(self, path: Path, options: ReadOptions) -> RunLog:
        """See :class:`rlchecks.readers.registry.Reader`."""
        stream = Stream(path)
        found = scan(_text(stream), path)
        return read_log(path, found, stream.source, options)


def _text(stream: Stream) -> Iterator[bytes]:
    """Yield the blocks of a file, unless it is compressed or UTF-16."""
    first = True
    for block in stream.blocks():
        if first and (block.startswith((GZIP, *UTF16_MARKS)) or _is_utf16(block[:64])):
            decode(block[:2], stream.path)
        first = False
        yield block


def _is_utf16(head: bytes) -> bool:
    """Whether every other byte is zero, as in UTF-16 without a mark; a gap of zeros is another thing."""
    return {head[::2].count(0) > len(head) // 3, head[1::2].count(0) > len(head) // 3} == {True, False}


def _samples(path: Path) -> Iterator[bytes]:
    """Yield what is looked at to tell whether a file is a log; nothing of a file that cannot be read."""
    try:
        size = path.stat().st_size
        with open(path, "rb") as file:
            while file.tell() < LOOKED_AT and (block := file.read(_BLOCK)):
                yield block
            step = max((size - LOOKED_AT) // WINDOWS, _BLOCK)
            for begin in range(LOOKED_AT, size, step):
                file.seek(begin)
                yield file.read(_BLOCK)
                yield b"" if step == _BLOCK else b"\n"
    except OSError:
        return
