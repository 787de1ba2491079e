"""verl's step lines: ``step:53 - actor/pg_loss:0.0008 - critic/score/mean:np.float64(0.5) - ...``.

Up to 0.4 numbers have three decimals, from 0.5 on all of them, with NumPy's scalars as ``np.float64(...)``
(verl ``verl/utils/logger/aggregate_logger.py``, ``concat_dict_to_str``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rlchecks.readers.console_literal import NUMBER, Literal, number_of, unquoted

_START = re.compile(r"step:(\d{1,13}) - ")
_ITEM = re.compile(
    rf"(?P<key>[^'\"{{}}\t:]{{1,400}}):(?:(?:np|numpy)\.\w{{1,20}}\()?(?P<number>{NUMBER}|True|False)\)?"
)
_ROUNDED = re.compile(r"-?\d+\.\d{3}|nan|-?inf")
_KEY = re.compile(r"[^\s'\"{}:]{1,400}")
_PART = re.compile(r"[^\s:]/[^\s:]+:(?:np\.\w+\()?-?\d")
_NARROWEST = 40
_LONGEST = 1000


class Line(NamedTuple):
    """A step line.

    Attributes:
        step: the step.
        row: key to number.
        rounded: whether all numbers have three decimals, as those before verl 0.5.
    """

    step: int
    row: dict[str, object]
    rounded: bool


def read_line(text: str, *, whole: bool = True) -> Line | None:
    """Read a step line; None if any of it cannot be read.

    Args:
        text: from ``step:`` on.
        whole: whether its last number is surely whole; else it is left out.
    """
    start = _START.match(text)
    if start is None:
        return None
    items = text[start.end() :].rstrip().split(" - ")
    row: dict[str, object] = {}
    rounded = True
    for item in items if whole else items[:-1]:
        found = _ITEM.fullmatch(item)
        # Only the name of a validation set may have blanks in it.
        if found is None or (" " in found["key"] and not found["key"].startswith("val")):
            return None
        row[found["key"]] = _number(found["number"])
        rounded = rounded and _ROUNDED.fullmatch(item[found.start("number") :]) is not None
    return Line(int(start[1]), row, rounded) if any("/" in key for key in row) else None


def unwrapped(first: tuple[str, int], following: Iterable[tuple[str, int]]) -> tuple[str, int, bool]:
    """Join the lines into which a terminal broke a step line.

    Args:
        first: the text of the step line's first line, and the columns that it took.
        following: those of the lines after it, of which no more are taken than necessary.

    Returns:
        The step line, how many of the following lines belong to it, and whether its last number is whole: one that
        ends where the line ends may go on in the next.
    """
    text, taken = first
    width, count, whole = taken, 0, True
    for line, columns in following:
        if not count and columns == width + 1:
            width += 1
        # A copy lacks the blank in the last column.
        lacking = width - taken
        last = (text[-_LONGEST:] + " " * lacking).rsplit(" - ", 1)[-1]
        if lacking not in (0, 1) or width < _NARROWEST or not _goes_on(last, line):
            break
        whole = " - " in last + line or _ITEM.fullmatch(last) is None
        text += " " * lacking + line
        taken = columns
        count += 1
    return text, count, whole


def _goes_on(last: str, line: str) -> bool:
    """Whether a line is the rest of a step line whose last item, as far as it was printed, is ``last``."""
    if _START.match(line):
        return False
    first, *others = (last + line).split(" - ")
    if _ITEM.fullmatch(first.rstrip()):
        return bool(line.strip())
    return not others and _KEY.fullmatch(first) is not None


def looks_logged(text: str) -> bool:
    """Whether a line that cannot be read was a step line."""
    return len(_PART.findall(text[:10_000])) > 1


def read_initial(lines: Sequence[str]) -> dict[str, object] | None:
    """Undo ``pprint`` of the text ``Initial validation metrics: {...}``, which breaks it into quoted pieces.

    Args:
        lines: from the line with that text to the one that ends it.
    """
    text = ""
    for line in lines:
        piece = unquoted(line.strip().removeprefix("(").removesuffix(")"))
        if piece is None:
            return None
        text += piece
    literal = Literal()
    return literal.pairs if literal.feed(text.partition("{")[2]) else None


def _number(token: str) -> object:
    return token == "True" if token in ("True", "False") else number_of(token)
