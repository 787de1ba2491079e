"""The scores of one step's answers, by the question they answer: mean, spread within groups, groups without any."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

WITHIN_GROUP = "within_group"
"""What the spread is, as the fact ``reward_std_semantics`` says it."""


class GroupScores(NamedTuple):
    """The scores of one step.

    Attributes:
        answers: number of answers.
        unscored: how many of them have no score, or NaN.
        mean: mean score; NaN if none is scored.
        groups: number of questions with at least two scored answers.
        spread: mean over these groups of the standard deviation (n - 1, as GRPO divides by); NaN without any group.
        zero_spread: share of these groups whose scores are all equal; NaN without any group.
        questions: the hash of each question, ascending, shape ``(Q,)``.
        scores: mean score of each question, shape ``(Q,)``; NaN if it has none.
    """

    answers: int
    unscored: int
    mean: float
    groups: int
    spread: float
    zero_spread: float
    questions: NDArray[np.uint64]
    scores: NDArray[np.float64]


def question_hash(text: str) -> int:
    """Hash a question to 64 bits, the same on any machine."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def question_id(hashed: int) -> str:
    """Write a hash as the id of a question."""
    return f"{hashed:016x}"


def summarise(questions: Sequence[int], scores: Sequence[float]) -> GroupScores:
    """Summarise the answers of one step.

    Args:
        questions: hash of the question of each answer, shape ``(N,)``.
        scores: its score, NaN where there is none, shape ``(N,)``.
    """
    asked, group = np.unique(np.array(questions, np.uint64), return_inverse=True)
    every = np.array(scores, np.float64)
    scored = ~np.isnan(every)
    group, values = group[scored], every[scored]
    count = np.bincount(group, minlength=len(asked))
    low, high = np.full(len(asked), np.inf), np.full(len(asked), -np.inf)
    np.minimum.at(low, group, values)
    np.maximum.at(high, group, values)
    several = count >= 2
    # Scores may be infinite or near the largest number, and questions unscored.
    with np.errstate(all="ignore"):
        mean = np.bincount(group, values, len(asked)) / count
        squares = np.bincount(group, (values - mean[group]) ** 2, len(asked))
        # Equal scores are without spread, whatever rounding makes of their mean.
        spread = np.where(low == high, 0.0, np.sqrt(squares / (count - 1)))
        return GroupScores(
            answers=len(every),
            unscored=int((~scored).sum()),
            mean=float(values.mean()) if len(values) else np.nan,
            groups=int(several.sum()),
            spread=float(spread[several].mean()) if several.any() else np.nan,
            zero_spread=float((low == high)[several].mean()) if several.any() else np.nan,
            questions=asked,
            scores=mean,
        )
