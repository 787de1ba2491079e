"""A few questions that carry the whole result: without them the gain would not be confirmed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlchecks.heldout.case import Case
from rlchecks.heldout.entry import Entry
from rlchecks.heldout.examples import cut, prompt_of
from rlchecks.heldout.names import labels
from rlchecks.heldout.outcome import judge_outcome, weakest
from rlchecks.heldout.parts import Part

FEWEST = 3
"""So many questions are tried to be left out, however few there are."""

SHARE = 0.02
"""Share of the questions that is tried to be left out."""

_LISTED = 10


class Carried(NamedTuple):
    """The questions that a confirmed gain hangs on.

    Attributes:
        places: their places among the part's pairs, the most influential first.
        lower: lower limit without them, on 0 to 1; None if it is then undefined.
    """

    places: NDArray[np.int64]
    lower: float | None


def carrying_questions(part: Part, margin: float, level: float) -> Carried | None:
    """The smallest set found of at most max(3, 2 %) questions without which the lower limit is not above -margin.

    Questions are ranked by the derivative of the limit with respect to their weight, which for
    L = mean - q s / sqrt(n) is proportional to (d - mean) - q ((d - mean)^2 - s^2) / (2 s sqrt(n)); the limit is then
    computed anew without the first k of them. A smaller set that the ranking misses is possible.

    Source: Broderick, Giordano and Meager 2020, arXiv 2011.14999 (approximate maximum influence perturbation).

    Args:
        part: a judge at a decoding.
        margin: acceptable loss, on 0 to 1.
        level: two-sided confidence level.

    Returns:
        None if the gain is not confirmed, or still is without any such set.
    """
    difference = part.pairs.difference
    n = len(difference)
    most = min(max(FEWEST, int(SHARE * n)), n - 1)
    lower = part.interval(level).lower
    if lower is None or lower <= -margin or most < 1:
        return None
    order = np.argsort(-_influence(difference, level), kind="stable")

    def without(count: int) -> float | None:
        return part.among(np.sort(order[count:]), level).lower

    def fails(count: int) -> bool:
        found = without(count)
        return found is None or found <= -margin

    if not fails(most):
        return None
    # The limit falls with every question that is left out, as far as the ranking is right.
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fails(middle) else (middle, high)
    return Carried(order[:high], without(high))


def influence_document(case: Case) -> dict[str, Any] | None:
    """``comparison.influence`` of ``verdict.json``; None where no gain is confirmed.

    Its ``count`` is None where the gain is still confirmed without any max(3, 2 %) questions.
    """
    part = weakest(case.decisive, case.level)
    if part is None or judge_outcome(case.decisive, case.request.margin, case.level).word != "pass":
        return None
    n = len(part.pairs.questions)
    document: dict[str, Any] = {"judge": part.scorer.name, "tried": max(FEWEST, int(SHARE * n)), "count": None}
    carried = carrying_questions(part, case.request.margin, case.level)
    if carried is None:
        return {**document, "ci_lower": None, "questions": []}
    width = part.scale.width
    return {
        **document,
        "count": len(carried.places),
        "ci_lower": None if carried.lower is None else carried.lower * width,
        "questions": [
            {
                "question_id": case.answers.questions[int(part.pairs.questions[place])],
                "difference": float(part.pairs.difference[place]) * width,
                "prompt": cut(prompt_of(case.answers, int(part.pairs.questions[place]))),
            }
            for place in carried.places[:_LISTED]
        ],
    }


def influence_evidence(document: dict[str, Any] | None) -> dict[str, Entry]:
    """The column on the questions that carry the result.

    Args:
        document: of :func:`influence_document`.
    """
    if document is None:
        return {"n_carrying": Entry(None, "No gain is confirmed that a few questions could carry.")}
    count = document["count"]
    if count is None:
        return {
            "n_carrying": Entry(None, f"The gain is still confirmed without any {document['tried']} of the questions.")
        }
    names = labels(str(one["question_id"]) for one in document["questions"])
    more = f" and {count - len(document['questions'])} more" if count > len(document["questions"]) else ""
    question = "this question" if count == 1 else f"these {count} questions"
    return {"n_carrying": Entry(count, f"Without {question} the gain would not be confirmed: {names}{more}.")}


def _influence(difference: NDArray[np.float64], level: float) -> NDArray[np.float64]:
    from scipy.special import ndtri

    centred = np.asarray(difference - difference.mean())
    spread = float(difference.std())
    if spread == 0.0:
        return centred
    z = float(ndtri((1.0 + level) / 2.0))
    return np.asarray(centred - z * (centred**2 - spread**2) / (2.0 * spread * len(difference) ** 0.5))
