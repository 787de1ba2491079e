"""Scores of validation questions: repeats united, totals over graders, means of each check."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa

from rlchecks.readers.text import clean
from rlchecks.readers.timeline_rows import Check
from rlchecks.schema import VALIDATION

Key = tuple[int, str, str | None]
"""Step, question, grader; None is the total."""


def united(found: Iterable[Check]) -> tuple[dict[Key, float], int]:
    """Reduce the scores of one question, step and grader to their mean; NaN if there is none."""
    scores: dict[Key, list[float]] = defaultdict(list)
    rows = 0
    for step, question, grader, score in found:
        rows += 1
        numbers = scores[step, question, grader]
        if score is not None and not np.isnan(score):
            numbers.append(score)
    with np.errstate(all="ignore"):
        means = {key: float(np.mean(numbers)) if numbers else np.nan for key, numbers in scores.items()}
    return means, rows - len(means)


def asked_again(scores: Mapping[Key, float]) -> tuple[int, int, int]:
    """Count the questions that are scored at more than one step, all questions, and the steps."""
    steps: dict[str, set[int]] = defaultdict(set)
    for step, question, _ in scores:
        steps[question].add(step)
    return sum(len(at) > 1 for at in steps.values()), len(steps), len({step for step, _, _ in scores})


def totals_of(scores: dict[Key, float]) -> tuple[dict[Key, float], dict[str, str]]:
    """Find the total of each question and step: the score without a grader, or else the mean over all graders."""
    totals = {key: score for key, score in scores.items() if key[2] is None}
    graders = {grader for _, _, grader in scores if grader is not None}
    if totals or not graders:
        return totals, {}
    by_question: dict[tuple[int, str], list[float]] = defaultdict(list)
    for (step, question, _), score in scores.items():
        by_question[step, question].append(score)
    with np.errstate(all="ignore"):
        means: dict[Key, float] = {
            (step, question, None): float(np.mean(some)) if len(some) == len(graders) else np.nan
            for (step, question), some in by_question.items()
        }
    return means, {"validation_total": "mean of the graders (inferred)"} if len(graders) > 1 else {}


def means_of(totals: dict[Key, float]) -> dict[int, float]:
    """Compute the mean over the questions of each step; a step without any score has none."""
    by_step: dict[int, list[float]] = defaultdict(list)
    for (step, _, _), score in totals.items():
        if not np.isnan(score):
            by_step[step].append(score)
    with np.errstate(all="ignore"):
        return {step: float(np.mean(by_step[step])) for step in sorted(by_step)}


def to_table(run_id: str, scores: dict[Key, float]) -> pa.Table:
    """Build rows of :data:`rlchecks.schema.VALIDATION`, in the order of step, question and grader."""
    keys = sorted(scores, key=lambda key: (key[0], key[1], key[2] or ""))
    columns = [
        pa.repeat(run_id, len(keys)),
        pa.array([step for step, _, _ in keys], pa.int64()),
        pa.array([clean(question) for _, question, _ in keys], pa.string()),
        pa.array([None if grader is None else clean(grader) for _, _, grader in keys], pa.string()),
        pa.array(np.array([scores[key] for key in keys]), pa.float64(), from_pandas=True),
    ]
    return pa.Table.from_arrays(columns, schema=VALIDATION)
