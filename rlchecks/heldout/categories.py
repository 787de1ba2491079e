"""The difference in each category of questions: a gain on the whole can hide a loss in a part."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rlchecks.heldout.answers import Answers, Codes, codes_of
from rlchecks.heldout.case import Case
from rlchecks.heldout.entry import Entry, signed
from rlchecks.heldout.holm import UpperLimit, holm_uppers
from rlchecks.heldout.intervals import Interval
from rlchecks.heldout.names import label, labels
from rlchecks.heldout.outcome import weakest
from rlchecks.heldout.parts import Part

MOST = 200
"""Categories that are compared at most; a column with more is no column of categories."""

_NAMED = 5  # in a sentence
_NO_CATEGORY = -1


class Category(NamedTuple):
    """The questions of one category, on 0 to 1.

    Attributes:
        name: the category.
        interval: of the mean difference, not adjusted.
        upper: Holm-adjusted upper limit; None where undefined, or where a category with a lower one is no confirmed
            loss, since this one is none either.
    """

    name: str
    interval: Interval
    upper: float | None


class Categories(NamedTuple):
    """All categories of a part.

    Attributes:
        found: one for each category, the smallest difference first; empty where there is nothing to compare.
        without: compared questions that name no category.
        reason: why nothing is compared, else None.
    """

    found: list[Category]
    without: int
    reason: str | None

    @property
    def upper(self) -> float | None:
        """The smallest adjusted upper limit; None if none is defined."""
        return min((one.upper for one in self.found if one.upper is not None), default=None)


def compare_categories(answers: Answers, part: Part, level: float) -> Categories:
    """The difference in each category, adjusted together by Holm's method.

    A category is a kind of question, never a cluster: its questions stay independent of each other, and clusters
    within it stay clusters.

    Args:
        answers: the answers of both checkpoints.
        part: a judge at a decoding.
        level: two-sided confidence level of one unadjusted interval.
    """
    if not len(part.pairs.questions):
        return Categories([], 0, "no question was answered on both sides")
    names, category = _of_questions(answers, part.pairs.questions)
    without = int((category == _NO_CATEGORY).sum())
    present = np.unique(category[category != _NO_CATEGORY])
    if len(present) < 2:
        reason = "the rows name no category" if not len(present) else "all questions are of one category"
        return Categories([], without, reason)
    if len(present) > MOST:
        return Categories([], without, f"{len(present)} categories, more than {MOST}")
    members = [np.flatnonzero(category == code) for code in present]
    intervals = [part.among(places, level) for places in members]

    def upper_of(places: Codes) -> UpperLimit:
        return lambda at: part.among(places, at).upper

    uppers = [upper_of(places) for places in members]
    adjusted = holm_uppers(uppers, level, until=0.0)
    listed = [
        Category(names[int(code)], interval, upper)
        for code, interval, upper in zip(present, intervals, adjusted, strict=True)
    ]
    listed.sort(key=lambda one: (one.interval.estimate or 0.0, one.name))
    return Categories(listed, without, None)


def category_document(case: Case) -> dict[str, Any] | None:
    """``comparison.categories`` of ``verdict.json``, of the judge the decision hangs on; None without one."""
    part = weakest(case.decisive, case.level)
    if part is None:
        return None
    compared = compare_categories(case.answers, part, case.level)
    width = part.scale.width

    def scaled(value: float | None) -> float | None:
        return None if value is None else value * width

    return {
        "judge": part.scorer.name,
        "without": compared.without,
        "reason": compared.reason,
        "rows": [
            {
                "category": one.name,
                "difference": scaled(one.interval.estimate),
                "ci_lower": scaled(one.interval.lower),
                "ci_upper": scaled(one.interval.upper),
                "ci_upper_adjusted": scaled(one.upper),
                "confirmed_loss": one.upper is not None and one.upper < 0.0,
                "n_questions": one.interval.n,
                "method": one.interval.method,
                "reason": one.interval.reason,
            }
            for one in compared.found
        ],
    }


def category_evidence(case: Case, document: dict[str, Any] | None) -> dict[str, Entry]:
    """The column on categories, on 0 to 1.

    Args:
        case: the comparison.
        document: of :func:`category_document`.
    """
    part = weakest(case.decisive, case.level)
    rows = [] if document is None else document["rows"]
    uppers = [row["ci_upper_adjusted"] for row in rows if row["ci_upper_adjusted"] is not None]
    if document is None or part is None or not uppers:
        reason = "no judge decides" if document is None else document["reason"] or "no category has an interval"
        return {"category_upper": Entry(None, f"Categories were not compared: {reason}.")}
    lost = [row for row in rows if row["confirmed_loss"]]
    words = "; ".join(
        f"{label(row['category'])}: {signed(row['difference'])}, at most {signed(row['ci_upper_adjusted'])} "
        f"({row['n_questions']} questions)"
        for row in lost[:_NAMED]
    )
    more = f" and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
    text = f"A loss is confirmed in {len(lost)} of {len(rows)} categories: {words}{more}."
    if not lost:
        text = f"No loss is confirmed in any of {len(rows)} categories."
    names = labels(str(row["category"]) for row in lost[:_NAMED])
    advice = f"Read the lost answers of {names}{more}, and decide whether what they ask for may become worse."
    observed = f"{text} Adjusted together by Holm's method."
    return {"category_upper": Entry(min(uppers) / part.scale.width, observed, advice if lost else "")}


def _of_questions(answers: Answers, questions: Codes) -> tuple[list[str], Codes]:
    """Names of the categories, and the code of each question's; of several that its rows name, the first row's."""
    category, names = codes_of(answers.table["category"])
    question = answers.row_questions()
    named = np.array([name is not None for name in names], dtype=bool)[category] & (question >= 0)
    asked, first = np.unique(question[named], return_index=True)
    found = np.full(len(answers.questions), _NO_CATEGORY, dtype=np.int64)
    found[asked] = category[named][first]
    return [str(name) for name in names], found[questions]
