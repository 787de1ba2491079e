"""Signals from the validation checks that are made during training."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rlchecks.signals.arrays import Floats
from rlchecks.signals.trend import mann_kendall, may_overflow

_FEWEST_FOR_STOP = 5
"""Checks from which the end of a rise can be dated: three parameters, and two degrees of freedom for the noise."""

Value = float | int | str | None

_AT_TOP = 0.999
"""Position on the scale from which a question counts as already solved: it cannot show improvement."""


@may_overflow()
def signals(checks: pa.Table, run_ids: tuple[str, ...], low: Floats, width: Floats) -> dict[str, list[Value]]:
    """Compute the ``validation_*`` signals of every run.

    Args:
        checks: rows of :data:`rlchecks.schema.VALIDATION`, in any order.
        run_ids: the runs wanted.
        low: lower end of each run's reward scale, shape ``(R,)``.
        width: width of each run's reward scale, shape ``(R,)``.

    Returns:
        signal name to a list with one value a run; None where a run has no check.
    """
    rows: dict[str, list[tuple[int, str | None, float]]] = defaultdict(list)
    wanted = checks.filter(
        pc.and_(pc.is_in(checks["run_id"], pa.array(run_ids, pa.string())), pc.is_null(checks["grader"]))
    )
    for run_id, step, question, score in zip(
        *(wanted[name].to_pylist() for name in ("run_id", "step", "question_id", "score")), strict=True
    ):
        if score is not None and np.isfinite(score):
            rows[run_id].append((step, question, score))
    results: dict[str, list[Value]] = defaultdict(list)
    for index, run_id in enumerate(run_ids):
        for name, value in _one_run(rows.get(run_id, []), float(low[index]), float(width[index])).items():
            # Scores near the largest number overflow in a mean: undefined, then.
            results[name].append(None if isinstance(value, float) and not np.isfinite(value) else value)
    return dict(results)


def _one_run(rows: list[tuple[int, str | None, float]], low: float, width: float) -> dict[str, Value]:
    by_step: dict[int, list[float]] = defaultdict(list)
    means: dict[int, float] = {}
    questions: set[str] = set()
    for step, question, score in rows:
        if question is None:
            means[step] = score
        else:
            by_step[step].append(score)
            questions.add(question)
    # A logged mean wins over the mean of the questions: it may cover more of them than were logged.
    means = {step: float(np.mean(scores)) for step, scores in by_step.items()} | means
    steps = sorted(means)
    series = np.array([means[step] for step in steps])
    n = len(series)
    result: dict[str, Value] = dict.fromkeys(_NAMES)
    result["validation_checks"] = n
    if not n:
        return result
    best = int(np.argmax(series))
    result |= {
        "validation_start": float(series[0]),
        "validation_end": float(series[-1]),
        "validation_best": float(series[best]),
        "validation_best_step": steps[best],
    }
    if np.isfinite(width) and width > 0:
        result["validation_position_start"] = float((series[0] - low) / width)
    if questions:
        top = [(score - low) / width >= _AT_TOP for score in by_step.get(steps[0], [])] if width > 0 else []
        result |= {"validation_questions": len(questions), "validation_at_top_at_start": sum(top)}
    if n >= 3:
        third = max(1, n // 3)
        gain = float(series[-third:].mean() - series[:third].mean())
        # Second differences cancel a steady rise; their std is sqrt(6) times that of one check.
        noise = float(1.4826 * np.median(np.abs(np.diff(series, 2))) / np.sqrt(6))
        trend = mann_kendall(series)
        result |= {
            "validation_gain": gain,
            "validation_noise": noise,
            "validation_p": trend.p if np.isfinite(trend.p) else None,
        }
        if np.isfinite(width) and width > 0:
            result["validation_gain_fraction"] = gain / width
            result["validation_gain_error"] = noise * float(np.sqrt(2 / third)) / width
    if n >= _FEWEST_FOR_STOP:
        result |= _stop(np.array(steps, dtype=np.float64), series)
    return result


def _stop(steps: Floats, series: Floats) -> dict[str, Value]:
    """Fit a rise that ends at some check and stays: ``a + b min(step, k)``, by least squares over all ``k``.

    The interval holds every ``k`` whose sum of squares is within ``t²`` residual variances of the smallest one, ``t``
    the two-sided 95 % quantile with ``n - 3`` degrees of freedom: the likelihood interval of a change point with a
    continuous mean (Feder 1975, Annals of Statistics 3:49). That the rise has ended is shown if the interval leaves
    out the last check.
    """
    from scipy.special import stdtrit

    n = len(series)
    hinge = np.minimum(steps[None, :], steps[1:, None])
    centred = hinge - hinge.mean(axis=1, keepdims=True)
    y = series - series.mean()
    slope = (centred @ y) / (centred**2).sum(axis=1)
    squares = (y**2).sum() - slope**2 * (centred**2).sum(axis=1)
    squares = np.where(slope > 0, np.maximum(squares, 0.0), np.inf)
    best = int(np.argmin(squares))
    if not np.isfinite(squares[best]):
        return {}
    variance = squares[best] / (n - 3)
    within = np.flatnonzero(squares <= squares[best] + variance * float(stdtrit(n - 3, 0.975)) ** 2)
    return {
        "validation_stop_step": int(steps[1 + best]),
        "validation_stop_low": int(steps[1 + within[0]]),
        "validation_stop_high": int(steps[1 + within[-1]]),
    }


_NAMES = (
    "validation_checks",
    "validation_questions",
    "validation_start",
    "validation_end",
    "validation_gain",
    "validation_gain_fraction",
    "validation_position_start",
    "validation_p",
    "validation_noise",
    "validation_best",
    "validation_best_step",
    "validation_gain_error",
    "validation_stop_step",
    "validation_stop_low",
    "validation_stop_high",
    "validation_at_top_at_start",
)
