"""Lower limits for the mean of values that cannot lie below a known floor, over whole arrays at once."""

from __future__ import annotations

from math import log

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

_STEPS = 100  # a few suffice; the bracket at least halves in every second one
_CLOSE = 1e-7  # of the signed root of the likelihood ratio; the limit is then off by 1e-7 standard errors
_TINY = 1e-300


def bounded_lower(values: Values, floor: float, confidence: float, df: float, *, uneven: bool = False) -> Values:
    """Lower limits of means by empirical likelihood with a floor.

    A mean mu is accepted while some distribution on the seen values and on the floor has that mean and a likelihood
    ratio above exp(-c). With a pole a at or below the floor the ratio's logarithm is
    sum log(x - a) - n log h(a), where h is the harmonic mean of x - a, and mu = a + h(a); c = t^2 / 2 with Student's
    quantile. Where a pole at the floor itself does not exhaust c, what is missing is mass on the floor that nobody has
    seen: mu = floor + g exp(-c / n), with g the geometric mean of x - floor. The chi-squared calibration is too short
    there: of counts of which none was seen it gives 1.92 / n where 3.69 / n is exact. So c goes to log(2 / alpha),
    which is exact when all values are equal, with the third power of the part of t^2 / 2 that is missing.

    Between the two, with noise that hides rare large losses, the limit was set by measurement: where a t interval
    missed the mean on this side in up to 62 % of the samples, this one did in up to 5 % (docs/calibration.md).

    Source: Owen 1988, Biometrika 75:237, and 2001, Empirical Likelihood, 3.3 on Student's calibration; the floor as a
    value that may have mass: Honda and Takemura 2010, COLT, section 3 (their D_min).

    Args:
        values: shape (m, n), no row constant, none below ``floor``.
        floor: the least value there can be; where a row has a lesser one, that.
        confidence: two-sided confidence level: the limits are one-sided at (1 + confidence) / 2.
        df: degrees of freedom of Student's quantile.
        uneven: whether values weigh differently, as clusters of many sizes do; c then has Bartlett's factor
            1 + (k4 / 2 - k3^2 / 3) / n, with the standardised third and fourth moments k3 and k4, never below 1
            (DiCiccio, Hall and Romano 1991, Annals of Statistics 19:1053).

    Returns:
        The limits, shape (m,).
    """
    from scipy.special import stdtrit

    n = values.shape[1]
    root = np.full(len(values), float(stdtrit(df, (1.0 + confidence) / 2.0)))
    if uneven:
        root *= np.sqrt(_bartlett(values))
    least = np.minimum(values.min(axis=1), floor)
    logs, harmonic = _means(values, least)
    ratio = logs - n * np.log(harmonic)
    common = root**2 / 2.0
    missing = np.clip(1.0 - ratio / common, 0.0, 1.0)
    threshold = common + np.maximum(log(2.0 / (1.0 - confidence)) - common, 0.0) * missing**3
    limits: Values = least + np.exp((logs - threshold) / n)
    inside = np.flatnonzero(ratio > common)
    if len(inside):
        limits[inside] = _poles(values[inside], least[inside], ratio[inside], root[inside])
    return limits


def _poles(values: Values, least: Values, ratio: Values, root: Values) -> Values:
    """The means at which the root of twice the ratio is ``root``, for poles below ``least``.

    The root is nearly proportional to 1 / (mean - a), so false position in that variable ends after a few steps; the
    end that stays has its value halved (Illinois).
    """
    n = values.shape[1]
    mean = values.mean(axis=1)
    low, high = np.zeros(len(values)), 1.0 / (mean - least)
    at_low, at_high = -root, np.sqrt(2.0 * ratio) - root
    limits = np.empty(len(values))
    at = np.minimum(root / (values.std(axis=1) * n**0.5), high * 0.999)
    open_rows = np.arange(len(values))
    for _ in range(_STEPS):
        pole = mean[open_rows] - 1.0 / at
        logs, harmonic = _means(values[open_rows], pole)
        limits[open_rows] = pole + harmonic
        found = np.sqrt(2.0 * np.maximum(logs - n * np.log(harmonic), 0.0)) - root[open_rows]
        above = found > 0.0
        rows = open_rows
        at_low[rows] = np.where(above, at_low[rows] / 2.0, found)
        at_high[rows] = np.where(above, found, at_high[rows] / 2.0)
        low[rows], high[rows] = np.where(above, low[rows], at), np.where(above, at, high[rows])
        open_rows = rows[np.abs(found) > _CLOSE]
        if not len(open_rows):
            break
        ends = low[open_rows], high[open_rows], at_low[open_rows], at_high[open_rows]
        at = (ends[0] * ends[3] - ends[1] * ends[2]) / (ends[3] - ends[2])
    return limits


def _bartlett(values: Values) -> Values:
    centred = values - values.mean(axis=1, keepdims=True)
    squares = centred**2
    variance = squares.mean(axis=1)
    third = (squares * centred).mean(axis=1) ** 2 / variance**3
    fourth = (squares**2).mean(axis=1) / variance**2
    return np.asarray(1.0 + np.maximum(fourth / 2.0 - third / 3.0, 0.0) / values.shape[1])


def _means(values: Values, pole: Values) -> tuple[Values, Values]:
    """Sums of the logarithms of ``values - pole``, and their harmonic means, by row."""
    distance = np.maximum(values - pole[:, None], _TINY)
    return np.log(distance).sum(axis=1), values.shape[1] / (1.0 / distance).sum(axis=1)
