"""Holm-adjusted upper limits: which of several losses are real."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence


def looks_divisor(looks: int, together: int = 1) -> float:
    """What alpha is divided by, so that many looks at one set of questions seldom promote what is no better.

    max(looks, (looks - together + 1) (looks + 1) / 2): with all candidates in one call their number (Bonferroni); with
    one look after the other 1, 3, 6, 10, ... The alphas of the looks, 2 alpha / (i (i + 1)), add up to less than
    2 alpha, that is 5 % for a lower limit at 95 %, however many looks follow and whatever they have in common. Division
    by the number of looks alone adds up without end: it promoted one of 20 that were no better in 6 %.

    Source: alpha spending, Lan and DeMets 1983, Biometrika 70:659; Bonferroni's inequality.

    Args:
        looks: different candidates that were compared on the questions, those of this call included, at least 1.
        together: how many of them are compared in this call.
    """
    return max(float(looks), (looks - together + 1) * (looks + 1) / 2.0)


UpperLimit = Callable[[float], float | None]
"""Confidence level (two-sided) to upper limit; None where the interval is undefined."""


def holm_uppers(
    uppers: Sequence[UpperLimit], confidence: float, *, until: float = math.inf, others: int = 0
) -> list[float | None]:
    """Upper limits, adjusted so that "the limit lies below t" is Holm's test of "the difference is at least t".

    With K defined intervals and alpha = 1 - confidence: take the smallest of the K limits computed at confidence
    1 - alpha / K; then, of the others, the smallest computed at 1 - alpha / (K - 1); and so on, where no limit may be
    below the one before it. For every threshold t the limits below t are exactly the differences that Holm's
    step-down procedure finds to be below t with one-sided tests at alpha / 2: the next level is used only after all
    earlier limits are below t, and the outcome of a sequentially rejective procedure does not depend on the order in
    which hypotheses that can be rejected are rejected.

    Source: Holm 1979, Scandinavian Journal of Statistics 6:65; order of rejections: Goeman and Solari 2010, Annals of
    Statistics 38:3782.

    Args:
        uppers: one function per difference.
        confidence: two-sided confidence level of one unadjusted interval.
        until: limits from the first on that is not below this are of no interest, and None after it.
        others: further differences that count in K at every step, whatever became of them.

    Returns:
        One limit per function, None where undefined (it then does not count in K).
    """
    adjusted: list[float | None] = [None] * len(uppers)
    alpha = 1.0 - confidence
    remaining = [index for index, upper in enumerate(uppers) if upper(confidence) is not None]
    previous: float | None = None
    while remaining:
        level = 1.0 - alpha / (len(remaining) + others)
        limits = {index: limit for index in remaining if (limit := uppers[index](level)) is not None}
        if not limits:
            break
        chosen = min(limits, key=lambda index: limits[index])
        previous = limits[chosen] if previous is None else max(previous, limits[chosen])
        adjusted[chosen] = previous
        if previous >= until:
            break
        remaining.remove(chosen)
    return adjusted
