"""torchtune's lines ``Step 5 | loss:0.25 rewards:tensor(0.5) ...`` (its ``torchtune/training/metric_logging.py``)."""

from __future__ import annotations

import re
from typing import NamedTuple

from rlchecks.readers.console_literal import BOXED, NUMBER, number_of

_START = re.compile(r"Step (\d{1,13}) \| ")
_ITEM = re.compile(rf"(?P<key>[^\s:|]{{1,400}}):(?:{BOXED}|(?P<number>{NUMBER})|(?P<text>\S{{1,400}}))(?P<end> |\Z)")


class Line(NamedTuple):
    """A line.

    Attributes:
        step: the step.
        row: name to number, or to text.
        whole: whether all of it could be read.
    """

    step: int
    row: dict[str, object]
    whole: bool


def read_line(text: str, *, ended: bool) -> Line | None:
    """Read a line; None if it is none.

    Args:
        text: from ``Step`` on.
        ended: whether a line feed ended it; without, a last value without the blank behind it may be cut.
    """
    start = _START.match(text)
    if start is None:
        return None
    row: dict[str, object] = {}
    at, stop = start.end(), len(text.rstrip())
    while at < stop and (item := _ITEM.match(text, at)):
        if ended or item["end"]:
            token = item["boxed"] or item["number"]
            row[item["key"]] = item["text"] if token is None else number_of(token)
        at = item.end()
    numeric = any(not isinstance(value, str) for value in row.values())
    return Line(int(start[1]), row, at >= stop) if numeric else None
