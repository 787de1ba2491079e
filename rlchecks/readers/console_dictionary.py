"""A printed dictionary in terminal text, also where the terminal broke its lines or a progress bar came between.

What was cut apart is joined only if it must belong together; otherwise the dictionary is given up:

- a line may end behind a comma, colon or brace, where programs break lines;
- a line that ends elsewhere was broken by a terminal, so that all lines but the last took its whole width;
- a progress bar may come between at any place, as it does where rows go through a buffer and bars do not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from rlchecks.readers.console_bars import end_of_bar
from rlchecks.readers.console_literal import MAX_TEXT, Joint, Literal
from rlchecks.readers.console_pieces import Pieces
from rlchecks.readers.console_text import Piece, columns

_MOST_PIECES = 20_000
_MOST_FOREIGN = 200
_NARROWEST = 20
_BRACE = re.compile(r"[{}]")
_LETTER = re.compile(r"\S")


class Printed(NamedTuple):
    """A dictionary, or what there is of it.

    Attributes:
        pairs: key to value; if it is not whole, those that were read before the place where it could not be.
        quoted: whether it has numbers in quotation marks.
        whole: whether it was read to its end, and its parts must belong together.
        joined: whether it is more than one piece.
        at_end: whether the text ended before it did.
        line: the line where it ended, or where it could not be read on.
        rest: what is to be read next.
        damaged: whether bytes of it were no UTF-8.
    """

    pairs: dict[str, object]
    quoted: bool
    whole: bool
    joined: bool
    at_end: bool
    line: int
    rest: list[Piece]
    damaged: bool


class _Part(NamedTuple):
    """What one piece holds of a dictionary: its text, what kind of place the end is, and the columns it took."""

    text: str
    joint: Joint
    width: int
    interrupted: bool


class _Following(NamedTuple):
    """Where a dictionary goes on: from which character of the piece last used; None if it does not."""

    start: int | None
    interrupted: bool = False
    at_end: bool = False


def read_dictionary(piece: Piece, at: int, pieces: Pieces) -> Printed:
    """Read a dictionary.

    Args:
        piece: the piece that it begins in.
        at: where in it the opening brace is.
        pieces: what follows.
    """
    literal, used, parts, foreign = Literal(), [piece], list[_Part](), list[Piece]()
    start, at_end = at + 1, False
    while True:
        last = used[-1]
        end = literal.feed(last.text, start)
        if end != 0:
            break
        following = _following(used, foreign, literal.joint, pieces)
        if following.start is None:
            end, at_end = None, following.at_end
            break
        parts.append(_Part(last.text[start:], literal.joint, last.width, following.interrupted))
        start = following.start
    line = used[-1].line
    # Whatever is no dictionary is looked through again, since there may be one in it.
    again = [piece._replace(start=at + 1), *used[1:], *foreign]
    if end is None:
        return Printed(literal.pairs, literal.quoted > 0, False, bool(parts), at_end, line, again, False)
    whole = _is_last(last.text, end)
    broken = [part for part in parts if not part.interrupted]
    if any(part.joint.hard for part in broken):
        screen = max(part.width for part in broken)
        whole = whole and screen >= _NARROWEST and last.width <= screen
        whole = whole and all(screen - part.width in (0, 1) for part in broken)
        if any(part.joint.quoted and part.width < screen for part in broken):
            literal = Literal()
            whole = bool(literal.feed(_with_blanks(parts, last.text[start:end], screen))) and whole
    damaged = any(one.damaged for one in used)
    rest = [last._replace(start=end), *foreign] if whole else again
    return Printed(literal.pairs, literal.quoted > 0, whole, bool(parts), False, line, rest, damaged)


def _following(used: list[Piece], foreign: list[Piece], joint: Joint, pieces: Pieces) -> _Following:
    """Find the piece where a dictionary goes on.

    All that are looked at are appended to ``used``, or, if another process printed them, to ``foreign``.
    """
    source, interrupted = used[0].source, False
    size = sum(len(piece.text) for piece in foreign)
    while len(used) + len(foreign) < _MOST_PIECES and len(foreign) < _MOST_FOREIGN and size < MAX_TEXT:
        overwritten = used[-1].end == "\r"
        piece = pieces.next()
        if piece is None:
            return _Following(None, interrupted, at_end=True)
        size += len(piece.text) - piece.start
        if piece.source not in (None, source):
            foreign.append(piece)
            continue
        used.append(piece)
        start = end_of_bar(piece.text) if piece.start == 0 else piece.start
        interrupted = interrupted or overwritten or start > 0
        if _LETTER.search(piece.text, start):
            return _Following(None if overwritten and not start else start, interrupted)
        if joint.hard and not interrupted:
            break
    return _Following(None)


def _is_last(text: str, end: int) -> bool:
    """Whether what stands behind a dictionary is not the rest of another, with which it was mixed."""
    brace = _BRACE.search(text, end)
    return brace is None or brace[0] == "{"


def _with_blanks(parts: Sequence[_Part], last: str, screen: int) -> str:
    """Join parts, with the blank that a copy lacks where one was in the last column, inside of a text.

    A letter that takes two columns leaves the last one empty, too, when it goes to the next line.
    """
    texts = [*(part.text for part in parts), last]
    for number, part in enumerate(parts):
        if part.joint.quoted and part.width < screen and not part.interrupted and columns(texts[number + 1][:1]) == 1:
            texts[number] += " "
    return "".join(texts)
