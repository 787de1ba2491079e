"""Terminal text made plain: without escape sequences, and without what was put before each line."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

CONTEXT = 800
"""How much of what is around a piece is looked at, in bytes."""

_ESCAPES = re.compile(rb"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)|[()][0-9A-B]|[78=>cDEHM])")
_TIME = re.compile(r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?:? ")
_SOURCE = re.compile(
    r"\((?P<ray>(?:[^()\s]{1,80} )?pid=\d{1,10}(?:, ip=[^()\s]{1,60})?)\) ?"
    r"|\[(?P<tag>(?:rank|default|trainer)\d{1,5})\]: ?"
    r"| {0,4}(?P<rank>\d{1,5}): "
)


# Ray writes this behind a line that several processes printed.
_REPEATED = re.compile(r" ?\[repeated \d{1,9}x across cluster\][^\[]*\Z")
_LONGEST_REMARK = 400


class Piece(NamedTuple):
    """A piece of terminal text.

    Attributes:
        text: without escape sequences, zero bytes, time stamp, prefix, and Ray's remark about repeated lines.
        line: number of its line, from 1.
        source: which process printed it, as Ray, SLURM (``--label``) and torchrun write before each line; else None.
        width: columns that it took on the terminal, prefix included.
        end: the line feed or carriage return that ended it; nothing at the end of the text.
        before: raw bytes that stood before it, some hundred.
        damaged: whether some of it was no UTF-8.
        start: where in the text what was not read yet begins.
    """

    text: str
    line: int
    source: str | None
    width: int
    end: str
    before: bytes
    damaged: bool
    start: int = 0

    def context(self, at: int) -> str:
        """Return what stands before a place in the text, some hundred characters; in the lines before, too."""
        before = self.text[max(0, at - CONTEXT) : at]
        return before if at >= CONTEXT else clean_text(self.before)[0] + before


def clean_text(raw: bytes) -> tuple[str, bool]:
    """Decode terminal text without its escape sequences; and tell whether it was damaged."""
    if b"\x1b" in raw:
        raw = _ESCAPES.sub(b"", raw)
    try:
        return raw.decode("utf-8"), False
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace"), True


def columns(text: str) -> int:
    """Count the columns that text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def piece_of(raw: bytes, line: int, end: str, before: bytes) -> Piece:
    """Make a piece of the bytes between two ends of lines; the arguments are those of :class:`Piece`."""
    text, damaged = clean_text(raw)
    width = columns(text)
    remark = _REPEATED.search(text, max(0, len(text) - _LONGEST_REMARK)) if text.endswith(")") else None
    text = text[: remark.start()] if remark else text
    source = None
    at = 0
    for _ in range(2):
        if stamp := _TIME.match(text, at):
            at = stamp.end()
        if source is None and (mark := _SOURCE.match(text, at)):
            source, at = mark["ray"] or mark["tag"] or f"rank {mark['rank']}", mark.end()
    return Piece(text[at:], line, source, width, end, before, damaged)
