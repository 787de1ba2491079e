"""What stands beside the decision of a verdict: several candidates, categories, lengths, pass@k, carrying questions."""

from __future__ import annotations

from typing import NamedTuple

from rlchecks.report import format as fmt
from rlchecks.report.inert import line
from rlchecks.report.summary import Document, items, mapping

_MOST_ROWS = 60
_NAME = 80  # characters
_SENTENCE = 300


class Contender(NamedTuple):
    """One of several candidates, in words."""

    name: str
    difference: str
    adjusted: str
    questions: str
    standing: str


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


def contenders(document: Document) -> list[Contender]:
    """The candidates of the call, as they were compared for the choice; empty if there was one only."""
    return [
        Contender(
            line(item.get("candidate") or "unnamed", _NAME),
            _interval(item),
            fmt.signed(item.get("ci_lower_adjusted")),
            fmt.number(item.get("n_questions")),
            ("judged" if item.get("chosen") is True else "set aside")
            + (", confirmed" if item.get("confirmed") is True else ", not confirmed"),
        )
        for item in items(_part(document, "choice"), "rows")[:_MOST_ROWS]
    ]


def choice(document: Document) -> str:
    """How the candidate was chosen; empty if there was one only."""
    found = _part(document, "choice")
    listed = items(found, "rows")
    if not listed:
        return ""
    chosen, share = line(found.get("chosen") or "unnamed", _NAME), fmt.finite(found.get("choose_on"))
    if share is None:
        return f"{chosen} is the best of {len(listed)} candidates, compared on the same questions; each is a look."
    asked = fmt.count(found.get("questions"), "question")
    return f"{chosen} was chosen among {len(listed)} candidates on {asked}, and judged on the others only."


def categories(document: Document) -> list[Category]:
    """The categories, those that lost most first."""
    return [
        Category(
            line(item.get("category") or "unnamed", _NAME),
            _interval(item),
            fmt.signed(item.get("ci_upper_adjusted"), ""),
            fmt.number(item.get("n_questions")),
            item.get("confirmed_loss") is True,
        )
        for item in items(_part(document, "categories"), "rows")[:_MOST_ROWS]
    ]


def passes(document: Document) -> list[Pass]:
    """pass@k by k."""
    return [
        Pass(
            fmt.number(item.get("k")),
            fmt.number(item.get("baseline")),
            fmt.number(item.get("candidate")),
            _interval(item),
        )
        for item in items(_part(document, "pass_at_k"), "rows")[:_MOST_ROWS]
    ]


def carrying(document: Document) -> str:
    """Whether a few questions carry the gain; empty where no gain is confirmed."""
    found = _part(document, "influence")
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
    found = _part(document, "length")
    if not found:
        return ""
    reason = line(found.get("reason") or "", _SENTENCE)
    before, after = (fmt.number(found.get(key)) for key in ("baseline_length", "candidate_length"))
    if fmt.finite(found.get("controlled")) is None:
        return f"The difference at equal length of the answers is not known: {reason or 'no reason'}."
    limits = (found.get(key) for key in ("controlled", "ci_lower", "ci_upper"))
    beyond = ""
    if found.get("extrapolated") is True:
        beyond = " Nearly all answers changed their length in one direction, so that this is an extrapolation."
    return (
        f"Mean answer length: {before} characters before, {after} after. At equal length the difference would be "
        f"{fmt.interval(*limits)}, where as it is it is {fmt.signed(found.get('difference'))}.{beyond}"
    )


def _part(document: Document, key: str) -> Document:
    return mapping(mapping(document.get("comparison")).get(key))


def _interval(item: Document) -> str:
    return fmt.interval(item.get("difference"), item.get("ci_lower"), item.get("ci_upper"))
