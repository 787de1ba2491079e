"""The rule that chooses an interval for paired differences, over many comparisons at once."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlchecks.heldout.bounded import bounded_lower
from rlchecks.heldout.cr2 import cr2_rows
from rlchecks.heldout.tango import tango_limits

Values = NDArray[np.float64]
Method = Literal["tango", "tango_sums", "paired_t", "cr2"]

MIN_QUESTIONS_T = 100
"""Fewer questions with averaged 0/1 scores are judged by Tango's interval, never by t."""

MIN_DIFFERING_T = 30
"""So are fewer questions whose two averages differ: a rare regression may be absent from the sample altogether."""

MIN_CLUSTERS = 10
"""Fewer clusters allow no interval."""

MIN_DF = 4.0
"""Nor do fewer effective degrees of freedom (Imbens and Kolesar 2016: unreliable below)."""

_MOVED = 0.01  # of the half width: less is not worth another name

SAME = 1e-12
"""Differences of at most this are none; averages of repeats are exact to about 1e-16."""


class Limits(NamedTuple):
    """Intervals of many comparisons, one row each.

    Attributes:
        estimate: mean differences, shape (m,).
        lower: lower limits, shape (m,), NaN where undefined.
        upper: upper limits, shape (m,), NaN where undefined.
        method: ``tango``, ``tango_sums``, ``paired_t`` or ``cr2``, shape (m,).
        moved: whether a limit of t or CR2 was moved out by :func:`rlchecks.heldout.bounded.bounded_lower`, shape (m,).
        df: degrees of freedom of t or CR2.
    """

    estimate: Values
    lower: Values
    upper: Values
    method: NDArray[np.str_]
    moved: NDArray[np.bool_]
    df: float


def paired_limits(
    differences: Values,
    *,
    binary_single: bool = False,
    averaged_binary: bool = False,
    clusters: NDArray[np.intp] | None = None,
    confidence: float = 0.95,
    reach: float = 1.0,
) -> Limits:
    """The intervals of many comparisons of the same questions, by the rule of ``paired_interval``.

    Args:
        differences: finite, shape (m, n), n at least 1.
        binary_single: one score of 0 or 1 per question and side.
        averaged_binary: averages of scores of 0 or 1.
        clusters: the cluster of each question, 0 to G - 1 without a gap, shape (n,), or None where questions are
            independent; one of them holds several questions.
        confidence: two-sided confidence level, between 0 and 1.
        reach: the largest size that a difference can have.
    """
    m, n = differences.shape
    if clusters is not None:
        return _clustered(differences, clusters, confidence, reach)
    by_sums = np.full(m, binary_single)
    if averaged_binary and not binary_single:
        differing = np.count_nonzero(np.abs(differences) > SAME, axis=1)
        by_sums = (n < MIN_QUESTIONS_T) | (differing < MIN_DIFFERING_T) | (np.ptp(differences, axis=1) <= SAME)
    estimate, lower, upper = differences.mean(axis=1), np.full(m, np.nan), np.full(m, np.nan)
    moved = np.zeros(m, dtype=bool)
    if by_sums.any():
        chosen = differences[by_sums]
        b, c = np.maximum(chosen, 0.0).sum(axis=1), np.maximum(-chosen, 0.0).sum(axis=1)
        lower[by_sums], upper[by_sums] = tango_limits(b, c, n, confidence)
        estimate[by_sums] = (b - c) / n
    by_t = ~by_sums & (np.ptp(differences, axis=1) > SAME)
    if n > 1 and by_t.any():
        chosen = differences[by_t]
        se = chosen.std(axis=1, ddof=1) / n**0.5
        lower[by_t], upper[by_t], moved[by_t] = _outer(chosen, estimate[by_t], se, confidence, n - 1.0, reach)
    method = np.where(by_sums, "tango" if binary_single else "tango_sums", "paired_t")
    return Limits(estimate, lower, upper, method, moved, n - 1.0)


def _clustered(differences: Values, clusters: NDArray[np.intp], confidence: float, reach: float) -> Limits:
    m, n = differences.shape
    lower, upper, moved = np.full(m, np.nan), np.full(m, np.nan), np.zeros(m, dtype=bool)
    method = np.full(m, "cr2")
    n_clusters = int(clusters.max()) + 1
    if n_clusters < 2:
        return Limits(differences.mean(axis=1), lower, upper, method, moved, 0.0)
    found = cr2_rows(differences, clusters)
    defined = found.se > SAME
    if n_clusters >= MIN_CLUSTERS and found.df >= MIN_DF and defined.any():
        # What one cluster adds to the mean, as if clusters were questions: one of mean size that loses everything is
        # worth -reach, as one question is. The one that is reckoned with has the root mean square of the sizes.
        large = float((found.sizes**2).mean()) ** 0.5 * n_clusters / n
        mean = found.mean[defined]
        parts = mean[:, None] + found.residuals[defined] * (n_clusters / n)
        lower[defined], upper[defined], moved[defined] = _outer(
            parts, mean, found.se[defined], confidence, found.df, reach * large, uneven=True
        )
    return Limits(found.mean, lower, upper, method, moved, found.df)


def _outer(
    values: Values,
    mean: Values,
    se: Values,
    confidence: float,
    df: float,
    reach: float,
    *,
    uneven: bool = False,
) -> tuple[Values, Values, NDArray[np.bool_]]:
    """The outer ones of the t limits and those that reckon with losses and gains that were not seen."""
    from scipy.special import stdtrit

    half = float(stdtrit(df, (1.0 + confidence) / 2.0)) * se
    lower = bounded_lower(values, -reach, confidence, df, uneven=uneven)
    upper = -bounded_lower(-values, -reach, confidence, df, uneven=uneven)
    further = np.maximum(mean - half - lower, upper - mean - half)
    moved = further > _MOVED * half
    return np.minimum(lower, mean - half), np.maximum(upper, mean + half), moved
