"""Trends in short, noisy, autocorrelated series, vectorised over runs.

All functions take arrays of shape ``(R, B)``: one row per run, one column per block in time order, NaN where a block
has no value. They return arrays of shape ``(R,)`` with NaN where the statistic is undefined.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rlchecks.signals.arrays import Flags, Floats, divide

RHO_LIMIT = 0.9
"""Largest lag-1 autocorrelation that the correction uses; beyond it no trend in 40 blocks can be told anyway."""


def may_overflow() -> np.errstate:
    """Context or decorator for arithmetic on logged numbers, which may be near the end of the range of a double.

    What overflows is infinite or NaN there, and is undefined in the result, so that no warning has to say so.
    """
    return np.errstate(over="ignore", invalid="ignore", divide="ignore")


class Trend(NamedTuple):
    """A straight line through the blocks, time running from 0 at the first block to 1 at the last.

    Attributes:
        slope: change over the whole run, in units of the series.
        p: two-sided p-value of the slope with the effective number of blocks; NaN if undefined.
        rho: lag-1 autocorrelation of the residuals that was used, 0 to 0.9.
        n: number of blocks with a value.
        error: standard error of the slope with the effective number of blocks; NaN where p is.
    """

    slope: Floats
    p: Floats
    rho: Floats
    n: Floats
    error: Floats


@may_overflow()
def linear(series: Floats, until: Floats | None = None, rho: Floats | None = None) -> Trend:
    """Ordinary least squares with an effective sample size for autocorrelated residuals.

    The effective size is ``n (1 - rho) / (1 + rho)`` (Bayley and Hammersley 1946, the form of Santer et al. 2000 for
    trends), ``rho`` the lag-1 autocorrelation of the residuals, corrected for its bias about a fitted line, which is
    ``-(2 + 4 rho) / n`` to first order (Kendall 1954 for a mean; a line takes one more degree), and cut to 0 to 0.9.
    On 40 blocks of AR(1) noise with rho 0, .3, .6, .8 the nominal 5 % is .04, .06, .07, .09, where plain least squares
    has .06, .15, .33, .52 (measured, 4,000 series each). Variance of the slope and degrees of freedom both use it. At
    least 4 blocks are needed, and an effective size above 2.

    Args:
        series: the blocks.
        until: fit ``a + b min(time, until)`` instead, a rise that is over at the given position, shape ``(R,)``. If
            that was chosen by its fit (:func:`knee`), p is too small: the nominal 1 % is .02, .04, .05, .05 on the
            noise above (measured, 4,000 series each).
        rho: autocorrelation to use, shape ``(R,)``, where a longer stretch of the same series tells it better.
    """
    fitted = 2 if until is None else 3
    valid = np.isfinite(series)
    n = valid.sum(axis=1).astype(np.float64)
    time = _time(valid)
    time = time if until is None else np.minimum(time, until[:, None])
    y = np.where(valid, series, 0.0)
    time_mean = np.where(valid, time, 0.0).sum(axis=1) / n
    y_mean = y.sum(axis=1) / n
    centred_time = np.where(valid, time - time_mean[:, None], 0.0)
    centred = np.where(valid, series - y_mean[:, None], 0.0)
    spread = (centred_time**2).sum(axis=1)
    slope = (centred_time * centred).sum(axis=1) / spread
    residual = np.where(valid, centred - slope[:, None] * centred_time, 0.0)
    squares, total = (residual**2).sum(axis=1), (centred**2).sum(axis=1)
    # Rounding leaves a residue on exact lines; without this a perfect line would look autocorrelated.
    exact = (squares <= 1e-24 * np.maximum(total, 1e-300)) & np.isfinite(total)
    neighbours = valid[:, 1:] & valid[:, :-1]
    lagged = np.where(neighbours, residual[:, 1:] * residual[:, :-1], 0.0).sum(axis=1)
    if rho is None:
        rho = (lagged / squares + fitted / n) / (1 - (fitted + 2.0) / n)
        rho = np.clip(np.where(n > fitted + 2, rho, RHO_LIMIT), 0.0, RHO_LIMIT)
    rho = np.where(exact, 0.0, rho)
    effective = n * (1 - rho) / (1 + rho)
    error = np.sqrt(squares / (n - fitted) / spread * n / effective)
    p = _two_sided(slope / error, effective - fitted)
    p = np.where(exact, np.where(np.abs(centred).max(axis=1, initial=0.0) == 0.0, 1.0, 0.0), p)
    defined = (n >= 2 + fitted) & (effective > fitted) & np.isfinite(total)
    nan = np.nan
    return Trend(
        np.where(n >= 2, slope, nan),
        np.where(defined, p, nan),
        np.where(n >= 4, rho, nan),
        n,
        np.where(defined, np.where(exact, 0.0, error), nan),
    )


@may_overflow()
def theil_sen(series: Floats) -> Floats:
    """Median of the slopes of all pairs of blocks (Sen 1968, JASA 63:1379), per block; NaN under two blocks."""
    first, second = np.triu_indices(series.shape[1], k=1)
    if not len(first):
        return np.full(len(series), np.nan)
    slopes = (series[:, second] - series[:, first]) / (second - first)
    return row_median(slopes)


class MannKendall(NamedTuple):
    """Mann-Kendall test of one series: ``s``, its variance, the normal score ``z`` and the two-sided ``p``."""

    s: float
    variance: float
    z: float
    p: float


def mann_kendall(series: Floats) -> MannKendall:
    """Test one series of shape ``(n,)`` for a monotone trend (Mann 1945, Kendall 1975), corrected for ties.

    It assumes independent values: for validation checks, which are far apart, not for steps. With fewer than 3
    finite values, or all equal, ``z`` and ``p`` are NaN.
    """
    from scipy.special import ndtr

    y = series[np.isfinite(series)]
    n = len(y)
    s = float(np.sign(y[None, :] - y[:, None])[np.triu_indices(n, k=1)].sum())
    _, ties = np.unique(y, return_counts=True)
    variance = (n * (n - 1) * (2 * n + 5) - float((ties * (ties - 1) * (2 * ties + 5)).sum())) / 18
    if n < 3 or variance <= 0:
        return MannKendall(s, variance, np.nan, np.nan)
    z = (s - np.sign(s)) / np.sqrt(variance)
    return MannKendall(s, variance, float(z), float(2 * ndtr(-abs(z))))


@may_overflow()
def ordering(series: Floats, share: float) -> Floats:
    """Share of early-late pairs of blocks in which the late one is higher (ties count half).

    Early and late are at least three blocks each, where there are as many: of independent blocks three and three are
    in order in one of 20 cases, two and two in one of six.

    This is the common-language effect size (McGraw and Wong 1992) of late against early blocks: 1 is a clean rise,
    0 a clean fall. Step-shaped rises, which leave autocorrelated residuals about a line, show in it.
    """
    valid = np.isfinite(series)
    n = valid.sum(axis=1)
    width = np.maximum(1, np.minimum(n // 2, np.maximum(3, np.rint(n * share)))).astype(np.int64)
    rank = np.cumsum(valid, axis=1) - 1
    early = np.where(valid & (rank < width[:, None]), series, np.nan)
    late = np.where(valid & (rank >= (n - width)[:, None]), series, np.nan)
    limit = max(3, int(np.rint(series.shape[1] * share))) + 1
    early, late = _pack(early, limit), _pack(late, limit)
    pairs = np.sign(late[:, None, :] - early[:, :, None])
    counted = np.isfinite(pairs)
    total = counted.sum(axis=(1, 2))
    wins = np.where(counted, (pairs + 1) / 2, 0.0).sum(axis=(1, 2))
    return divide(wins, total, where=(total > 0) & (n >= 2))


@may_overflow()
def spearman(first: Floats, second: Floats, group: int = 3) -> Floats:
    """Rank correlation of two series, after averaging ``group`` neighbouring blocks (average ranks for ties).

    NaN with fewer than 4 groups that have both, or when one of the series is constant.
    """
    a, b = _group_means(first, group), _group_means(second, group)
    both = np.isfinite(a) & np.isfinite(b)
    n = both.sum(axis=1)
    ranks_a, ranks_b = _ranks(np.where(both, a, np.nan)), _ranks(np.where(both, b, np.nan))
    middle = ((n - 1) / 2)[:, None]
    da, db = np.where(both, ranks_a - middle, 0.0), np.where(both, ranks_b - middle, 0.0)
    correlation = (da * db).sum(axis=1) / np.sqrt((da**2).sum(axis=1) * (db**2).sum(axis=1))
    return np.where(n >= 4, correlation, np.nan)


@may_overflow()
def knee(series: Floats) -> Floats:
    """Position (0 to 1) at which a rise ends: least squares of ``a + b min(time, k)`` over all ``k``.

    NaN with fewer than 8 blocks. A straight rise to the end has its knee at 1.
    """
    valid = np.isfinite(series)
    n = valid.sum(axis=1)
    time = _time(valid)
    knots = np.linspace(0.05, 1.0, 39)
    hinge = np.minimum(time[:, None, :], knots[None, :, None])
    mask = valid[:, None, :]
    count = n[:, None].astype(np.float64)
    mean = np.where(mask, hinge, 0.0).sum(axis=2) / count
    centred = np.where(mask, hinge - mean[:, :, None], 0.0)
    y_mean = np.where(valid, series, 0.0).sum(axis=1) / n
    y = np.where(valid, series - y_mean[:, None], 0.0)
    explained = (centred * y[:, None, :]).sum(axis=2) ** 2 / (centred**2).sum(axis=2)
    explained = np.where(np.isfinite(explained), explained, -np.inf)
    # By the inequality of Cauchy and Schwarz nothing above can overflow if this does not, as no hinge is above 1.
    defined = (n >= 8) & np.isfinite(series.shape[1] * (y**2).sum(axis=1))
    return np.where(defined, knots[np.argmax(explained, axis=1)], np.nan)


@may_overflow()
def smooth(series: Floats) -> Floats:
    """Centred mean of three blocks (two at the ends); NaN blocks are left out of it."""
    padded = np.pad(series, ((0, 0), (1, 1)), constant_values=np.nan)
    stack = np.stack([padded[:, :-2], padded[:, 1:-1], padded[:, 2:]])
    valid = np.isfinite(stack)
    count = valid.sum(axis=0)
    total = np.where(valid, stack, 0.0).sum(axis=0)
    mean = divide(total, count)
    return np.where(np.isfinite(series), mean, np.nan)


def _time(valid: Flags) -> Floats:
    """Position of each block, 0 at the first with a value of any run's length and 1 at its last."""
    index = np.arange(valid.shape[1], dtype=np.float64)[None, :]
    last = np.where(valid, index, 0.0).max(axis=1, keepdims=True, initial=0.0)
    return np.asarray(index / np.maximum(last, 1.0))


