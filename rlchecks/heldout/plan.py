"""How many questions a decision needs, and what a given number can detect."""

from __future__ import annotations

from math import ceil, sqrt

MIN_QUESTIONS = 100
"""No comparison is decided on fewer questions."""


def questions_needed(
    effect: float,
    differing_share: float,
    *,
    confidence: float = 0.95,
    power: float = 0.80,
    minimum: int = MIN_QUESTIONS,
) -> int | None:
    """Questions that confirm, with the given power, a truth that lies ``effect`` above the threshold.

    n = (z_(1 - alpha/2) + z_power)^2 p_d / effect^2, which is 7.8489 p_d / effect^2 at 95 % and 80 %. To confirm
    margin m when the truth is no difference, the effect is m; when a gain g is expected, it is m + g.

    Source: Miller 2024, arXiv 2411.00640, section on power, with the variance of a paired difference bounded by p_d.

    Args:
        effect: distance of the expected difference from the threshold, as a fraction of the score's range.
        differing_share: p_d, share of questions whose scores differ, 0 to 1; from a pilot take
            :func:`differing_share_upper`, never 0.
        confidence: two-sided confidence level.
        power: probability of confirming.
        minimum: the answer is never below it.

    Returns:
        The number of questions; None if the effect is not positive, since then no number suffices.

    Raises:
        ValueError: ``differing_share`` is not in (0, 1].
    """
    if not 0.0 < differing_share <= 1.0:
        raise ValueError(f"the share of differing questions must be above 0 and at most 1, got {differing_share}")
    return questions_at(effect, differing_share, confidence=confidence, power=power, minimum=minimum)


def questions_at(
    effect: float, variance: float, *, confidence: float = 0.95, power: float = 0.80, minimum: int = MIN_QUESTIONS
) -> int | None:
    """:func:`questions_needed` for any variance of a question's difference; with clusters it may be above 1."""
    if not effect > 0.0:
        return None
    needed = z_factor(confidence, power) * variance / effect**2
    return max(minimum, ceil(needed)) if needed < 1e15 else None


def minimum_detectable(
    n: int, differing_share: float, *, confidence: float = 0.95, power: float = 0.80
) -> float | None:
    """The smallest true difference that ``n`` questions confirm with the given power: sqrt(7.8489 p_d / n).

    Args:
        n: questions.
        differing_share: as in :func:`questions_needed`, or any variance of a question's difference.
        confidence: two-sided confidence level.
        power: probability of confirming.

    Returns:
        The difference as a fraction of the score's range; None without questions.
    """
    return sqrt(z_factor(confidence, power) * differing_share / n) if n > 0 else None


def differing_share_upper(differing: float, n: int, confidence: float = 0.95) -> float:
    """Upper limit of Wilson's score interval for the share of questions that differ; above 0 even for none, 1 for n=0.

    Source: Wilson 1927, Journal of the American Statistical Association 22:209.

    Args:
        differing: questions of the pilot whose scores differ; for averaged or graded scores on 0 to 1, the sum of
            their differences' sizes, which bounds the variance as well.
        n: questions of the pilot.
        confidence: two-sided confidence level.
    """
    from scipy.special import ndtri

    if n == 0:
        return 1.0
    z2 = float(ndtri((1.0 + confidence) / 2.0)) ** 2
    share = differing / n
    centre = share + z2 / (2 * n)
    spread = sqrt(z2 * (share * (1.0 - share) / n + z2 / (4.0 * n * n)))
    return min((centre + spread) / (1.0 + z2 / n), 1.0)


def z_factor(confidence: float, power: float) -> float:
    """(z_(1 - alpha/2) + z_power)^2, 7.8489 at 95 % and 80 %."""
    from scipy.special import ndtri

    return float(ndtri((1.0 + confidence) / 2.0) + ndtri(power)) ** 2
