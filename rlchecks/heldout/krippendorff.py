"""Krippendorff's alpha: agreement of any number of judges, of whom none has to score every answer."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

_LARGE = 1e100  # whose square is still a number

Level = Literal["nominal", "interval"]


def krippendorff_alpha(scores: ArrayLike, level: Level) -> float | None:
    """Alpha, one minus observed over expected disagreement.

    Source: Krippendorff 2011, Computing Krippendorff's alpha-reliability (University of Pennsylvania,
    repository.upenn.edu/asc_papers/43).

    Args:
        scores: NaN where unscored, shape (answers, judges).
        level: ``nominal``: scores are equal or not; ``interval``: they differ by the square of their difference.

    Returns:
        At most 1; None if no answer has two scores, or all scores are equal.
    """
    table = np.asarray(scores, dtype=float)
    table = table[(~np.isnan(table)).sum(axis=1) > 1]
    given = ~np.isnan(table)
    of_answer = given.sum(axis=1)
    n = int(of_answer.sum())
    if n == 0:
        return None
    if level == "interval":
        table = _centred(table)
    within = _nominal(table, given) if level == "nominal" else _interval(table, given)
    values = table[given][None, :]
    every = np.ones_like(values, dtype=bool)
    between = float((_nominal(values, every) if level == "nominal" else _interval(values, every)).sum())
    if between <= 1e-12 * n:
        return None
    return float(1.0 - (within / (of_answer - 1)).sum() * (n - 1) / between)


def _centred(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores around their mean, on -1 to 1: alpha does not change, and large or small ones lose no digits."""
    size = float(np.nanmax(np.abs(table)))
    if size > _LARGE or 0.0 < size < 1.0 / _LARGE:  # else not divided, which would round
        table = table / size
    centred = np.asarray(table - np.nanmean(table))
    spread = float(np.nanmax(np.abs(centred)))
    return centred / spread if spread > 1e-15 * float(np.nanmax(np.abs(table))) else np.zeros_like(table)


def _nominal(table: NDArray[np.float64], given: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Ordered pairs of unequal scores in each row."""
    count = given.sum(axis=1).astype(float)
    same = sum((((table == value) & given).sum(axis=1).astype(float) ** 2 for value in np.unique(table[given])), 0.0)
    return np.asarray(count**2 - same)


def _interval(table: NDArray[np.float64], given: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Sum of the squared differences of all ordered pairs of scores in each row."""
    filled = np.where(given, table, 0.0)
    return np.asarray(2.0 * (given.sum(axis=1) * (filled**2).sum(axis=1) - filled.sum(axis=1) ** 2))
