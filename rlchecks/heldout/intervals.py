"""Confidence intervals for paired differences, and the rule that chooses among them.

Every difference is candidate minus baseline of one question. Binary scores are 0 or 1, so their averages and the
differences of those lie in -1 to 1. An interval that cannot be computed is None with the reason, never zero wide.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rlchecks.heldout.cr2 import cr2
from rlchecks.heldout.limits import MIN_CLUSTERS as MIN_CLUSTERS
from rlchecks.heldout.limits import MIN_DF, paired_limits
from rlchecks.heldout.limits import SAME as SAME
from rlchecks.heldout.tango import tango_limits


class Interval(NamedTuple):
    """A mean paired difference with its two-sided confidence interval.

    Attributes:
        estimate: mean difference, in the unit of the scores; None without any pair.
        lower: lower confidence limit, None if undefined.
        upper: upper confidence limit, None if undefined.
        n: number of pairs (questions).
        clusters: number of clusters, None where questions are independent.
        df: degrees of freedom of the t distribution, None for score intervals.
        method: ``tango``, ``tango_sums``, ``paired_t`` or ``cr2``; ``bounded_t`` or ``bounded_cr2`` where a limit was
            moved out for losses or gains that may not have been seen.
        reason: why the limits are None, else None.
    """

    estimate: float | None
    lower: float | None
    upper: float | None
    n: int
    clusters: int | None
    df: float | None
    method: str
    reason: str | None


def tango(b: float, c: float, n: int, confidence: float = 0.95) -> Interval:
    """Tango's score interval for the difference of two paired proportions, (b - c) / n.

    With ``b`` and ``c`` the sums of the positive and of the negative differences of averaged 0/1 scores the interval
    is conservative, since d squared is at most |d| on -1 to 1.

    Source: Tango 1998, Statistics in Medicine 17:891.

    Args:
        b: questions that only the candidate answered correctly (or the sum of positive differences), >= 0.
        c: questions that only the baseline answered correctly (or the sum of negative differences, its size), >= 0.
        n: questions, with b + c <= n.
        confidence: two-sided confidence level, between 0 and 1.

    Raises:
        ValueError: b, c, n or the confidence level is out of its range.
    """
    _check_confidence(confidence)
    if not (b >= 0 and c >= 0 and b + c <= n * (1 + 1e-12)):
        raise ValueError(f"b and c must not be negative, nor b + c above n; got b={b}, c={c}, n={n}")
    whole = float(b).is_integer() and float(c).is_integer()
    method = "tango" if whole else "tango_sums"
    if n == 0:
        return _undefined(method, 0, "no question was answered on both sides")
    lower, upper = tango_limits(b, c, n, confidence)
    return Interval(float(b - c) / n, float(lower), float(upper), n, None, None, method, None)


def paired_t(differences: ArrayLike, confidence: float = 0.95) -> Interval:
    """Student's t interval for the mean of paired differences: mean ± t(n - 1) sd / sqrt(n).

    Source: Student 1908, Biometrika 6:1; recommended on question level by Miller 2024, arXiv 2411.00640.

    Args:
        differences: one per question, shape (n,).
        confidence: two-sided confidence level, between 0 and 1.

    Raises:
        ValueError: a difference is not finite, or the confidence level is out of range.
    """
    values = _checked(differences, confidence)
    n = len(values)
    if n == 0:
        return _undefined("paired_t", 0, "no question was answered on both sides")
    estimate = float(values.mean())
    if n == 1:
        return _undefined("paired_t", 1, "one question has no variance", estimate)
    if np.ptp(values) <= SAME:
        return _undefined("paired_t", n, "all differences are equal, so their variance is zero", estimate)
    half = _t_quantile(n - 1, confidence) * float(values.std(ddof=1)) / n**0.5
    return Interval(estimate, estimate - half, estimate + half, n, None, float(n - 1), "paired_t", None)


def clustered(
    differences: ArrayLike, clusters: Sequence[object] | NDArray[np.generic], confidence: float = 0.95
) -> Interval:
    """Cluster-robust t interval for a mean difference: CR2 with Bell-McCaffrey degrees of freedom.

    Args:
        differences: one per question, shape (n,).
        clusters: the cluster of each question, shape (n,).
        confidence: two-sided confidence level, between 0 and 1.

    Returns:
        The interval; limits are None with fewer than two clusters, fewer than :data:`MIN_DF` effective degrees of
        freedom or no variance between clusters.

    Raises:
        ValueError: a difference is not finite, lengths differ, or the confidence level is out of range.
    """
    values = _checked(differences, confidence)
    n = len(values)
    if n == 0:
        return _undefined("cr2", 0, "no question was answered on both sides", clusters=0)
    if len(np.unique(np.asarray(clusters))) < 2:
        return _undefined("cr2", n, "all questions belong to one cluster", float(values.mean()), 1)
    found = cr2(values, clusters)
    if found.df < MIN_DF:
        reason = f"{found.clusters} clusters give {found.df:.1f} effective degrees of freedom, fewer than {MIN_DF:.0f}"
        return Interval(found.mean, None, None, n, found.clusters, found.df, "cr2", reason)
    if found.se <= SAME:
        reason = "the clusters do not differ, so their variance is zero"
        return Interval(found.mean, None, None, n, found.clusters, found.df, "cr2", reason)
    half = _t_quantile(found.df, confidence) * found.se
    return Interval(found.mean, found.mean - half, found.mean + half, n, found.clusters, found.df, "cr2", None)


def paired_interval(
    differences: ArrayLike,
    *,
    binary_single: bool = False,
    averaged_binary: bool = False,
    clusters: Sequence[object] | NDArray[np.generic] | None = None,
    confidence: float = 0.95,
    reach: float = 1.0,
) -> Interval:
    """The interval that fits the data.

    - Some cluster holds several questions: CR2, from :data:`rlchecks.heldout.limits.MIN_CLUSTERS` clusters on.
    - One 0/1 score a question and side: Tango.
    - Averaged 0/1 scores: t; but Tango with the sums of positive and negative differences when there are fewer than
      :data:`rlchecks.heldout.limits.MIN_QUESTIONS_T` questions, fewer than
      :data:`rlchecks.heldout.limits.MIN_DIFFERING_T` that differ, or no variance. Simulated coverage of rare
      regressions is then at least .96, where t has .30 to .89.
    - Graded scores: t.

    A limit of t or CR2 is moved out to that of :func:`rlchecks.heldout.bounded.bounded_lower` where this one lies
    further out: it reckons with rare large losses (or gains) that the sample may not hold.

    Args:
        differences: one per question, shape (n,); -1 to 1 for binary scores.
        binary_single: one score of 0 or 1 per question and side.
        averaged_binary: averages of scores of 0 or 1.
        clusters: the cluster of each question, shape (n,), or None where questions are independent.
        confidence: two-sided confidence level, between 0 and 1.
        reach: the largest size that a difference can have, 1 for scores on 0 to 1; a larger one that was seen counts.

    Raises:
        ValueError: a difference is not finite or (binary) beyond 1 in size, ``reach`` is not above 0, or the
            confidence level is out of range.
    """
    values = _checked(differences, confidence)
    if not reach > 0.0:
        raise ValueError(f"the largest size of a difference must be above 0, got {reach}")
    n = len(values)
    code: NDArray[np.intp] | None = None
    if clusters is not None:
        names, code = np.unique(np.asarray(clusters), return_inverse=True)
        if len(names) == n:
            code = None
        elif len(names) < MIN_CLUSTERS:
            reason = f"{len(names)} clusters, fewer than {MIN_CLUSTERS}"
            return _undefined("cr2", n, reason, float(values.mean()), len(names))
    if code is None and (binary_single or averaged_binary) and np.abs(values).sum() > n * (1 + SAME):
        raise ValueError("a difference of 0/1 scores lies beyond 1")
    plain = clustered(values, code, confidence) if code is not None else paired_t(values, confidence)
    if n == 0:
        return plain._replace(method="tango" if binary_single else "tango_sums" if averaged_binary else "paired_t")
    found = paired_limits(
        values[None, :],
        binary_single=binary_single,
        averaged_binary=averaged_binary,
        clusters=code,
        confidence=confidence,
        reach=reach,
    )
    method, lower, upper = str(found.method[0]), float(found.lower[0]), float(found.upper[0])
    if np.isnan(lower):
        return plain
    if method.startswith("tango"):
        return Interval(float(found.estimate[0]), lower, upper, n, None, None, method, None)
    if found.moved[0]:
        method = "bounded_cr2" if code is not None else "bounded_t"
    return plain._replace(lower=lower, upper=upper, method=method)


def _t_quantile(df: float, confidence: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(df, (1.0 + confidence) / 2.0))


def _checked(differences: ArrayLike, confidence: float) -> NDArray[np.float64]:
    _check_confidence(confidence)
    values = np.asarray(differences, dtype=float)
    if not np.isfinite(values).all():
        raise ValueError("a difference is not finite; leave unanswered questions out")
    return values


def _check_confidence(confidence: float) -> None:
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"the confidence level must lie between 0 and 1, got {confidence}")


def _undefined(
    method: str, n: int, reason: str, estimate: float | None = None, clusters: int | None = None
) -> Interval:
    return Interval(estimate, None, None, n, clusters, None, method, reason)
