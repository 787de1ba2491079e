"""Whether two scorers' columns of scores are one column under two names."""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlchecks.heldout.answers import Answers, Codes, Side

COPIED = 100
"""Answers from which on scores that never differ are taken for a copy, as many as decide a comparison."""


NEARLY = 0.95
"""Share of graded answers with equal scores from which on one column is taken for the other with a few changes."""

_CLOSE = 0.01  # of the range of the scores: what rounding moves


class Agreement(NamedTuple):
    """Agreement of two scorers over the answers that both scored, of both checkpoints and all decodings.

    Attributes:
        answers: how many answers both scored.
        equal: how many of them got equal scores.
        copy: whether the scores are equal or one is the other on another scale (all answers in the same order, or all
            in the opposite one), on at least :data:`COPIED` answers; or, of graded scores, nearly so.
        near: whether it is the last of these.
    """

    answers: int
    equal: int
    copy: bool
    near: bool = False


def agreement(answers: Answers, one: str, other: str) -> Agreement:
    """Compare the scores of two scorers answer by answer.

    Honest judges of right and wrong agree on nearly all answers, so there only what is equal throughout is a copy.
    Two that grade do not agree on the answers between: of those that got none of the two scores that the other one
    gives most, at least :data:`COPIED`, the share :data:`NEARLY` with equal scores, or on one line, is a copy with a
    few changes.

    Args:
        answers: the answers of both checkpoints.
        one: name of the one scorer in the rows.
        other: name of the other.
    """
    pairs = [_common(answers, side, one, other) for side in (answers.baseline, answers.candidate)]
    mine, theirs = (np.concatenate(columns) for columns in zip(*pairs, strict=True))
    equal = int((mine == theirs).sum())
    if len(mine) < COPIED:
        return Agreement(len(mine), equal, False)
    exact = equal == len(mine) or _rescaled(mine, theirs)
    near = not exact and _nearly(mine, theirs)
    return Agreement(len(mine), equal, exact or near, near)


def _nearly(mine: NDArray[np.float64], theirs: NDArray[np.float64]) -> bool:
    values, count = np.unique(theirs, return_counts=True)
    between = ~np.isin(theirs, values[np.argsort(-count, kind="stable")[:2]])
    if int(between.sum()) < COPIED:
        return False
    return bool((mine == theirs)[between].mean() >= NEARLY or _on_a_line(mine, theirs)[between].mean() >= NEARLY)


def _on_a_line(mine: NDArray[np.float64], theirs: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which answers lie on the line of least squares through those that lie closest to it."""
    if not (np.ptp(mine) > 0.0 and np.ptp(theirs) > 0.0):
        return np.zeros(len(mine), dtype=bool)
    # In units of the range, whose squares are always numbers.
    x, y = ((values - values.min()) / np.ptp(values) for values in (mine, theirs))
    kept = np.arange(len(x))
    distance = np.zeros(len(x))
    for _ in range(3):
        around = x[kept] - x[kept].mean()
        spread = float((around**2).sum())
        slope = float((around * y[kept]).sum()) / spread if spread > 0.0 else 0.0
        distance = np.abs(y - y[kept].mean() - slope * (x - x[kept].mean()))
        kept = np.argsort(distance, kind="stable")[: ceil(NEARLY * len(x))]
    return np.asarray(distance <= _CLOSE)


def _rescaled(mine: NDArray[np.float64], theirs: NDArray[np.float64]) -> bool:
    values, rank = np.unique(mine, return_inverse=True)
    _, other = np.unique(theirs, return_inverse=True)
    # Of scores that never vary nothing can be told.
    return len(values) > 1 and (np.array_equal(rank, other) or np.array_equal(rank, other.max() - other))


def _common(answers: Answers, side: Side, one: str, other: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    keys: list[Codes] = []
    scores = []
    for name in (one, other):
        chosen = (side.judge == answers.judge(name)) & np.isfinite(side.score)
        taken = side.take(chosen)
        keys.append(answers.places(taken))
        scores.append(taken.score)
    _, in_one, in_other = np.intersect1d(keys[0], keys[1], assume_unique=True, return_indices=True)
    return scores[0][in_one], scores[1][in_other]
