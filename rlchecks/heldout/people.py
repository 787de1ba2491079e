"""People's labels: what several of them say together, and what they make of a judge's scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlchecks.heldout.corrected import Corrected, prediction_powered, rogan_gladen
from rlchecks.heldout.judged import Judged
from rlchecks.heldout.pair_agreement import MOST_CATEGORIES, Column, comparable

TOGETHER = "people"
"""Name of what several people say together."""


def together(people: Sequence[Column]) -> Column:
    """The labels of several people as one: what most of them say, or of graded scores the mean.

    Where as many say the one as the other there is no label.
    """
    if len(people) == 1:
        return people[0]
    scores = np.stack([column.scores for column in people], axis=1)
    values = np.unique(scores[~np.isnan(scores)])
    asked = np.any([column.asked for column in people], axis=0)
    given = ~np.isnan(scores)
    if len(values) > MOST_CATEGORIES or not len(values):
        count = given.sum(axis=1)
        mean = np.where(given, scores, 0.0).sum(axis=1) / np.maximum(count, 1)
        return Column(TOGETHER, np.where(count > 0, mean, np.nan), asked, people[0].scale)
    votes = np.stack([(scores == value).sum(axis=1) for value in values], axis=1)
    most = votes.max(axis=1)
    clear = (most > 0) & ((votes == most[:, None]).sum(axis=1) == 1)
    return Column(TOGETHER, np.where(clear, values[votes.argmax(axis=1)], np.nan), asked, people[0].scale)


class _Side(NamedTuple):
    """Means by question code of one checkpoint, NaN without any; shape (questions,)."""

    label: NDArray[np.float64]  # people, over the answers that both scored
    judged: NDArray[np.float64]  # the judge, over the same
    alone: NDArray[np.float64]  # the judge, where people labelled no answer
    every: NDArray[np.float64]  # the judge, over all
    single: bool


def corrected(
    label: Column, judge: Column, found: Judged, sides: tuple[str, str], level: float
) -> list[dict[str, Any]]:
    """What people would say of both checkpoints and their difference, by their labels and a judge's scores.

    Values are on 0 to 1 where both ranges are known. Questions are the unit; the labelled ones have to be a random
    part. Means of 0/1 scores are by Rogan and Gladen, all others and the difference prediction-powered.

    Args:
        label: people's labels.
        judge: the judge.
        found: the answers.
        sides: names of baseline and candidate.
        level: two-sided confidence level.
    """
    values = comparable(label, judge)
    if values is None or not (~np.isnan(values[0]) & ~np.isnan(values[1])).any():
        return []
    before, after = (_side(values[0], values[1], found, name) for name in sides)
    binary = all(bool(np.isin(column[~np.isnan(column)], (0.0, 1.0)).all()) for column in values)
    documents = []
    for name, side in zip(("baseline", "candidate"), (before, after), strict=True):
        simple = binary and side.single
        estimator = rogan_gladen if simple else prediction_powered
        result = estimator(_given(side.label), _given(side.judged), _given(side.alone), level)
        documents.append(_document(judge.name, name, "rogan_gladen" if simple else "prediction_powered", result, side))
    # One pass with the differences in place of scores.
    difference = _Side(
        after.label - before.label,
        after.judged - before.judged,
        after.alone - before.alone,
        after.every - before.every,
        single=False,
    )
    paired = ~np.isnan(difference.label)
    result = prediction_powered(difference.label[paired], difference.judged[paired], _given(difference.alone), level)
    return [*documents, _document(judge.name, "difference", "prediction_powered", result, difference)]


def _document(judge: str, what: str, method: str, found: Corrected, side: _Side) -> dict[str, Any]:
    labels, judged, every = _given(side.label), _given(side.judged), _given(side.every)
    return {
        "judge": judge,
        "of": what,
        "method": method,
        "estimate": found.estimate,
        "ci_lower": found.lower,
        "ci_upper": found.upper,
        "labelled": found.labelled,
        "unlabelled": found.unlabelled,
        "judge_alone": float(every.mean()) if len(every) else None,
        "people_alone": float(labels.mean()) if len(labels) else None,
        "judge_labelled": float(judged.mean()) if len(judged) else None,
        "reason": found.reason,
    }


def _side(label: NDArray[np.float64], judge: NDArray[np.float64], found: Judged, name: str) -> _Side:
    here = found.checkpoint == found.checkpoints.index(name)
    size = int(found.question.max(initial=-1)) + 1
    scored = here & ~np.isnan(judge)
    both = scored & ~np.isnan(label)
    question = found.question
    touched = np.bincount(question[here & ~np.isnan(label)], minlength=size) > 0
    alone = scored & ~touched[question]
    means = [_mean(values, question, of, size) for values, of in ((label, both), (judge, both), (judge, alone))]
    every = _mean(judge, question, scored, size)
    return _Side(means[0], means[1], means[2], every, bool((np.bincount(question[here], minlength=1) <= 1).all()))


def _mean(
    values: NDArray[np.float64], question: NDArray[np.int64], chosen: NDArray[np.bool_], size: int
) -> NDArray[np.float64]:
    count = np.bincount(question[chosen], minlength=size)
    total = np.bincount(question[chosen], weights=values[chosen], minlength=size)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _given(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values[~np.isnan(values)]
