"""Several candidates of one call, and how one of them was chosen, in words."""

from __future__ import annotations

from typing import NamedTuple

from rlchecks.report import format as fmt
from rlchecks.report.inert import line
from rlchecks.report.summary import Document, items, part_of_comparison

_MOST_ROWS = 60
_NAME = 80  # characters


class Contender(NamedTuple):
    """One of several candidates, in words."""

    name: str
    difference: str
    adjusted: str
    questions: str
    standing: str


def contenders(document: Document) -> list[Contender]:
    """The candidates of the call, as they were compared for the choice; empty if there was one only."""
    return [
        Contender(
            line(item.get("candidate") or "unnamed", _NAME),
            fmt.difference(item),
            fmt.signed(item.get("ci_lower_adjusted")),
            fmt.number(item.get("n_questions")),
            ("judged" if item.get("chosen") is True else "set aside")
            + (", confirmed" if item.get("confirmed") is True else ", not confirmed"),
        )
        for item in items(part_of_comparison(document, "choice"), "rows")[:_MOST_ROWS]
    ]


def choice(document: Document) -> str:
    """How the candidate was chosen; empty if there was one only."""
    found = part_of_comparison(document, "choice")
    listed = items(found, "rows")
    if not listed:
        return ""
    chosen, share = line(found.get("chosen") or "unnamed", _NAME), fmt.finite(found.get("choose_on"))
    if share is None:
        return f"{chosen} is the best of {len(listed)} candidates, compared on the same questions; each is a look."
    asked = fmt.count(found.get("questions"), "question")
    return f"{chosen} was chosen among {len(listed)} candidates on {asked}, and judged on the others only."
