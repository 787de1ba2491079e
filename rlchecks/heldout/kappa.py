"""Cohen's kappa: agreement of two judges beyond what their habits alone would give."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Kappa(NamedTuple):
    """Cohen's kappa with its two-sided confidence interval.

    Attributes:
        value: kappa, at most 1; 0: no more agreement than by chance; None if undefined.
        lower: lower confidence limit, None if undefined.
        upper: upper confidence limit, at most 1; None if undefined.
        reason: why something is None, else None.
    """

    value: float | None
    lower: float | None
    upper: float | None
    reason: str | None


def cohen_kappa(
    one: ArrayLike, other: ArrayLike, clusters: NDArray[np.int64] | None = None, confidence: float = 0.95
) -> Kappa:
    """Unweighted kappa, (p_o - p_e) / (1 - p_e), with the large-sample interval.

    Sources: Cohen 1960, Educational and Psychological Measurement 20:37; the variance of Fleiss, Cohen and Everitt
    1969, Psychological Bulletin 72:323, is the mean square of each answer's influence. Influences are added up within
    clusters first (Liang and Zeger 1986), so that repeats of a question do not count as independent.

    Args:
        one: the one judge's scores, each a category of its own, shape (n,).
        other: the other's, shape (n,).
        clusters: what answers have in common, such as their question, shape (n,); None: nothing.
        confidence: two-sided confidence level, between 0 and 1.
    """
    first, second = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    n = len(first)
    if n == 0:
        return Kappa(None, None, None, "no answer was scored by both")
    values, codes = np.unique(np.concatenate([first, second]), return_inverse=True)
    row, column = codes[:n], codes[n:]
    rows, columns = (np.bincount(each, minlength=len(values)) / n for each in (row, column))
    chance = float(rows @ columns)
    # Two judges that always give one and the same score agree by chance alone.
    if chance >= 1.0 - 1e-12:
        return Kappa(None, None, None, "both give every answer the same score")
    value = (float((row == column).mean()) - chance) / (1.0 - chance)
    influence = (row == column) - (1.0 - value) * (columns[row] + rows[column])
    influence = (influence - influence.mean()) / (1.0 - chance)
    totals = influence if clusters is None else np.bincount(np.unique(clusters, return_inverse=True)[1], influence)
    error = float(np.sqrt((totals**2).sum())) / n
    if error <= 1e-12:
        return Kappa(value, None, None, "the answers do not differ, so kappa has no variance")
    from scipy.special import ndtri

    half = float(ndtri((1.0 + confidence) / 2.0)) * error
    return Kappa(value, value - half, min(value + half, 1.0), None)
