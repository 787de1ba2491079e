"""McNemar's test: a diagnostic beside the interval, since readers know it. It decides nothing."""

from __future__ import annotations

from typing import NamedTuple


class McNemar(NamedTuple):
    """Two-sided p-values for "as many questions improved as worsened".

    Attributes:
        exact: conditional binomial test.
        mid_p: the same less half the probability of the observed table; the one to quote (Fagerland, Lydersen and
            Laake 2013, BMC Medical Research Methodology 13:91).
        asymptotic: chi-squared with one degree of freedom.
        corrected: the same with the continuity correction.
    """

    exact: float
    mid_p: float
    asymptotic: float
    corrected: float


def mcnemar(b: int, c: int) -> McNemar | None:
    """McNemar 1947, on the questions that differ.

    Args:
        b: questions that worsened.
        c: questions that improved.

    Returns:
        the p-values; None if no question differs, since nothing can then be tested.

    Raises:
        ValueError: a count is negative.
    """
    from scipy.special import bdtr, chdtrc, gammaln

    if b < 0 or c < 0:
        raise ValueError(f"counts of questions are not negative, got {b} and {c}")
    n, least = b + c, min(b, c)
    if n == 0:
        return None
    import numpy as np

    exact = min(1.0, 2.0 * float(bdtr(least, n, 0.5)))
    observed = float(np.exp(gammaln(n + 1) - gammaln(least + 1) - gammaln(n - least + 1) - n * np.log(2.0)))
    # With b = c the two tails meet in the observed table, which then counts once.
    mid_p = exact - observed if b != c else 1.0 - observed / 2
    return McNemar(
        exact,
        mid_p,
        float(chdtrc(1, (b - c) ** 2 / n)),
        float(chdtrc(1, max(abs(b - c) - 1, 0) ** 2 / n)),
    )
