"""Signals from the validation checks that are made during training.

A run is gathered here: which checks it has, the scores of their questions, and the scale they count on. What the
checks show is computed in :mod:`rlchecks.signals.checks`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rlchecks.signals import checks as of_checks
from rlchecks.signals.catalogue import SIGNALS
from rlchecks.signals.checks import Checks, Value
from rlchecks.signals.panel import Panel
from rlchecks.signals.reward import Scale
from rlchecks.signals.trend import may_overflow

_NAMES = [name for name in SIGNALS if name.startswith("validation_")]


def gather(table: pa.Table, run_ids: Sequence[str]) -> list[Checks | None]:
    """Collect the checks of every run.

    Args:
        table: rows of :data:`rlchecks.schema.VALIDATION`, in any order; rows of single graders do not count.
        run_ids: the runs wanted.

    Returns:
        one entry a run; None where it has no check with a finite score.
    """
    rows: dict[str, list[tuple[int, str | None, float]]] = defaultdict(list)
    wanted = table.filter(
        pc.and_(pc.is_in(table["run_id"], pa.array(run_ids, pa.string())), pc.is_null(table["grader"]))
    )
    for run_id, step, question, score in zip(
        *(wanted[name].to_pylist() for name in ("run_id", "step", "question_id", "score")), strict=True
    ):
        if score is not None and np.isfinite(score):
            rows[run_id].append((step, question, score))
    return [_gathered(rows[run_id]) if run_id in rows else None for run_id in run_ids]


@may_overflow()
def scale(checks: Sequence[Checks | None], limits: Scale) -> Scale:
    """Complete the scales of the runs: that of a run without a training reward is the scale of its checks.

    It is told as the reward's is: 0 to 1 if all scores lie there, else from min(lowest, 0) to max(highest + one
    standard deviation, 0). A declared range stays.

    Args:
        checks: of :func:`gather`.
        limits: the scales of the training rewards.
    """
    low, high, basis = limits.low.copy(), limits.high.copy(), list(limits.basis)
    for run, found in enumerate(checks):
        if found is None or basis[run] is not None:
            continue
        scores = found.score if found.answers is None else np.concatenate([found.score, found.answers.ravel()])
        scores = scores[np.isfinite(scores)]
        lowest, highest = float(scores.min()), float(scores.max())
        unit = lowest >= 0 and highest <= 1
        low[run] = 0.0 if unit else min(lowest, 0.0)
        high[run] = 1.0 if unit else max(highest + float(found.score.std()), 0.0)
        basis[run] = "unit" if unit else "inferred"
    return Scale(low, high, tuple(basis))


@may_overflow()
def signals(checks: Sequence[Checks | None], limits: Scale, panel: Panel) -> dict[str, list[Value]]:
    """Compute the ``validation_*`` signals of every run.

    Args:
        checks: of :func:`gather`.
        limits: the scale of each run, of :func:`scale`.
        panel: the training rows, for the KL at the checks.

    Returns:
        signal name to a list with one value a run; None where it cannot be computed.
    """
    results: dict[str, list[Value]] = defaultdict(list)
    width = limits.width
    for run, found in enumerate(checks):
        values: dict[str, Value] = dict.fromkeys(_NAMES)
        values["validation_checks"] = 0
        if found is not None:
            rows = slice(panel.start[run], panel.start[run] + panel.size[run])
            values |= of_checks.signals(found, float(limits.low[run]), float(width[run]))
            values |= of_checks.against_kl(found, panel.step[rows], panel.values["kl"][rows])
        for name, value in values.items():
            # Scores near the largest number overflow in a mean: undefined, then.
            results[name].append(None if isinstance(value, float) and not np.isfinite(value) else value)
    return dict(results)


@may_overflow()
def _gathered(rows: list[tuple[int, str | None, float]]) -> Checks:
    logged: dict[int, float] = {}
    asked: dict[str, dict[int, float]] = defaultdict(dict)
    for step, question, score in rows:
        if question is None:
            logged[step] = score
        else:
            asked[question][step] = score
    steps = sorted(logged.keys() | {step for scores in asked.values() for step in scores})
    place = {step: index for index, step in enumerate(steps)}
    answers = np.full((len(asked), len(steps)), np.nan)
    for row, question in enumerate(sorted(asked)):
        for step, score in asked[question].items():
            answers[row, place[step]] = score
    count = np.isfinite(answers).sum(axis=0)
    own = np.where(count > 0, np.nansum(answers, axis=0) / np.maximum(count, 1), np.nan)
    # A logged mean wins over the mean of the questions: it may cover more of them than were logged.
    means = np.array([logged.get(step, own[index]) for index, step in enumerate(steps)])
    told = np.isfinite(own) & (np.abs(own - means) > 1e-6 * np.maximum(1.0, np.abs(means)))
    # Then the questions that were logged do not tell how noisy it is.
    whole = bool(asked) and not told.any() and bool(np.isfinite(own).all())
    return Checks(np.array(steps, dtype=np.float64), means, answers if asked else None, whole)