def _two_sided(t: Floats, df: Floats) -> Floats:
    from scipy.special import stdtr

    return np.asarray(2 * stdtr(np.maximum(df, 1e-3), -np.abs(t)))


def whole(means: Floats) -> Floats:
    """Make rows of means, shape ``(R, B)``, undefined in which one overflowed: the others are another series."""
    return np.where(np.isinf(means).any(axis=1, keepdims=True), np.nan, means)


@may_overflow()
def row_median(values: Floats) -> Floats:
    """Median of each row, leaving out NaN, without numpy's warning for rows of nothing but NaN."""
    ordered = np.sort(values, axis=1)
    count = (~np.isnan(ordered)).sum(axis=1)
    rows = np.arange(len(values))
    low, high = np.maximum(count - 1, 0) // 2, count // 2
    high = np.minimum(high, values.shape[1] - 1)
    return np.where(count > 0, (ordered[rows, low] + ordered[rows, high]) / 2, np.nan)


def _pack(values: Floats, limit: int) -> Floats:
    """Move the finite values of each row to its front and keep the first ``limit`` columns."""
    order = np.argsort(~np.isfinite(values), axis=1, kind="stable")
    return np.take_along_axis(values, order, axis=1)[:, :limit]


def _group_means(series: Floats, group: int) -> Floats:
    valid = np.isfinite(series)
    # Groups are taken over the run's own blocks; a last group of one or two blocks stands for what it has.
    padding = (-series.shape[1]) % group
    shape = (len(series), -1, group)
    stacked = np.pad(np.where(valid, series, 0.0), ((0, 0), (0, padding))).reshape(shape).sum(axis=2)
    count = np.pad(valid, ((0, 0), (0, padding))).reshape(shape).sum(axis=2)
    return whole(divide(stacked, count))


def _ranks(values: Floats) -> Floats:
    below = (values[:, None, :] < values[:, :, None]).sum(axis=2)
    same = (values[:, None, :] == values[:, :, None]).sum(axis=2)
    return np.where(np.isfinite(values), below + (same - 1) / 2, np.nan)
