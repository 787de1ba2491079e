"""Whether two scorers' columns of scores are one column under two names."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlchecks.heldout.answers import Answers, Codes, Side

COPIED = 100
"""Answers from which on scores that never differ are taken for a copy, as many as decide a comparison."""


class Agreement(NamedTuple):
    """Agreement of two scorers over the answers that both scored, of both checkpoints and all decodings.

    Attributes:
        answers: how many answers both scored.
        equal: how many of them got equal scores.
        copy: whether the scores are equal or one is the other on another scale (all answers in the same order, or all
            in the opposite one), on at least :data:`COPIED` answers.
    """

    answers: int
    equal: int
    copy: bool


def agreement(answers: Answers, one: str, other: str) -> Agreement:
    """Compare the scores of two scorers answer by answer.

    Args:
        answers: the answers of both checkpoints.
        one: name of the one scorer in the rows.
        other: name of the other.
    """
    pairs = [_common(answers, side, one, other) for side in (answers.baseline, answers.candidate)]
    mine, theirs = (np.concatenate(columns) for columns in zip(*pairs, strict=True))
    equal = int((mine == theirs).sum())
    return Agreement(len(mine), equal, len(mine) >= COPIED and (equal == len(mine) or _rescaled(mine, theirs)))


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
        epochs = int(side.epoch.max(initial=0)) + 1
        keys.append((taken.question * len(answers.decodings) + taken.decoding) * epochs + taken.epoch)
        scores.append(taken.score)
    _, in_one, in_other = np.intersect1d(keys[0], keys[1], assume_unique=True, return_indices=True)
    return scores[0][in_one], scores[1][in_other]
