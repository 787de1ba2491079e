"""Tango's score limits for paired proportions, over whole arrays at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

_HALVINGS = 60  # of an interval at most 2 wide: below the resolution of a double

Limits = NDArray[np.float64]


def tango_limits(b: ArrayLike, c: ArrayLike, n: ArrayLike, confidence: float = 0.95) -> tuple[Limits, Limits]:
    """Lower and upper limits of (b - c) / n: all d with |b - c - n d| <= z sqrt(n (2 q(d) + d (1 - d))).

    q(d) = (sqrt(B^2 - 4 A C) - B) / (2 A) is the maximum-likelihood estimate of the probability that only the
    baseline is right, given the difference d; A = 2 n, B = -b - c + (2 n - b + c) d, C = -c d (1 - d). The score falls
    as d rises, so each limit is found by bisection between the estimate and -1 or 1.

    Source: Tango 1998, Statistics in Medicine 17:891.

    Args:
        b: discordant in the candidate's favour, >= 0; need not be whole.
        c: discordant in the baseline's favour, >= 0; need not be whole.
        n: pairs, > 0, with b + c <= n. The three broadcast against each other.
        confidence: two-sided confidence level, between 0 and 1.

    Returns:
        The limits, each in -1 to 1, of the broadcast shape.
    """
    from scipy.special import ndtri

    z = float(ndtri((1.0 + confidence) / 2.0))
    b, c, n = np.broadcast_arrays(np.asarray(b, dtype=float), np.asarray(c, dtype=float), np.asarray(n, dtype=float))
    estimate = (b - c) / n
    lower = _bisect(b, c, n, z, inside=estimate, outside=np.full_like(estimate, -1.0))
    upper = _bisect(b, c, n, z, inside=estimate, outside=np.full_like(estimate, 1.0))
    return lower, upper


def _bisect(b: Limits, c: Limits, n: Limits, z: float, *, inside: Limits, outside: Limits) -> Limits:
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2.0
        accepted = np.abs(b - c - n * middle) <= z * np.sqrt(_variance(b, c, n, middle))
        inside = np.where(accepted, middle, inside)
        outside = np.where(accepted, outside, middle)
    return inside


def _variance(b: Limits, c: Limits, n: Limits, d: Limits) -> Limits:
    first = 2.0 * n
    second = -b - c + (2.0 * n - b + c) * d
    third = -c * d * (1.0 - d)
    q = (np.sqrt(np.maximum(second**2 - 4.0 * first * third, 0.0)) - second) / (2.0 * first)
    # Rounding may leave a tiny negative variance at the ends.
    return np.maximum(n * (2.0 * q + d * (1.0 - d)), 0.0)
