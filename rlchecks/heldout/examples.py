"""Questions whose outcome changed most, with the answers of both sides."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlchecks.heldout.answers import Answers
from rlchecks.heldout.case import Case
from rlchecks.heldout.intervals import SAME
from rlchecks.heldout.parts import Part

MOST = 10
"""Questions that are listed of each kind."""

_TEXT = 500  # characters of a prompt or an answer


def flips(part: Part) -> dict[str, int]:
    """How many questions improved, worsened and stayed as they were."""
    difference = part.pairs.difference
    improved, worsened = int((difference > SAME).sum()), int((difference < -SAME).sum())
    return {"improved": improved, "worsened": worsened, "unchanged": len(difference) - improved - worsened}


def largest(case: Case, part: Part, *, gains: bool) -> list[dict[str, Any]]:
    """The questions that gained or lost most, the largest change first; of equals the first by id.

    Args:
        case: the comparison.
        part: a judge at a decoding.
        gains: the gains, or else the losses.
    """
    change = part.pairs.difference if gains else -part.pairs.difference
    order = np.argsort(-change, kind="stable")[:MOST]
    return [_example(case, part, int(place), gains=gains) for place in order if change[place] > SAME]


def _example(case: Case, part: Part, place: int, *, gains: bool) -> dict[str, Any]:
    pairs, answers = part.pairs, case.answers
    question = int(pairs.questions[place])
    example: dict[str, Any] = {
        "question_id": answers.questions[question],
        "baseline_score": part.scale.raw(float(pairs.baseline[place])),
        "candidate_score": part.scale.raw(float(pairs.candidate[place])),
    }
    judge = answers.judge(part.scorer.name)
    # The clearest pair: of repeats the best answer of the side that scored higher, and the worst of the other.
    for name, side, best in (("baseline", answers.baseline, not gains), ("candidate", answers.candidate, gains)):
        chosen = (side.question == question) & (side.judge == judge) & (side.decoding == part.decoding)
        rows, scores = side.row[chosen], part.scale.unit(side.score[chosen])
        row = int(rows[np.nanargmax(scores) if best else np.nanargmin(scores)])
        example[f"{name}_answer"] = cut(answers.table["answer"][row].as_py())
        example["prompt"] = cut(answers.table["prompt"][row].as_py())
    return example


def prompt_of(answers: Answers, question: int) -> str | None:
    """The prompt of a question, by its code; None if its first row gives none."""
    row = int(answers.baseline.row[np.flatnonzero(answers.baseline.question == question)[0]])
    text: str | None = answers.table["prompt"][row].as_py()
    return text


def cut(text: str | None) -> str | None:
    """The beginning of a text, marked where it is cut."""
    return text if text is None or len(text) <= _TEXT else f"{text[:_TEXT]}…"
