"""What a pilot tells about the spread of differences: between questions, and between answers to one question."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rlchecks.heldout.answers import Side
from rlchecks.heldout.case import Case
from rlchecks.heldout.parts import Part
from rlchecks.heldout.plan import differing_share_upper
from rlchecks.heldout.power import variance_of, variance_upper


class Spread(NamedTuple):
    """The variance of a question's difference, taken apart; all on the score's range of 0 to 1.

    Attributes:
        questions: questions of the pilot.
        upper: upper confidence limit of the variance, as the pilot was answered.
        between: estimated variance of the true differences between questions; None if no question has two answers on
            each side.
        within_baseline: estimated variance of the baseline's answers to one question, None likewise.
        within_candidate: that of the candidate's, None likewise.
    """

    questions: int
    upper: float
    between: float | None
    within_baseline: float | None
    within_candidate: float | None

    def variance(self, repeats: int | None) -> float:
        """Upper limit of the variance with another number of answers per question and side.

        Args:
            repeats: answers per question and side; None: as in the pilot, which is also what a pilot with single
                answers says of any number.
        """
        if self.between is None or self.within_baseline is None or self.within_candidate is None or repeats is None:
            return self.upper
        return variance_of(self.between, self.within_baseline, self.within_candidate, repeats)


def spread(case: Case, part: Part) -> Spread:
    """The spread of one judge's differences.

    One 0/1 answer a side: the upper limit of the share that differs (Wilson), which bounds the variance. Otherwise the
    upper limit of a normal variance, or Wilson's limit on the sum of the differences' sizes if that is less or there
    is no variance. Its parts are estimated from the variance within questions (Miller 2024, arXiv 2411.00640), and all
    are enlarged as the whole is.

    Args:
        case: the pilot's comparison.
        part: the judge at the primary decoding.
    """
    differences, level = part.pairs.difference, case.level
    n = len(differences)
    upper = differing_share_upper(float(np.abs(differences).sum()), n, level)
    total = float(differences.var(ddof=1)) if n > 1 else 0.0
    if total > 0.0 and not (part.scale.binary and part.pairs.single):
        upper = min(upper, variance_upper(total, n, level))
    sides = [_within(case, part, side) for side in (case.answers.baseline, case.answers.candidate)]
    if total <= 0.0 or any(side is None for side in sides):
        return Spread(n, upper, None, None, None)
    (first, per_first), (second, per_second) = (side for side in sides if side is not None)
    between = max(total - first * per_first - second * per_second, 0.0)
    modelled = between + first * per_first + second * per_second
    factor = upper / modelled if modelled > 0.0 else 1.0
    return Spread(n, upper, between * factor, first * factor, second * factor)


def _within(case: Case, part: Part, side: Side) -> tuple[float, float] | None:
    """Variance of answers to one question, and the mean of 1 / answers; None if no question has two."""
    chosen = (side.judge == case.answers.judge(part.scorer.name)) & (side.decoding == part.decoding)
    scores = part.scale.unit(side.score[chosen])
    known = ~np.isnan(scores)
    question, scores = side.question[chosen][known], scores[known]
    size = len(case.answers.questions)
    counts = np.bincount(question, minlength=size)
    means = np.bincount(question, weights=scores, minlength=size) / np.maximum(counts, 1)
    squares = np.bincount(question, weights=(scores - means[question]) ** 2, minlength=size)
    several = counts > 1
    if not several.any():
        return None
    within = float((squares[several] / (counts[several] - 1)).mean())
    return within, float((1.0 / counts[part.pairs.questions]).mean())
