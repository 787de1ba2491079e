"""The held-out comparison of a verdict document: every judge on every decoding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from rlchecks.report.format import anything
from rlchecks.report.inert import line
from rlchecks.report.summary import Document, items, mapping, name_of

_PART_WORDS = {"decoding": 60, "role": 20, "method": 120, "reason": 300}
ROLES = {"decisive": "decides", "guard": "guard", "grader": "training grader", "other": "not asked"}
"""Roles of held-out differences in words."""


class Part(NamedTuple):
    """One held-out difference: a judge on a decoding."""

    judge: str
    decoding: str
    role: str
    difference: float | int | None
    lower: float | int | None
    upper: float | int | None
    n_questions: Any
    method: str
    reason: str


def judge_of(document: Document) -> str:
    """The judges that decide, by name; ``not chosen`` if none does."""
    details, names = mapping(document.get("judge")), deciding(document)
    if len(names) > 1:
        return anything(names, 120)
    return name_of(document.get("judge")) if details.get("name") or not details else "not chosen"


def deciding(document: Document) -> list[object]:
    """The names of the judges that decide, as they stand in the document."""
    names = mapping(document.get("judge")).get("decisive")
    return list(names) if isinstance(names, Sequence) and not isinstance(names, str) else []


def parts(document: Document) -> list[Part]:
    """Every held-out difference; the overall one alone if the document does not list them."""
    comparison = mapping(document.get("comparison"))
    listed = items(comparison, "parts")
    if not listed and comparison.get("n_questions") is not None:
        listed = [{**comparison, "judge": judge_of(document), "role": "decisive"}]
    return [_part(part) for part in listed]


def _part(part: Document) -> Part:
    difference, lower, upper = (_number(part.get(key)) for key in ("difference", "ci_lower", "ci_upper"))
    words = {key: line(part.get(key) or "", limit) for key, limit in _PART_WORDS.items()}
    judge, asked = name_of(part.get("judge")), part.get("n_questions")
    return Part(judge=judge, difference=difference, lower=lower, upper=upper, n_questions=asked, **words)


def _number(value: object) -> float | int | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
