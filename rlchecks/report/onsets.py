"""Where findings began, as lettered vertical lines in the charts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup

from rlchecks.report.svg import WIDTH, Axis, element, rule, text


class Onset(NamedTuple):
    """A step at which a finding began, and the finding's letter."""

    step: int
    tag: str


def onset_lines(onsets: Sequence[Onset], across: Axis, top: float, bottom: float) -> Iterator[Markup]:
    """A dotted line per onset between ``top`` and ``bottom``, with its letter above; those beyond the axis left out."""
    seen = sorted(onset for onset in onsets if across.low <= onset.step <= across.high)
    groups: list[tuple[float, str]] = []
    for onset in seen:
        x = across.at(onset.step)
        yield rule(x, top - 4, x, bottom, "onset")
        # Letters closer than a label's width share one label.
        if groups and x - groups[-1][0] < 18 + 8 * len(groups[-1][1]):
            groups[-1] = groups[-1][0], f"{groups[-1][1]} {onset.tag}"
        else:
            groups.append((x, onset.tag))
    for x, tag in groups:
        width = 9.0 + 8.0 * len(tag)
        left = min(max(x - width / 2, 0.0), WIDTH - width)
        yield element("rect", x=left, y=top - 20, width=width, height=16.0, rx=8.0, class_="tag")
        yield text(left + width / 2, top - 8, tag, "tag-text", "middle")
