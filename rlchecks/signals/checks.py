"""What the validation checks of one run show: whether they rise, where they were best, and against which distance."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rlchecks.signals import kl_curve, questions
from rlchecks.signals.arrays import Floats, Integers
from rlchecks.signals.course import Course, course
from rlchecks.signals.trend import mann_kendall

Value = float | int | str | None

MOST_CHECKS = 60
"""Checks that the statistics look at; more are averaged to that many stretches, which keeps their noise independent
enough and their cost small."""

AS_GOOD = 0.05
"""Fraction of the scale by which a check may lie below the best and be as good: a rise of less counts as none."""

_AT_TOP = 0.999
"""Position on the scale from which a question counts as already solved: it cannot show improvement."""


@dataclass(frozen=True)
class Checks:
    """The validation checks of one run.

    Attributes:
        step: their steps, ascending, shape ``(n,)``.
        score: their mean scores, finite, shape ``(n,)``.
        answers: score of each question at each check, NaN where it was not asked, shape ``(questions, n)``; None
            without questions.
        whole: whether the mean scores are those of these questions, so that they tell how noisy a check is.
    """

    step: Floats
    score: Floats
    answers: Floats | None
    whole: bool


def signals(checks: Checks, low: float, width: float) -> dict[str, Value]:
    """Compute the signals of one run that need no other metric.

    Args:
        checks: its checks.
        low: lower end of the scale, NaN if unknown.
        width: width of the scale, NaN if unknown.
    """
    n, best = len(checks.step), int(np.argmax(checks.score))
    result: dict[str, Value] = {
        "validation_checks": n,
        "validation_last_step": int(checks.step[-1]),
        "validation_start": float(checks.score[0]),
        "validation_end": float(checks.score[-1]),
        "validation_best": float(checks.score[best]),
        "validation_best_step": int(checks.step[best]),
        "validation_position_start": float((checks.score[0] - low) / width),
    }
    if checks.answers is not None:
        first = checks.answers[:, 0]
        result["validation_questions"] = len(checks.answers)
        result["validation_at_top_at_start"] = int(((first - low) / width >= _AT_TOP).sum())
    few = thinned(checks)
    noise = questions.noise(few.answers) if few.whole and few.answers is not None else None
    found, before = course(few.step, few.score, noise), course(few.step[:-1], few.score[:-1], noise)
    return result | _gain(few, width) | ({} if found is None else _course(few, found, before, width))


def thinned(checks: Checks) -> Checks:
    """Average neighbouring checks to at most :data:`MOST_CHECKS` stretches; the step of each is its last check's."""
    n = len(checks.step)
    if n <= MOST_CHECKS:
        return checks
    edges = np.linspace(0, n, MOST_CHECKS + 1).astype(np.int64)
    parts = [slice(one, other) for one, other in pairwise(edges.tolist())]
    score = np.array([checks.score[part].mean() for part in parts])
    answers = checks.answers
    if answers is not None:
        answers = np.stack([questions.mean(answers[:, part]) for part in parts], axis=1)
    return Checks(checks.step[edges[1:] - 1], score, answers, checks.whole)


def _gain(checks: Checks, width: float) -> dict[str, Value]:
    """Compare the last third of the checks with the first, and say how sure that is."""
    n = len(checks.step)
    if n < 2:
        return {}
    third = max(1, n // 3)
    gain = float(checks.score[-third:].mean() - checks.score[:third].mean())
    trend = mann_kendall(checks.score)
    result: dict[str, Value] = {
        "validation_gain": gain,
        "validation_gain_fraction": gain / width,
        "validation_p": trend.p if np.isfinite(trend.p) else None,
    }
    errors: list[tuple[float, float]] = []
    if n >= 3:
        noise = _scatter(checks)
        result["validation_noise"] = noise
        errors.append((noise * float(np.sqrt(2 / third)), n - 2.0))
    if checks.whole and checks.answers is not None and (asked := questions.gain(checks.answers, third)) is not None:
        errors.append(asked[:2])
        result["validation_gain_p"] = asked[2]
    if errors:
        result["validation_gain_error"] = max(error for error, _ in errors) / width
        result["validation_gain_high"] = (gain + max(_quantile(df) * error for error, df in errors)) / width
    return result


def _course(checks: Checks, found: Course, before: Course | None, width: float) -> dict[str, Value]:
    """Say where the checks were best; ``before`` is their course without the last one.

    One low check is what sampling does, so that a fall counts as far as it had begun before the last check.
    """
    if not np.isfinite(found.missing).all():
        return {}
    missing, low, high = (values / width for values in (found.missing, found.missing_low, found.missing_high))
    result: dict[str, Value] = {
        "validation_top_step": int(checks.step[np.argmin(missing)]),
        "validation_rise": float(missing[0]),
        "validation_rise_low": float(low[0]),
        "validation_fall": float(missing[-1]),
        "validation_fall_low": 0.0 if before is None else min(float(low[-1]), float(before.missing_low[-1]) / width),
    }
    if found.stop is not None and found.stop_low is not None and found.stop_high is not None:
        result["validation_stop_step"] = round(found.stop)
        result["validation_stop_low"] = round(found.stop_low)
        result["validation_stop_high"] = round(found.stop_high)
    if missing[-1] > AS_GOOD:
        # What looks like a peak may be a rise with one low check at its end.
        high = np.append(np.full(len(high) - 1, np.inf) if before is None else before.missing_high / width, np.inf)
    good = np.flatnonzero(high <= AS_GOOD)
    if len(good):
        at = int(good[0])
        result["validation_as_good_step"] = int(checks.step[at])
        result["validation_missing"] = float(missing[at])
        result["validation_missing_high"] = float(high[at])
    return result


def against_kl(checks: Checks, step: Integers, kl: Floats) -> dict[str, Value]:
    """Fit the scores against the distance from the starting model; see :mod:`rlchecks.signals.kl_curve`.

    Args:
        checks: the run's checks.
        step: steps of its training rows, ascending, shape ``(rows,)``.
        kl: their KL, NaN where none was logged, shape ``(rows,)``.
    """
    few = thinned(checks)
    if len(few.step) < kl_curve.FEWEST or not np.isfinite(kl).any():
        return {}
    at = [kl_curve.kl_at(step, kl, int(one)) for one in few.step]
    known = np.array([np.nan if value is None else value for value in at])
    answers = few.answers
    if not few.whole or answers is None or len(answers) < questions.FEWEST or not np.isfinite(answers).all():
        answers = None
    curve = kl_curve.fit(known, few.score, answers)
    if curve.peak_kl is None or curve.beyond:
        return {}
    return {
        "validation_peak_kl": curve.peak_kl,
        "validation_peak_kl_low": curve.peak_kl_low,
        "validation_peak_kl_high": curve.peak_kl_high,
    }


def _scatter(checks: Checks) -> float:
    """Standard deviation of the checks about a straight line through them, with ``n - 2`` degrees of freedom."""
    time = checks.step - checks.step.mean()
    off = checks.score - checks.score.mean()
    squares = (off**2).sum() - (time * off).sum() ** 2 / (time**2).sum()
    return float(np.sqrt(max(squares, 0.0) / (len(off) - 2)))


def _quantile(df: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(df, 0.975))
