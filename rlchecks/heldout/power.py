"""Power of the intervals that decide, and the questions that a power needs."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, sqrt

from rlchecks.heldout.plan import MIN_QUESTIONS, questions_needed, z_factor

MOST_QUESTIONS = 1_000_000
"""More questions than this are none that anybody has."""

_TOLERANCE = 0.005  # the approximations of the power are not better than this


def variance_of(between: float, within_baseline: float, within_candidate: float, repeats: int) -> float:
    """Variance of a question's difference when both sides answer it ``repeats`` times.

    between + (within_baseline + within_candidate) / repeats: more answers never take it below ``between``.

    Source: Miller 2024, arXiv 2411.00640, section on power.

    Args:
        between: variance of the true differences between questions.
        within_baseline: variance of the baseline's answers to one question.
        within_candidate: variance of the candidate's.
        repeats: answers per question and side.
    """
    return between + (within_baseline + within_candidate) / repeats


def power_of(n: int, effect: float, variance: float, *, confidence: float = 0.95) -> float:
    """Probability that ``n`` questions with averaged or graded scores confirm a truth ``effect`` above the threshold.

    The distance of the lower limit from the mean is that of a sample that lies exactly like a normal distribution; so
    it reckons with the wider limits of :func:`rlchecks.heldout.bounded.bounded_lower` where the spread is small.

    Args:
        n: questions, at least 2.
        effect: distance of the expected difference from the threshold, as a fraction of the score's range.
        variance: variance of the questions' differences, above 0.
        confidence: two-sided confidence level.
    """
    import numpy as np
    from scipy.special import ndtr, ndtri

    from rlchecks.heldout.limits import paired_limits

    sample = ndtri((np.arange(n) + 0.5) / n)
    sample *= sqrt(variance) / sample.std(ddof=1)
    half = -float(paired_limits(sample[None, :], confidence=confidence).lower[0])
    return float(ndtr((effect - half) * sqrt(n / variance)))


def power_of_share(n: int, effect: float, differing_share: float, *, confidence: float = 0.95) -> float:
    """The same for one 0/1 answer a side: Tango's lower limit where as many questions were lost as won.

    Args:
        n: questions, at least 1.
        effect: as in :func:`power_of`.
        differing_share: share of questions whose scores differ, above 0.
        confidence: two-sided confidence level.
    """
    from scipy.special import ndtr

    from rlchecks.heldout.tango import tango_limits

    each = n * differing_share / 2.0
    half = -float(tango_limits(each, each, n, confidence)[0])
    return float(ndtr((effect - half) * sqrt(n / differing_share)))


def questions_for_share(
    effect: float,
    differing_share: float,
    *,
    confidence: float = 0.95,
    power: float = 0.80,
    minimum: int = MIN_QUESTIONS,
) -> int | None:
    """:func:`questions_needed`, or more where :func:`power_of_share` asks for more: few questions that differ.

    Args:
        effect: as in :func:`questions_needed`.
        differing_share: likewise.
        confidence: two-sided confidence level.
        power: probability of confirming.
        minimum: the answer is never below it.

    Returns:
        The number of questions; None if the effect is not positive, or more than :data:`MOST_QUESTIONS` are needed.
    """
    least = questions_needed(effect, differing_share, confidence=confidence, power=power, minimum=minimum)
    return _enough(least, power, lambda n: power_of_share(n, effect, differing_share, confidence=confidence))


def questions_for_variance(
    effect: float,
    variance: float,
    *,
    confidence: float = 0.95,
    power: float = 0.80,
    minimum: int = MIN_QUESTIONS,
) -> int | None:
    """Questions with averaged or graded scores that confirm a truth ``effect`` above the threshold.

    n = (z_(1 - alpha/2) + z_power)^2 variance / effect^2 (Miller 2024), or more where :func:`power_of` asks for more.

    Args:
        effect: distance of the expected difference from the threshold, as a fraction of the score's range.
        variance: variance of the questions' differences, of :func:`variance_of`.
        confidence: two-sided confidence level.
        power: probability of confirming.
        minimum: the answer is never below it.

    Returns:
        The number of questions; None if the effect is not positive, or more than :data:`MOST_QUESTIONS` are needed.

    Raises:
        ValueError: the variance is not above 0.
    """
    if not variance > 0.0:
        raise ValueError(f"the variance must be above 0, got {variance}")
    if not effect > 0.0:
        return None
    needed = z_factor(confidence, power) * variance / effect**2
    least = max(minimum, ceil(needed)) if needed <= MOST_QUESTIONS else None
    return _enough(least, power, lambda n: power_of(n, effect, variance, confidence=confidence))


def _enough(least: int | None, power: float, power_at: Callable[[int], float]) -> int | None:
    """The smallest number from ``least`` on with this power; None if that is more than anybody has."""
    if least is None or least > MOST_QUESTIONS:
        return None
    short, enough = least - 1, least
    wanted = power - _TOLERANCE
    while enough <= MOST_QUESTIONS and power_at(enough) < wanted:
        short, enough = enough, 2 * enough
    while enough <= MOST_QUESTIONS and enough - short > 1:
        middle = (short + enough) // 2
        short, enough = (middle, enough) if power_at(middle) < wanted else (short, middle)
    return enough if enough <= MOST_QUESTIONS else None


def variance_upper(variance: float, n: int, confidence: float = 0.95) -> float:
    """Upper limit of a variance: variance (n - 1) / chi2, for normal differences.

    Source: Fisher 1925, Statistical Methods for Research Workers.

    Args:
        variance: of ``n`` differences, with n - 1 in its denominator.
        n: questions of the pilot, at least 2.
        confidence: two-sided confidence level.
    """
    from scipy.special import chdtri

    return variance * (n - 1) / float(chdtri(n - 1, (1.0 + confidence) / 2.0))
