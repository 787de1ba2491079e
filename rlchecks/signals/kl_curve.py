"""Score against the distance from the starting model: where more distance no longer buys score.

Gao, Schulman and Hilton 2023 ("Scaling Laws for Reward Model Overoptimization", arXiv 2210.10760) found that under
reinforcement learning the gain of a score that is not the training reward follows ``d (alpha - beta ln d)``, with
``d`` the square root of the KL divergence from the starting model. It peaks at ``d = exp(alpha / beta - 1)``, by
``beta d``. (Their form for the best of n samples is another, ``d (alpha - beta d)``.)

The fit assumes that the score counts on one scale, that all checkpoints are of one run, and that the logged KL is at
least proportional to the real one: whether it is a mean per token or a sum per answer only changes the scale of
``d``, which the form absorbs as long as answers keep their length. Near the starting model the form is poor.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rlchecks.signals.arrays import Floats, Integers
from rlchecks.signals.trend import may_overflow

if TYPE_CHECKING:
    from rlchecks.run import RunLog

FEWEST = 6
"""Checkpoints from which the curve is fitted: three parameters, and three degrees of freedom for the scatter."""

ROWS = 5
"""Logged rows whose median KL stands for a checkpoint: the KL of one batch is noisy, and now and then wild."""


class KlCurve(NamedTuple):
    """A fit of ``start + d (alpha - beta ln d)``.

    Attributes:
        start: score at no distance; None if there is no fit.
        alpha: see the module.
        beta: see the module.
        peak_kl: KL at which the curve peaks, in the unit of the given KL; None if no peak is shown.
        peak_kl_low: its lower limit at 95 %.
        peak_kl_high: its upper limit; None if it is not bounded.
        beyond: whether the peak lies beyond the largest KL seen, so that the run has not come to it.
        n: checkpoints that count.
        reason: why there is no fit, or no peak.
    """

    start: float | None
    alpha: float | None
    beta: float | None
    peak_kl: float | None
    peak_kl_low: float | None
    peak_kl_high: float | None
    beyond: bool
    n: int
    reason: str | None


def kl_at(step: Integers, kl: Floats, at: int) -> float | None:
    """KL of a checkpoint: the median of the last rows up to its step; 0 at step 0, which is the starting model.

    Args:
        step: steps of the training rows, ascending, shape ``(n,)``.
        kl: their KL, NaN where it was not logged, shape ``(n,)``.
        at: the checkpoint's step.

    Returns:
        None if KL was not logged by then, if the log ends before the step, or if all KL is exactly 0, as trainers
        log it that do not measure it; 0 is then no measurement.
    """
    known = np.isfinite(kl)
    if not known.any() or not np.any(kl[known] != 0) or at > step[-1]:
        return None
    if at <= 0:
        return 0.0
    rows = kl[known & (step <= at)][-ROWS:]
    return float(np.median(rows)) if len(rows) else None


def distances(run: RunLog) -> Callable[[int], float | None]:
    """Tell the KL of a run's checkpoints by their step, as :func:`kl_at` does."""
    rows = run.training_steps.sort_by("step")
    step, kl = rows["step"].to_numpy().astype(np.int64), rows["kl"].to_numpy().astype(np.float64)
    kl = np.where(np.isfinite(kl), kl, np.nan)
    return partial(kl_at, step, kl)


