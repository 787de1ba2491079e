"""All checkpoints of the held-out rows against the best, ready for page and terminal."""

from __future__ import annotations

from typing import NamedTuple

from markupsafe import Markup

from rlchecks.report import format as fmt
from rlchecks.report import summary, whisker
from rlchecks.report.inert import line
from rlchecks.report.summary import Document, mapping, part_of_comparison

_MOST_DRAWN = 24


class Row(NamedTuple):
    """A line of the table."""

    name: str
    step: str
    mean: str
    difference: str
    kl: str
    questions: str
    possible: bool


def rows(document: Document) -> list[Row]:
    """The table, earliest first; empty where the held-out rows have fewer than three checkpoints."""
    return [
        Row(
            line(item.get("checkpoint"), 60),
            fmt.number(item.get("step")),
            fmt.number(item.get("mean")),
            fmt.difference(item),
            fmt.number(item.get("kl"), ""),
            fmt.number(item.get("n_questions")),
            item.get("may_be_best") is True,
        )
        for item in _items(document)
    ]


def sentence(document: Document) -> str:
    """Which checkpoint is as good as the best, in one sentence; empty without the table."""
    found, listed = _found(document), _items(document)
    if not found:
        return ""
    best, good = line(found.get("best") or "", 60), line(found.get("as_good") or "", 60)
    if not listed or not best:
        return f"The checkpoints were not compared with each other: {line(found.get('reason') or 'no reason', 200)}."
    highest = f"{best} scored highest of {fmt.number(len(listed))} checkpoints"
    sure = f"where all limits hold together with a confidence of {fmt.percent(found.get('confidence'))}"
    if not good:
        possible = [line(item.get("checkpoint"), 60) for item in listed if item.get("may_be_best") is True]
        more = f" and {len(possible) - 8} more" if len(possible) > 8 else ""
        return (
            f"{highest}, but any of {', '.join(possible[:8])}{more} may be the best, {sure}; more questions would tell."
        )
    if good == best:
        first = found["as_good"] == listed[0].get("checkpoint")
        return f"{highest}; it is the first of them." if first else f"{highest}, and none before it is as good."
    lower = next(
        (fmt.finite(item.get("ci_lower")) for item in listed if item.get("checkpoint") == found["as_good"]), None
    )
    below = fmt.number(None if lower is None else -lower)
    return (
        f"{good} is as good as {best}, which scored highest of {len(listed)}: at most {below} below the best, {sure}."
    )


def distance(document: Document) -> str:
    """What the fit of score against distance says; empty where no KL is known."""
    curve = mapping(_found(document).get("kl_curve"))
    if not any(fmt.finite(item.get("kl")) is not None for item in _items(document)):
        return ""
    peak = fmt.finite(curve.get("peak_kl"))
    if peak is None:
        return f"No fit of the score against the KL: {line(curve.get('reason') or 'no reason', 200)}."
    high = fmt.finite(curve.get("peak_kl_high"))
    limits = f"{fmt.number(curve.get('peak_kl_low'))} to {fmt.number(high) if high is not None else 'no limit'}"
    beyond = ", further than any of these checkpoints" if curve.get("beyond") is True else ""
    return f"Fitted against the KL from the starting model, the score peaks at {fmt.number(peak)} ({limits}){beyond}."


def picture(document: Document) -> Markup | None:
    """The differences from the best with their limits; None without the table."""
    drawn = [
        whisker.Row(
            line(item.get("checkpoint"), 60),
            "decisive",
            fmt.finite(item.get("difference")),
            fmt.finite(item.get("ci_lower")),
            fmt.finite(item.get("ci_upper")),
        )
        for item in _items(document)[:_MOST_DRAWN]
    ]
    if not drawn:
        return None
    described = "; ".join(f"{row.label}: {fmt.interval(row.difference, row.lower, row.upper)}" for row in drawn)
    tolerance = fmt.finite(_found(document).get("tolerance"))
    return whisker.draw("checkpoints", "Checkpoints against the best of them", described, drawn, tolerance)


def _found(document: Document) -> Document:
    return part_of_comparison(document, "checkpoints")


def _items(document: Document) -> list[Document]:
    return list(summary.items(_found(document), "rows"))
