"""The held-out difference broken down, in words: categories, pass@k, questions that carry it, lengths."""

from __future__ import annotations

from typing import NamedTuple

from rlchecks.report import format as fmt
from rlchecks.report.inert import line
from rlchecks.report.summary import Document, items, part_of_comparison

_MOST_ROWS = 60
_NAME = 80  # characters
_SENTENCE = 300


class Category(NamedTuple):
    """One category of questions, in words; ``lost`` if a loss is confirmed in it."""

    name: str
    difference: str
    adjusted: str
    questions: str
    lost: bool


class Pass(NamedTuple):
    """pass@k for one k, in words."""

    k: str
    baseline: str
    candidate: str
    difference: str


def categories(document: Document) -> list[Category]:
    """The categories, those that lost most first."""
    return [
        Category(
            line(item.get("category") or "unnamed", _NAME),
            fmt.difference(item),
            fmt.signed(item.get("ci_upper_adjusted"), ""),
            fmt.number(item.get("n_questions")),
            item.get("confirmed_loss") is True,
        )
        for item in items(part_of_comparison(document, "categories"), "rows")[:_MOST_ROWS]
    ]


def passes(document: Document) -> list[Pass]:
    """pass@k by k."""
    return [
        Pass(
            fmt.number(item.get("k")),
            fmt.number(item.get("baseline")),
            fmt.number(item.get("candidate")),
            fmt.difference(item),
        )
        for item in items(part_of_comparison(document, "pass_at_k"), "rows")[:_MOST_ROWS]
    ]


def carrying(document: Document) -> str:
    """Whether a few questions carry the gain; empty where no gain is confirmed."""
    found = part_of_comparison(document, "influence")
    if not found:
        return ""
    tried, count = fmt.number(found.get("tried")), fmt.finite(found.get("count"))
    if count is None:
        return f"No {tried} questions carry the gain: it is confirmed without any so many."
    listed = items(found, "questions")
    names = ", ".join(line(item.get("question_id") or "unnamed", _NAME) for item in listed)
    more = f" and {fmt.number(count - len(listed))} more" if count > len(listed) else ""
    return f"Without {fmt.count(count, 'question')} the gain would not be confirmed: {names}{more}."


def length(document: Document) -> str:
    """The difference with the length held fixed; empty where no judge decides."""
    found = part_of_comparison(document, "length")
    if not found:
        return ""
    reason = line(found.get("reason") or "", _SENTENCE)
    before, after = (fmt.number(found.get(key)) for key in ("baseline_length", "candidate_length"))
    if fmt.finite(found.get("controlled")) is None or found.get("extrapolated") is True:
        reason = reason or "nearly all answers changed their length in one direction"
        return f"The difference at equal length of the answers is not known: {reason}."
    limits = (found.get(key) for key in ("controlled", "ci_lower", "ci_upper"))
    return (
        f"Mean answer length: {before} characters before, {after} after. At equal length the difference would be "
        f"{fmt.interval(*limits)}, where as it is it is {fmt.signed(found.get('difference'))}."
    )
