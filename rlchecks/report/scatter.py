"""Reward against KL: where the run stood at each step, early steps pale and late ones dark."""

from __future__ import annotations

import numpy as np

from rlchecks.report.format import count
from rlchecks.report.plot import Drawing
from rlchecks.report.series import Series, thin
from rlchecks.report.svg import WIDTH, axis, core, element, picture, points, rule, text, tick_label

SHADES = 6
"""Number of colours from the first to the last step."""


def draw(
    name: str, title: str, description: str, across: Series, up: Series, labels: tuple[str, str]
) -> Drawing | None:
    """Draw one series against another.

    Args:
        name: unique id prefix on the page.
        title: announced by screen readers.
        description: likewise.
        across: horizontal values; both series are of the same rows.
        up: vertical values.
        labels: names of the two axes.

    Returns:
        The chart, or None when no row has both values. Far outliers of the horizontal values stand at the edge.
    """
    both = np.isfinite(across.values) & np.isfinite(up.values)
    if not both.any():
        return None
    nothing = np.empty(0)
    xs_, ys_ = (thin(Series(s.steps[both], s.values[both], nothing)).mean for s in (across, up))
    down = axis(ys_, 192.0, 24.0, include=(0.0, 1.0) if ys_.min() >= 0 and ys_.max() <= 1 else ())
    left = max(36.0, 12.0 + 7.4 * max(len(tick_label(tick)) for tick in down.ticks(4)))
    along = axis(core(xs_), left, WIDTH - 12.0, include=(0.0,) if xs_.min() >= 0 else ())
    xs, ys = along.all(np.clip(xs_, along.low, along.high)), down.all(ys_)
    beyond = int(np.count_nonzero((xs_ < along.low) | (xs_ > along.high)))
    children = []
    for tick in down.ticks(4):
        children.append(rule(left, down.at(tick), along.end, down.at(tick), "zero" if tick == 0 else "grid"))
        children.append(text(left - 7, down.at(tick) + 4, tick_label(tick), "tick", "end"))
    for tick in along.ticks(6):
        children.append(rule(along.at(tick), down.end, along.at(tick), down.start, "grid"))
        children.append(text(along.at(tick), down.start + 17, tick_label(tick), "tick", "middle"))
    children.append(text(left, 15.0, labels[1], "note strong"))
    children.append(text(along.end, down.start + 34, labels[0], "note strong", "end"))
    if len(xs) > 1:
        children.append(element("polyline", points=points(xs, ys), class_="path"))
    shades = np.arange(len(xs)) * SHADES // len(xs)
    for x, y, shade in zip(xs.tolist(), ys.tolist(), shades.tolist(), strict=True):
        children.append(element("circle", cx=x, cy=y, r=3.2, class_=f"s{shade}"))
    notes = [f"{count(beyond, 'point')} beyond the chart, drawn at its edge."] if beyond else []
    return Drawing(picture(name, title, description, 232.0, children), notes)
