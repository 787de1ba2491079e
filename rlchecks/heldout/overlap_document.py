"""``overlap`` and ``with_overlap`` of the comparison: what was left out, and what it would have changed."""

from __future__ import annotations

from typing import Any

from rlchecks.heldout.case import Case
from rlchecks.heldout.examples import cut
from rlchecks.heldout.outcome import weakest
from rlchecks.heldout.prompts import asked, told
from rlchecks.heldout.shared_words import shared_words

MOST = 20
"""Questions that are listed with their texts."""


def overlap_document(case: Case) -> dict[str, Any] | None:
    """Questions that occur among the training prompts; None if no training prompt is known."""
    overlap = case.overlap
    if overlap is None:
        return None
    kinds = [match.kind for match in overlap.matches]
    return {
        "questions": len(kinds),
        "of": len(overlap.excluded),
        "without_prompt": overlap.without_prompt,
        "kinds": {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)},
        "training_prompts": overlap.training_prompts,
        "share_seen": case.request.training_prompts_share,
        "near_copies_searched": case.request.near_copies,
        "examples": [
            {
                "question_id": case.answers.questions[match.question],
                "kind": match.kind,
                "prompt": cut(match.prompt),
                "training_prompt": cut(match.training_prompt),
                "matched": cut(shared_words(asked(match.prompt), told(match.training_prompt))),
            }
            for match in overlap.matches[:MOST]
        ],
    }


def with_overlap_document(case: Case) -> dict[str, Any] | None:
    """The difference of the judge that the decision hangs on, the questions included that were training prompts.

    Returns:
        In the unit of its scores; None if nothing was left out, or no judge decides.
    """
    part = weakest(case.decisive, case.level)
    same = next((one for one in case.with_overlap if part is not None and one.scorer == part.scorer), None)
    if same is None:
        return None
    found = same.interval(case.level)
    estimate, lower, upper = map(same.scale.raw_difference, found[:3])
    return {
        "judge": same.scorer.name,
        "difference": estimate,
        "ci_lower": lower,
        "ci_upper": upper,
        "n_questions": found.n,
        "method": found.method,
        "reason": found.reason,
    }
