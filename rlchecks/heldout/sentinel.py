"""A score that may say "could not be scored": harnesses write -1 or -999 where there is no score."""

from __future__ import annotations

import numpy as np

from rlchecks.heldout.answers import Answers
from rlchecks.heldout.parts import Part


def sentinel(answers: Answers, part: Part) -> float | None:
    """The one negative score of a judge that otherwise gives none; None if there is no such.

    A judge of undeclared range that gives -1 and 1 and never 0 means what it gives.

    Args:
        answers: the answers of both checkpoints.
        part: a judge at a decoding.
    """
    if part.scale.source == "declared":
        return None
    judge = answers.judge(part.scorer.name)
    given = np.unique(
        np.concatenate([side.score[side.judge == judge] for side in (answers.baseline, answers.candidate)])
    )
    given = given[np.isfinite(given)]
    if len(given) < 2 or not given[0] < 0.0 <= given[1] or given.tolist() == [-1.0, 1.0]:
        return None
    return float(given[0])