@may_overflow()
def fit(kl: Floats, score: Floats, answers: Floats | None = None, clusters: Integers | None = None) -> KlCurve:
    """Fit the curve by least squares, and find its peak with an interval.

    The peak depends on ``alpha / beta`` alone, so that its interval is Fieller's (1954, Journal of the Royal
    Statistical Society B 16:175): of the scatter about the curve, and where the scores of single questions are
    given, of the questions too (as if they were drawn again); the wider limits count. Nothing covers a curve of
    another form.

    Args:
        kl: KL of each checkpoint, NaN where unknown, shape ``(n,)``; one that is negative, as estimates near 0 can
            be, is left out.
        score: mean score of each checkpoint, NaN where unknown, shape ``(n,)``.
        answers: score of each question at each checkpoint, finite, shape ``(questions, n)``.
        clusters: cluster of each question, shape ``(questions,)``; None: each is its own.
    """
    usable = np.isfinite(kl) & np.isfinite(score) & (kl >= 0)
    n = int(usable.sum())
    if n < FEWEST:
        return _without(n, f"{n} checkpoints with a score and a KL, fewer than {FEWEST}")
    distance = np.sqrt(kl[usable])
    unit = float(distance.max())
    if len(np.unique(distance)) < 4:
        return _without(n, "fewer than four different values of KL")
    # Only the scale of alpha and beta depends on the unit of the distance.
    d = distance / unit
    design = np.stack([np.ones(n), d, -d * np.log(np.where(d > 0, d, 1.0))], axis=1)
    if np.linalg.matrix_rank(design) < 3:
        return _without(n, "the values of KL lie too close together")
    solve = np.linalg.pinv(design)
    start, one, two = (float(value) for value in solve @ score[usable])
    if not np.isfinite([start, one, two]).all():
        return _without(n, "the scores are too large to compute with")
    beta = two / unit
    alpha = (one + two * float(np.log(unit))) / unit
    squares = float(((score[usable] - design @ np.array([start, one, two])) ** 2).sum())
    parts = [(squares / (n - 3) * (solve @ solve.T)[1:, 1:], n - 3)]
    if answers is not None:
        parts.append(_of_questions(solve @ answers[:, usable].T, clusters))
    curve = KlCurve(start, alpha, beta, None, None, None, False, n, None)
    limits = [_fieller(one, two, covariance, df) for covariance, df in parts]
    if two <= 0 or any(limit is None for limit in limits):
        return curve._replace(reason="no peak is shown: the score is not seen to bend with the distance")
    low = min(limit[0] for limit in limits if limit is not None)
    high = max(limit[1] for limit in limits if limit is not None)
    peak, lower, upper = (_peak(ratio, unit) for ratio in (one / two, low, high))
    if peak is None:
        return curve._replace(reason="no peak is shown: it lies far beyond every checkpoint")
    return curve._replace(
        peak_kl=peak, peak_kl_low=lower, peak_kl_high=upper, beyond=bool(peak > float(kl[usable].max()))
    )


def _without(n: int, reason: str) -> KlCurve:
    return KlCurve(None, None, None, None, None, None, False, n, reason)


def _peak(ratio: float, unit: float) -> float | None:
    """KL of the peak; None if it overflows, which is further than anything that was seen."""
    value = float((unit * np.exp(ratio - 1)) ** 2)
    return value if np.isfinite(value) else None


def _of_questions(coefficients: Floats, clusters: Integers | None) -> tuple[Floats, int]:
    """Covariance of the mean of ``(alpha, beta)`` over questions, of shape ``(3, questions)``, robust in clusters."""
    off = coefficients[1:] - coefficients[1:].mean(axis=1, keepdims=True)
    count = off.shape[1]
    code = np.arange(count) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    sums = np.stack([np.bincount(code, weights=part) for part in off])
    groups = sums.shape[1]
    if groups < 2:
        return np.full((2, 2), np.nan), 1
    return sums @ sums.T * (groups / (groups - 1)) / count**2, groups - 1


def _fieller(one: float, two: float, covariance: Floats, df: int) -> tuple[float, float] | None:
    """Limits of ``one / two`` at 95 %; None if ``two`` is not clearly different from 0."""
    from scipy.special import stdtrit

    t = float(stdtrit(df, 0.975)) ** 2
    a = two**2 - t * covariance[1, 1]
    b = one * two - t * covariance[0, 1]
    c = one**2 - t * covariance[0, 0]
    if not a > 0:
        return None
    half = np.sqrt(max(b**2 - a * c, 0.0))
    return float((b - half) / a), float((b + half) / a)
