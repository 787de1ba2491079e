"""SVG elements as escaped text, and the geometry of a chart."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from markupsafe import Markup, escape

from rlchecks.report.format import number, percent
from rlchecks.report.inert import line
from rlchecks.report.series import Numbers

WIDTH = 480
"""Width of every chart in its own units; the page scales it."""


def element(name: str, *children: object, **attributes: object) -> Markup:
    """One SVG element; underscores in attribute names stand for hyphens, a trailing one is dropped.

    Children that are no :class:`~markupsafe.Markup` are text, and are cleaned and escaped; so are attribute values.
    """
    pairs = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), _attribute(value))
        for key, value in attributes.items()
        if value is not None
    )
    inside = Markup("").join(child if isinstance(child, Markup) else escape(line(child)) for child in children)
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(name), pairs, inside) if inside else Markup(f"<{name}{pairs}/>")


def picture(name: str, title: str, description: str, height: float, children: Iterable[Markup]) -> Markup:
    """A whole ``<svg>`` that a screen reader can announce. ``name`` makes its ids unique on the page."""
    return element(
        "svg",
        element("title", title, id=f"{name}-title"),
        element("desc", description, id=f"{name}-desc"),
        *children,
        viewBox=f"0 0 {WIDTH} {_attribute(height)}",
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
        class_="chart",
    )


class Axis(NamedTuple):
    """A linear map from a range of values to a range of pixels."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """The pixel of a value."""
        return self.start + (self.end - self.start) * ((value - self.low) / (self.high - self.low))

    def all(self, values: Numbers) -> Numbers:
        """The pixels of many values."""
        return self.start + (self.end - self.start) * ((values - self.low) / (self.high - self.low))

    def clamp(self, value: float) -> float:
        """The pixel of a value, or of the nearest end of the axis."""
        return self.at(min(max(value, self.low), self.high))

    def ticks(self, most: int) -> list[float]:
        """At most ``most`` + 1 round values (1, 2 or 5 times a power of ten apart) within the axis."""
        span = self.high - self.low
        raw = span / most
        power = 10.0 ** math.floor(math.log10(raw))
        step = next((factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * 0.999), raw)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(index * step, 12) if step > 1e-9 else index * step for index in range(first, last + 1)]


def axis(values: Numbers, start: float, end: float, *, include: Iterable[float] = (), pad: float = 0.06) -> Axis:
    """An axis that holds all the finite values, with some air, and the values of ``include`` at its very edge.

    A constant series gets a range around it, or above it if it lies at a fixed edge: a tenth of its size, at least
    0.05.
    """
    fixed = [float(value) for value in include]
    finite = values[np.isfinite(values)]
    low = min([*fixed, *([float(finite.min())] if len(finite) else [])], default=0.0)
    high = max([*fixed, *([float(finite.max())] if len(finite) else [])], default=1.0)
    if not high - low > max(1e-12 * max(abs(low), abs(high)), 1e-300):
        around = max(0.1 * abs(low), 0.05)
        return Axis(low if low in fixed else low - around, high + around, start, end)
    air = pad * (high - low)
    return Axis(low if low in fixed else low - air, high if high in fixed else high + air, start, end)


def core(values: Numbers) -> Numbers:
    """The values without far outliers: those beyond the middle 96 % where these span under an eighth of the range.

    A spike that heals must not flatten all the rest of a chart.
    """
    finite = values[np.isfinite(values)]
    if len(finite) < 20:
        return finite
    low, high = np.percentile(finite, [2, 98])
    if high > low and np.ptp(finite) > 8 * (high - low):
        inner: Numbers = finite[(finite >= low) & (finite <= high)]
        return inner
    return finite


def points(xs: Numbers, ys: Numbers) -> Markup:
    """Coordinates as the ``points`` attribute wants them, one decimal."""
    # Long by nature, and made of digits alone: nothing to clean, nothing to cut.
    return Markup(" ").join(
        Markup(f"{_attribute(x)},{_attribute(y)}") for x, y in zip(xs.tolist(), ys.tolist(), strict=True)
    )


def text(x: float, y: float, content: str, kind: str, anchor: str = "start") -> Markup:
    """A line of text at a baseline position; ``kind`` is its class."""
    return element("text", content, x=x, y=y, class_=kind, text_anchor=None if anchor == "start" else anchor)


def rule(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    """A straight line; ``kind`` is its class."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind)


def tick_label(value: float, *, as_percent: bool = False) -> str:
    """A short label for an axis: ``0.25``, ``25%``, ``1,500``, ``100k``."""
    if as_percent:
        return percent(value)
    size = abs(value)
    if size >= 1e13:
        return f"{value:.1e}"
    for limit, divisor, unit in ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if size >= limit:
            return f"{value / divisor:g}{unit}"
    return number(value) if size < 1e-4 else f"{value:,.6g}"


def _attribute(value: object) -> str:
    if isinstance(value, Markup):
        return value
    if isinstance(value, float):
        return f"{value:.1f}".removesuffix(".0")
    return line(value)
