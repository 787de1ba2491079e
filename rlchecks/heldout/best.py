"""Which of several checkpoints may be the best, and how far each is below the best at most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlchecks.heldout.intervals import paired_interval

Floats = NDArray[np.float64]


class Standing(NamedTuple):
    """One checkpoint against the best.

    Attributes:
        difference: its mean minus that of the checkpoint that scored highest, paired; None without common questions.
        lower: lower limit of its mean minus the highest of all others, at most 0; None if undefined.
        upper: upper limit of that, at least 0; None if undefined.
        may_be_best: whether it cannot be excluded that it is the best.
    """

    difference: float | None
    lower: float | None
    upper: float | None
    may_be_best: bool


def against_best(
    scores: Floats,
    *,
    binary_single: bool = False,
    averaged_binary: bool = False,
    clusters: Sequence[object] | NDArray[np.generic] | None = None,
    confidence: float = 0.95,
) -> list[Standing]:
    """Compare each checkpoint with the best, whichever that is, question by question: Hsu's constrained intervals.

    The observed best is partly the luckiest, so no checkpoint is compared with it alone. All pairs are compared by
    one-sided limits at (1 - confidence) / (k - 1). Whichever checkpoint is truly the best, its k - 1 limits hold
    together with the given confidence, and then all the limits returned hold: the best is among those that may be the
    best, and no checkpoint is further below it than its lower limit.

    Source: Hsu 1984, Annals of Statistics 12:1136 (constrained intervals); Edwards and Hsu 1983, Journal of the
    American Statistical Association 78:965, for arbitrary pairs; Bonferroni in place of Dunnett's quantile, since
    paired differences have any correlation and :func:`rlchecks.heldout.intervals.paired_interval` has no one quantile.

    Args:
        scores: score of each question, NaN where unanswered, shape (k, questions), k at least 2.
        binary_single: as in :func:`~rlchecks.heldout.intervals.paired_interval`.
        averaged_binary: likewise.
        clusters: cluster of each question, shape (questions,), or None.
        confidence: of all limits together.

    Returns:
        one standing a checkpoint.
    """
    count = len(scores)
    level = 1.0 - 2.0 * (1.0 - confidence) / (count - 1)
    code = None if clusters is None else np.asarray(clusters)
    # A pair whose interval is undefined may differ by anything.
    above = np.full((count, count), np.inf)
    difference = np.full((count, count), np.nan)
    for one in range(count):
        for other in range(one):
            moved = scores[one] - scores[other]
            common = np.isfinite(moved)
            found = paired_interval(
                moved[common],
                binary_single=binary_single,
                averaged_binary=averaged_binary,
                clusters=None if code is None else code[common],
                confidence=level,
            )
            if found.estimate is not None:
                difference[one, other], difference[other, one] = found.estimate, -found.estimate
            if found.lower is not None and found.upper is not None:
                above[one, other], above[other, one] = found.upper, -found.lower
    np.fill_diagonal(above, np.inf)
    np.fill_diagonal(difference, 0.0)
    highest = above.min(axis=1)
    possible = highest > 0
    with np.errstate(invalid="ignore"):
        means = np.array([row[np.isfinite(row)].mean() if np.isfinite(row).any() else -np.inf for row in scores])
    best = int(np.argmax(means))
    standings = []
    for one in range(count):
        rivals = [other for other in np.flatnonzero(possible) if other != one]
        below = max((float(above[rival, one]) for rival in rivals), default=0.0)
        standings.append(
            Standing(
                _finite(difference[one, best]),
                _finite(-max(below, 0.0)),
                _finite(max(highest[one], 0.0)),
                bool(possible[one]),
            )
        )
    return standings


def _finite(value: float) -> float | None:
    return float(value) + 0.0 if np.isfinite(value) else None
