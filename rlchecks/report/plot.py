"""Line charts over steps: raw values, their range where thinned, a trend, gaps, onsets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from rlchecks.report.format import count, number
from rlchecks.report.onsets import Onset, onset_lines
from rlchecks.report.series import Numbers, Series, Thinned, segments, thin, trend
from rlchecks.report.svg import WIDTH, Axis, axis, core, element, picture, points, rule, text, tick_label
from rlchecks.signals.catalogue import WINDOW

_TOP, _BOTTOM, _RIGHT = 24.0, 26.0, 12.0
_WINDOW_LABEL = 36.0


@dataclass(frozen=True)
class Line:
    """One series in a chart.

    Attributes:
        series: what is drawn.
        colour: which of the page's eight series colours.
        style: ``trend`` (raw values faint under their moving mean), ``smooth`` (the moving mean alone) or ``dots``.
    """

    series: Series
    colour: int = 0
    style: str = "trend"


@dataclass(frozen=True)
class Facet:
    """One plot area; the facets of a chart stand above each other and share their steps.

    Attributes:
        lines: the series, the first one on top.
        height: height of the area in the chart's units.
        title: short label inside the area, when there are several.
        as_percent: whether the values are fractions.
        include: values that the axis must reach.
        limit: a value to mark with a horizontal line, and its label.
        windows: whether to shade the early and the late window of the first series.
        spiky: whether far outliers are drawn at the edge instead of stretching the axis.
    """

    lines: Sequence[Line]
    height: float = 168.0
    title: str = ""
    as_percent: bool = False
    include: tuple[float, ...] = ()
    limit: tuple[float, str] | None = None
    windows: bool = False
    spiky: bool = False


class Drawing(NamedTuple):
    """A chart, and what must be said below it."""

    svg: Markup
    notes: list[str]


def draw(
    name: str,
    title: str,
    description: str,
    facets: Sequence[Facet],
    span: tuple[float, float],
    onsets: Sequence[Onset] = (),
) -> Drawing:
    """Draw facets over a range of steps.

    Args:
        name: unique id prefix on the page.
        title: announced by screen readers.
        description: likewise.
        facets: at least one, each with at least one series that is not empty.
        span: first and last step of the run, the same for all its charts.
        onsets: vertical lines; those outside the steps are left out.
    """
    reduced = [[thin(line.series) for line in facet.lines] for facet in facets]
    scales = [_scale(facet, thinned) for facet, thinned in zip(facets, reduced, strict=True)]
    labels = [
        tick_label(tick, as_percent=f.as_percent)
        for f, scale in zip(facets, scales, strict=True)
        for tick in scale.ticks(_ticks(f))
    ]
    left = max(36.0, 12.0 + 7.4 * max(map(len, labels), default=0))
    first, last = span
    across = (
        Axis(first, last, left, WIDTH - _RIGHT) if last > first else Axis(first - 1, last + 1, left, WIDTH - _RIGHT)
    )
    children: list[Markup] = []
    notes: list[str] = []
    # Letters of onsets stand above the titles of the plot areas.
    top = _TOP + 15 * any(facet.title for facet in facets)
    for facet, thinned, scale in zip(facets, reduced, scales, strict=True):
        down = Axis(scale.low, scale.high, top + facet.height, top)
        children += _frame(facet, across, down)
        for line, points_ in reversed(list(zip(facet.lines, thinned, strict=True))):
            children += _line(line, points_, across, down)
        notes += _notes(facet, thinned, scale)
        top += facet.height + 22
    bottom = top - 22
    ticks = [tick for tick in across.ticks(6) if tick == round(tick)]
    children += [text(across.at(tick), bottom + 17, tick_label(tick), "tick", "middle") for tick in ticks]
    children += onset_lines(onsets, across, _TOP, bottom)
    return Drawing(picture(name, title, description, bottom + _BOTTOM, children), list(dict.fromkeys(notes)))


def _scale(facet: Facet, thinned: Sequence[Thinned]) -> Axis:
    values = np.concatenate([part for line in thinned for part in (line.low, line.high)])
    if not facet.spiky:
        return axis(values, 0, 1, include=facet.include)
    inner = core(values)
    return axis(inner, 0, 1, include=facet.include, pad=0.06 if len(inner) == len(values) else 0.25)


def _ticks(facet: Facet) -> int:
    return 2 if facet.height < 120 else 4 if facet.as_percent else 5


def _frame(facet: Facet, across: Axis, down: Axis) -> Iterator[Markup]:
    if facet.windows:
        yield from _windows(facet.lines[0].series, across, down)
    for tick in down.ticks(_ticks(facet)):
        y = down.at(tick)
        yield rule(across.start, y, across.end, y, "zero" if tick == 0 else "grid")
        yield text(across.start - 7, y + 4, tick_label(tick, as_percent=facet.as_percent), "tick", "end")
    if facet.limit and down.low <= facet.limit[0] <= down.high:
        y = down.at(facet.limit[0])
        yield rule(across.start, y, across.end, y, "limit")
        yield text(across.end, y - 5, facet.limit[1], "note", "end")
    if facet.title:
        yield text(across.start, down.end - 6, facet.title, "note strong")


def _windows(series: Series, across: Axis, down: Axis) -> Iterator[Markup]:
    steps = series.steps[np.isfinite(series.values)]
    size = max(int(len(steps) * WINDOW), 1)
    if len(steps) < 2:
        return
    for label, part, outer in (("early", steps[:size], "start"), ("late", steps[-size:], "end")):
        left, right = across.clamp(float(part[0])), across.clamp(float(part[-1]))
        yield element("rect", x=left, y=down.end, width=right - left, height=down.start - down.end, class_="window")
        # At the foot, where onset letters never stand; inside of the area where a window has hardly any width.
        wide = right - left >= _WINDOW_LABEL
        x = (left + right) / 2 if wide else left + 3 if outer == "start" else right - 3
        yield text(x, down.start - 6, label, "note", "middle" if wide else outer)


def _line(line: Line, thinned: Thinned, across: Axis, down: Axis) -> Iterator[Markup]:
    colour = f"c{line.colour % 8}"
    xs = across.all(thinned.steps)
    ys, low, high = (down.all(np.clip(v, down.low, down.high)) for v in (thinned.mean, thinned.low, thinned.high))
    if line.style == "dots":
        pairs = zip(xs.tolist(), ys.tolist(), strict=True)
        yield from (element("circle", cx=x, cy=y, r=3.6, class_=f"check {colour}") for x, y in pairs)
    else:
        smooth = trend(thinned.mean)
        main = ys if smooth is None else down.all(np.clip(smooth, down.low, down.high))
        for part in segments(thinned.steps):
            alone = part.stop - part.start == 1
            if line.style == "trend" and thinned.reduced and not alone:
                edge = np.concatenate([low[part], high[part][::-1]])
                outline = points(np.concatenate([xs[part], xs[part][::-1]]), edge)
                yield element("polygon", points=outline, class_=f"band {colour}")
            elif line.style == "trend" and smooth is not None and not alone:
                yield _stroke(xs[part], ys[part], f"raw {colour}")
            yield _stroke(xs[part], ys[part] if alone else main[part], f"line {colour}")
    yield from _outside(thinned, xs, down)
    for step in line.series.flawed[:60].tolist():
        if across.low <= step <= across.high:
            x, y = across.at(step), down.start - 6
            yield element("path", d=f"M{x - 3:.1f} {y - 3:.1f}l6 6m0 -6l-6 6", class_="flaw")


def _outside(thinned: Thinned, xs: Numbers, down: Axis) -> Iterator[Markup]:
    for outside, y, turn in ((thinned.high > down.high, down.end, 1), (thinned.low < down.low, down.start, -1)):
        for x in xs[outside][:40].tolist():
            corners = np.array([x - 4, x + 4, x]), np.array([y + 7 * turn, y + 7 * turn, y])
            yield element("polygon", points=points(*corners), class_="mark")


def _stroke(xs: Numbers, ys: Numbers, kind: str) -> Markup:
    if len(xs) == 1:
        return element("circle", cx=float(xs[0]), cy=float(ys[0]), r=2.4, class_=f"{kind} alone")
    return element("polyline", points=points(xs, ys), class_=kind)


def _notes(facet: Facet, thinned: Sequence[Thinned], scale: Axis) -> Iterator[str]:
    flawed = np.unique(np.concatenate([line.series.flawed for line in facet.lines]))
    if len(flawed):
        named = ", ".join(number(int(step)) for step in flawed[:5]) + (", …" if len(flawed) > 5 else "")
        yield f"NaN or infinity logged at {count(len(flawed), 'step')}: {named}."
    extremes = [*(float(line.high.max()) for line in thinned), *(float(line.low.min()) for line in thinned)]
    beyond = [number(value) for value in (max(extremes), min(extremes)) if not scale.low <= value <= scale.high]
    if beyond:
        yield f"Triangles: values beyond the chart, up to {' and '.join(beyond)}."
    if any(line.reduced for line in thinned):
        yield "Means of equal stretches of steps, with their lowest and highest value."
