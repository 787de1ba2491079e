"""What a pilot tells about the spread of differences: between questions, and between answers to one question."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlchecks.errors import UsageError
from rlchecks.heldout.answers import Side
from rlchecks.heldout.case import Case
from rlchecks.heldout.cr2 import cr2
from rlchecks.heldout.parts import Part
from rlchecks.heldout.plan import differing_share_upper
from rlchecks.heldout.power import variance_of, variance_upper


class Spread(NamedTuple):
    """The variance of a question's difference, taken apart; all on the score's range of 0 to 1.

    Attributes:
        questions: questions of the pilot.
        upper: upper confidence limit of the variance, as the pilot was answered; with clusters of n times the variance
            of the mean of n questions.
        between: estimated variance of the true differences between questions, with clusters what they have in common
            added; None if no question has two answers on each side.
        within_baseline: estimated variance of the baseline's answers to one question, None likewise.
        within_candidate: that of the candidate's, None likewise.
        clusters: clusters of the pilot, None where its questions are independent.
    """

    questions: int
    upper: float
    between: float | None
    within_baseline: float | None
    within_candidate: float | None
    clusters: int | None = None

    @property
    def cluster_size(self) -> float:
        """Questions in a cluster on average, 1 where questions are independent."""
        return 1.0 if self.clusters is None else self.questions / self.clusters

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
    are enlarged as the whole is. Clusters add what their questions have in common: the upper limit is that of the
    clusters' means then (Kish 1965, Survey Sampling, design effect), and never less than without clusters.

    Args:
        case: the pilot's comparison.
        part: the judge at the primary decoding.

    Raises:
        UsageError: all questions of the pilot belong to one cluster.
    """
    differences, level = part.pairs.difference, case.level
    n = len(differences)
    upper = differing_share_upper(float(np.abs(differences).sum()), n, level)
    total = float(differences.var(ddof=1)) if n > 1 else 0.0
    if total > 0.0 and not (part.scale.binary and part.pairs.single):
        upper = min(upper, variance_upper(total, n, level))
    clusters, together = None, total
    if (code := _clusters(part)) is not None:
        clusters, together, limit = _clustered(differences, code, level)
        upper = max(upper, limit)
    sides = [_within(case, part, side) for side in (case.answers.baseline, case.answers.candidate)]
    if total <= 0.0 or any(side is None for side in sides):
        return Spread(n, upper, None, None, None, clusters)
    (first, per_first), (second, per_second) = (side for side in sides if side is not None)
    between = max(max(together, total) - first * per_first - second * per_second, 0.0)
    modelled = between + first * per_first + second * per_second
    factor = upper / modelled if modelled > 0.0 else 1.0
    return Spread(n, upper, between * factor, first * factor, second * factor, clusters)


def _clusters(part: Part) -> NDArray[np.intp] | None:
    """The cluster of each question by code; None where no two questions share one."""
    if part.clusters is None:
        return None
    names, code = np.unique(part.clusters[part.pairs.questions], return_inverse=True)
    return None if len(names) == len(code) else code.astype(np.intp)


def _clustered(differences: NDArray[np.float64], code: NDArray[np.intp], level: float) -> tuple[int, float, float]:
    """Number of clusters, and n times the variance of the mean of n questions: estimate and upper limit."""
    sizes = np.bincount(code)
    clusters, n = len(sizes), len(differences)
    if clusters < 2:
        raise UsageError("All questions of the pilot belong to one cluster, which tells nothing about other clusters.")
    means = np.bincount(code, weights=differences) / sizes
    together = n * cr2(differences, code).se ** 2
    limit = differing_share_upper(float(np.abs(means).sum()), clusters, level) * n / clusters
    if together > 0.0:
        limit = min(limit, variance_upper(together, clusters, level))
    return clusters, together, limit


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
