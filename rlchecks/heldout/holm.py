"""Holm-adjusted upper limits: which of several losses are real."""

from __future__ import annotations

from collections.abc import Callable, Sequence

UpperLimit = Callable[[float], float | None]
"""Confidence level (two-sided) to upper limit; None where the interval is undefined."""


def holm_uppers(uppers: Sequence[UpperLimit], confidence: float) -> list[float | None]:
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

    Returns:
        One limit per function, None where undefined (it then does not count in K).
    """
    adjusted: list[float | None] = [None] * len(uppers)
    alpha = 1.0 - confidence
    remaining = [index for index, upper in enumerate(uppers) if upper(confidence) is not None]
    previous: float | None = None
    while remaining:
        level = 1.0 - alpha / len(remaining)
        limits = {index: limit for index in remaining if (limit := uppers[index](level)) is not None}
        if not limits:
            break
        chosen = min(limits, key=lambda index: limits[index])
        previous = limits[chosen] if previous is None else max(previous, limits[chosen])
        adjusted[chosen] = previous
        remaining.remove(chosen)
    return adjusted
