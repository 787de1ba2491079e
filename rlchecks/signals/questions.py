"""What the single questions of validation checks tell: how noisy a check is, and whether they gained."""

from __future__ import annotations

import numpy as np

from rlchecks.signals.arrays import Floats

FEWEST = 10
"""Questions from which they tell how noisy a check is."""

_SECOND = 6.0
"""Variance of a second difference of independent values, in units of theirs."""


def noise(answers: Floats) -> float | None:
    """Standard deviation of one check that its answers explain, from each question's own second differences.

    A question's difficulty and its steady improvement cancel; what all questions have in common, such as a policy
    that wanders, is not in it.

    Args:
        answers: score of each question at each check, NaN where it was not asked, shape ``(questions, n)``.

    Returns:
        None with fewer than 3 checks, or fewer than :data:`FEWEST` questions at any three neighbouring checks.
    """
    if answers.shape[1] < 3:
        return None
    second = np.diff(answers, 2, axis=1)
    asked = np.isfinite(second).sum(axis=0)
    if (asked < FEWEST).any():
        return None
    centre = np.nansum(second, axis=0) / asked
    variance = np.nansum((second - centre) ** 2, axis=0) / (asked - 1) / asked
    return float(np.sqrt(variance.mean() / _SECOND))


def gain(answers: Floats, third: int) -> tuple[float, float, float] | None:
    """Compare the last checks with the first, question by question.

    Args:
        answers: as in :func:`noise`.
        third: number of first, and of last, checks.

    Returns:
        the standard error of the mean gain, as if the questions were drawn again, its degrees of freedom, and a
        two-sided p: Student's, or the sign test's where all questions moved alike. None with fewer than
        :data:`FEWEST` questions.
    """
    from scipy.special import stdtr

    moved = mean(answers[:, -third:]) - mean(answers[:, :third])
    moved = moved[np.isfinite(moved)]
    count = len(moved)
    if count < FEWEST:
        return None
    middle, error = float(moved.mean()), float(moved.std(ddof=1) / np.sqrt(count))
    if middle == 0.0:
        p = 1.0
    elif error <= 1e-12 * abs(middle):
        p = 2.0 ** (1 - count)
    else:
        p = float(2 * stdtr(count - 1, -abs(middle / error)))
    return error, count - 1.0, p


def mean(answers: Floats) -> Floats:
    """Mean over the checks of each question, shape ``(questions,)``; NaN where it was never asked."""
    asked = np.isfinite(answers).sum(axis=1)
    return np.where(asked > 0, np.nansum(answers, axis=1) / np.maximum(asked, 1), np.nan)
