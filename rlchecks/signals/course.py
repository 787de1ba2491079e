"""The course of a validation score: a rise that may end, by a line with one bend.

All statistics are those of the model ``a + b min(step, k) + c max(step - k, 0)``, least squares over all bends ``k``.
Intervals are likelihood intervals: they hold whatever some line explains that fits nearly as well as the best one
(Feder 1975, Annals of Statistics 3:49, for bends of a continuous mean).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rlchecks.signals.arrays import Floats
from rlchecks.signals.trend import may_overflow

FEWEST = 6
"""Checks from which a course can be told: four parameters, and two degrees of freedom for the noise."""

_FINE = 4
"""Bends that are tried in each gap between two checks: a rise rarely ends at a check."""

_AFTER = 0.25
"""Share of the checks (at least 3) that a new rise needs to be seen: a last check alone shows none."""


class Course(NamedTuple):
    """Where a series was best.

    Attributes:
        stop: step at which the rise ends, into a plateau or a fall; None if the series does not rise.
        stop_low: check by which it has not ended yet, at 95 %.
        stop_high: check by which it has ended, at 95 %; the last check if it need not have ended at all.
        missing: the best of the fitted course minus its value at each check, shape ``(n,)``.
        missing_low: lower limit of that, one-sided at 99.5 %, shape ``(n,)``: noise bends a line somewhere.
        missing_high: upper limit of that, one-sided at 95 %, shape ``(n,)``.
    """

    stop: float | None
    stop_low: float | None
    stop_high: float | None
    missing: Floats
    missing_low: Floats
    missing_high: Floats


class _Lines(NamedTuple):
    """Least squares for each bend: the slopes before and after it, what they leave unexplained, and the design."""

    bend: Floats
    before: Floats
    after: Floats
    squares: Floats
    s11: Floats
    s12: Floats
    s22: Floats


@may_overflow()
def course(steps: Floats, series: Floats, noise: float | None = None) -> Course | None:
    """Tell where a series was best.

    The noise is that of the fit, with ``n - 4`` degrees of freedom; where the questions explain all of it, it is
    theirs, which is far better known. Simulated with rises that end at any point, that go on, or that fade out:
    the limits of ``stop`` hold it in .92 to 1.0 of all cases with 6 to 40 checks, and a check that is at most .05
    of the scale below the best by ``missing_high`` is further below it in at most .06 of them.

    Args:
        steps: steps of the checks, ascending, shape ``(n,)``.
        series: their scores, finite, shape ``(n,)``.
        noise: standard deviation of one check that the answers to its questions explain, if known.

    Returns:
        The course; None with fewer than :data:`FEWEST` checks, or numbers too large to compute with.
    """
    n = len(series)
    middle, width = float(series.mean()) if n else 0.0, float(np.ptp(series)) if n else 0.0
    if n < FEWEST or not np.isfinite(middle) or not np.isfinite(width) or not steps[-1] > steps[0]:
        return None
    unit = width if width > 0 else 1.0
    at, y = (steps - steps[0]) / (steps[-1] - steps[0]), (series - middle) / unit
    floor = 0.0 if noise is None else (noise / unit) ** 2
    lines = _fit(at, y, _bends(at))
    stop, low, high = _stop(at, y, lines, floor)
    missing = _missing(at, lines, floor)

    def step(position: float | None) -> float | None:
        return None if position is None else float(steps[0] + position * (steps[-1] - steps[0]))

    return Course(step(stop), step(low), step(high), *(values * unit for values in missing))


def _bends(at: Floats) -> Floats:
    """The second check, all later ones, and points between them."""
    shares = np.arange(1, _FINE) / _FINE
    between = (at[1:-1, None] + np.diff(at)[1:, None] * shares).ravel()
    return np.sort(np.concatenate([at[1:], between]))


def _fit(at: Floats, y: Floats, bend: Floats) -> _Lines:
    x1, x2 = np.minimum(at, bend[:, None]), np.maximum(at - bend[:, None], 0.0)
    x1, x2 = x1 - x1.mean(axis=1, keepdims=True), x2 - x2.mean(axis=1, keepdims=True)
    s11, s12, s22 = (x1**2).sum(axis=1), (x1 * x2).sum(axis=1), (x2**2).sum(axis=1)
    s1, s2 = x1 @ y, x2 @ y
    det = s11 * s22 - s12**2
    before, after = (s22 * s1 - s12 * s2) / det, (s11 * s2 - s12 * s1) / det
    squares = np.maximum((y**2).sum() - before * s1 - after * s2, 0.0)
    # Without two checks on either side the slopes cannot be told apart.
    usable = (det > 1e-12 * s11 * s22) & np.isfinite(squares)
    return _Lines(bend, before, after, np.where(usable, squares, np.inf), s11, s12, s22)


def _stop(at: Floats, y: Floats, lines: _Lines, floor: float) -> tuple[float | None, float | None, float | None]:
    """Date the end of a rise that goes over into a plateau or a fall, never into another rise."""
    x1 = np.minimum(at, lines.bend[:, None])
    x1 = x1 - x1.mean(axis=1, keepdims=True)
    rise = x1 @ y / lines.s11
    plateau = np.where(rise > 0, np.maximum((y**2).sum() - rise**2 * lines.s11, 0.0), np.inf)
    falls = (lines.before > 0) & (lines.after < 0)
    squares = np.minimum(plateau, np.where(falls, lines.squares, np.inf))
    best = int(np.argmin(squares))
    if not np.isfinite(squares[best]):
        return None, None, None
    within = lines.bend[squares <= _most(squares[best], len(at), floor, 0.975)]
    low, high = at[at <= within[0] + 1e-12][-1], at[at >= within[-1] - 1e-12][0]
    return float(lines.bend[best]), float(low), float(high)


def _missing(at: Floats, lines: _Lines, floor: float) -> tuple[Floats, Floats, Floats]:
    """Compare the best of the course with its value at each check."""
    n = len(at)
    usable = lines.bend <= at[n - max(3, int(n * _AFTER))] + 1e-12
    squares = np.where(usable, lines.squares, np.inf)
    best = int(np.argmin(squares))
    if not np.isfinite(squares[best]):
        nothing = np.full(n, np.nan)
        return nothing, nothing, nothing
    _, high = _reach(at, lines, squares, _most(squares[best], n, floor, 0.95))
    low, _ = _reach(at, lines, squares, _most(squares[best], n, floor, 0.995))
    estimate, _ = _reach(at, lines, squares, squares[best])
    return np.maximum(estimate, 0.0), np.maximum(low, 0.0), np.maximum(high, 0.0)


def _reach(at: Floats, lines: _Lines, squares: Floats, most: float) -> tuple[Floats, Floats]:
    """Smallest and largest distance of each check from the best, over all lines with at most these squares."""
    within = squares <= most
    room = np.maximum(most - squares[within], 0.0)[:, None]
    bend, before, after, _, s11, s12, s22 = (values[within][:, None] for values in lines)
    det = s11 * s22 - s12**2
    risen, fallen = np.minimum(at, bend), np.maximum(at - bend, 0.0)
    lows, highs = [], []
    # At the end, at the bend, and at the start: a line with one bend is best at one of them.
    for u, v in ((bend - risen, 1.0 - bend - fallen), (bend - risen, -fallen), (-risen, -fallen)):
        value = before * u + after * v
        reach = np.sqrt(room * np.maximum((u**2 * s22 - 2 * u * v * s12 + v**2 * s11) / det, 0.0))
        lows.append(value - reach)
        highs.append(value + reach)
    return np.max(lows, axis=0).min(axis=0), np.max(highs, axis=0).max(axis=0)


def _most(least: float, n: int, floor: float, level: float) -> float:
    """The sum of squares up to which a line fits nearly as well as the best."""
    from scipy.special import ndtri, stdtrit

    variance = least / (n - 4)
    if variance <= floor:
        return least + floor * float(ndtri(level)) ** 2
    return least + variance * float(stdtrit(n - 4, level)) ** 2
