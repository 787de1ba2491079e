"""How numbers are written, once for page, terminal and markdown."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime

from rlchecks.metrics import METRICS
from rlchecks.report.inert import line
from rlchecks.signals.catalogue import SIGNALS

NOT_MEASURED = "not measured"
UNDEFINED = "undefined"

_FRACTIONS = frozenset(
    {name for name, metric in METRICS.items() if metric.unit == "fraction"}
    | {name for name, signal in SIGNALS.items() if signal.unit == "fraction"}
    | {"missing_fraction", "overlap_share_seen"}  # columns of the held-out evidence
)


def finite(value: object) -> float | None:
    """The value as a float if it is a finite number (no bool), else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        as_float = float(value)
    except OverflowError:
        return None
    return as_float if math.isfinite(as_float) else None


def number(value: object, missing: str = NOT_MEASURED) -> str:
    """A number for people, about three significant digits, thousands separated; None as ``missing``."""
    if value is None:
        return missing
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) < 10**15 else f"{_float(value):.3g}"
    if not isinstance(value, float):
        return line(value, 200)
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "infinity" if value > 0 else "-infinity"
    size = abs(value)
    if value == int(value) and size < 1e15:
        return f"{int(value):,}"
    if size >= 1e7 or size < 5e-4:
        return f"{value:.2g}"
    decimals = 0 if size >= 1000 else 1 if size >= 100 else 2 if size >= 10 else 3
    return f"{value:,.{decimals}f}"


def signed(value: object, missing: str = UNDEFINED) -> str:
    """A difference with sign and three decimals, ``+0.425``; one that is not zero never reads as zero."""
    size = finite(value)
    if size is None:
        return missing if value is None else number(value)
    if size == 0:
        return "0.000"
    if abs(size) < 5e-4:
        return f"{size:+.1g}"
    if abs(size) >= 1e7:
        return f"{size:+.3g}"
    return f"{size:+,.3f}" if abs(size) < 1000 else f"{size:+,.0f}"


def interval(difference: object, lower: object, upper: object) -> str:
    """A difference with its interval, ``+0.425 [+0.383, +0.467]``."""
    if lower is None and upper is None:
        return f"{signed(difference)}, no interval" if difference is not None else UNDEFINED
    return f"{signed(difference)} [{signed(lower)}, {signed(upper)}]"


def difference(item: Mapping[str, object]) -> str:
    """The held-out difference of a part of a verdict with its interval; see :func:`interval`."""
    return interval(item.get("difference"), item.get("ci_lower"), item.get("ci_upper"))


def percent(value: object, missing: str = NOT_MEASURED) -> str:
    """A fraction as per cent with at most one decimal, ``79.5%``; None as ``missing``."""
    size = finite(value)
    if size is None:
        return missing if value is None else number(value)
    if 0 < abs(size) < 0.0005:
        return "<0.1%" if size > 0 else ">-0.1%"
    if 0.9995 <= size < 1:
        return ">99.9%"
    return f"{100 * size:,.1f}".removesuffix(".0") + "%"


def count(value: object, noun: str, missing: str = NOT_MEASURED) -> str:
    """A count with its noun, ``1 question``, ``200 questions``."""
    if value is None:
        return missing
    return f"{number(value)} {noun if value == 1 else noun + 's'}"


def signal(name: str, value: object) -> str:
    """The value of a signal or evidence column in its unit: fractions as per cent, all else as :func:`number`."""
    if finite(value) is not None and name.lower() in _FRACTIONS:
        return percent(value)
    return anything(value)


def anything(value: object, limit: int = 300, depth: int = 4) -> str:
    """Any value of a JSON document, on one clean line; what is nested deeper than ``depth`` is an ellipsis."""
    if isinstance(value, Mapping | list | tuple) and depth == 0:
        return "…"
    if isinstance(value, Mapping):
        parts = (f"{line(key, limit)}: {anything(item, limit, depth - 1)}" for key, item in list(value.items())[:20])
        return line("; ".join(parts) or "none", limit)
    if isinstance(value, list | tuple):
        return line(", ".join(anything(item, limit, depth - 1) for item in value[:20]) or "none", limit)
    return number(value) if value is None or isinstance(value, int | float) else line(value, limit)


def moment(value: object) -> str:
    """A time such as ``30 Nov 2026, 16:04 UTC``; text that is no ISO time stays as it is."""
    text = line(value, 60)
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return text
    months = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
    return f"{when.day} {months[when.month - 1]} {when.year}, {when:%H:%M} {when.tzname() or ''}".rstrip()


def label(name: object) -> str:
    """A column or code name for people: underscores as spaces."""
    return line(name, 120).replace("_", " ")


def _float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
