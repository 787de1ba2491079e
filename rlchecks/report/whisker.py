"""Held-out differences with their intervals, one row per judge and decoding, against zero and the margin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from rlchecks.report.format import interval
from rlchecks.report.inert import line
from rlchecks.report.svg import WIDTH, Axis, axis, element, picture, rule, text, tick_label

_ROW, _TOP, _LABEL = 46.0, 14.0, 21.0


class Row(NamedTuple):
    """One difference.

    Attributes:
        label: whose judgement, on which decoding.
        role: ``decisive``, ``guard``, ``grader`` or another word; decides the look.
        difference: candidate minus baseline, None when undefined.
        lower: lower limit of its interval, None when undefined.
        upper: upper limit.
    """

    label: str
    role: str
    difference: float | None
    lower: float | None
    upper: float | None


def draw(name: str, title: str, description: str, rows: Sequence[Row], margin: float | None) -> Markup:
    """Draw the rows over a common axis that always shows zero, and minus the margin if there is one."""
    marks = [0.0] + ([-margin] if margin else [])
    values = [value for row in rows for value in (row.difference, row.lower, row.upper) if value is not None]
    bottom = _TOP + _ROW * len(rows)
    across = axis(np.clip(np.array([*values, *marks]), -1e300, 1e300), 14.0, WIDTH - 14.0, pad=0.08)
    children = []
    for tick in across.ticks(6):
        x = across.at(tick)
        children.append(_beside(x, len(rows), "grid"))
        children.append(text(x, bottom + 16, f"{'+' if tick > 0 else ''}{tick_label(tick)}", "tick", "middle"))
    if margin:
        children.append(_beside(across.at(-margin), len(rows), "limit"))
    children.append(_beside(across.at(0), len(rows), "null"))
    for index, row in enumerate(rows):
        children += _row(row, _TOP + _ROW * index, across, margin or 0.0)
    zero = across.at(0)
    if zero > 80:
        children.append(text(zero - 8, bottom + 34, "← worse", "note", "end"))
    if zero < WIDTH - 80:
        children.append(text(zero + 8, bottom + 34, "better →", "note"))
    return picture(name, title, description, bottom + 42, children)


def _beside(x: float, rows: int, kind: str) -> Markup:
    """A vertical line beside the intervals of all rows; their labels stand in its gaps."""
    parts = (f"M{x:.1f} {_TOP + _ROW * index + _LABEL:.1f}v{_ROW - _LABEL:g}" for index in range(rows))
    return element("path", d=" ".join(parts), class_=kind)


def _row(row: Row, top: float, across: Axis, margin: float) -> Iterator[Markup]:
    kind = _kind(row, margin)
    y = top + 31
    numbers = interval(row.difference, row.lower, row.upper)
    yield text(across.start, top + 15, line(row.label, 62 - len(numbers)), "part")
    yield text(across.end, top + 15, numbers, "part figures", "end")
    if row.lower is not None and row.upper is not None:
        left, right = across.clamp(row.lower), across.clamp(row.upper)
        yield rule(left, y, right, y, f"whisker {kind}")
        for x in (left, right):
            yield rule(x, y - 5, x, y + 5, f"whisker {kind}")
    if row.difference is not None:
        yield element("circle", cx=across.clamp(row.difference), cy=y, r=5.5, class_=f"estimate {kind}")


def _kind(row: Row, margin: float) -> str:
    if row.role == "grader":
        return "grader"
    if row.lower is None or row.upper is None:
        return "open"
    return "good" if row.lower > -margin else "bad" if row.upper < -margin else "open"
