"""Pairs: the answers of both checkpoints to one question, scored by one judge at one decoding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlchecks.heldout.answers import Answers, Codes, Side
from rlchecks.heldout.scale import Scale

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Pairs:
    """Mean scores per question, on 0 (worst) to 1 (best).

    Attributes:
        questions: codes of the questions answered on both sides, ascending, shape (n,).
        baseline: mean score of the baseline's answers, shape (n,).
        candidate: mean score of the candidate's answers, shape (n,).
        single: no question has more than one answer on a side.
        missing: share of answers without a score, on the side that lacks more.
        unmatched: questions that the judge has rows of on one side only.
        worst_questions: codes of the questions that both sides were asked, ascending, shape (m,).
        worst: candidate minus baseline with the candidate's missing answers at 0 and the baseline's at 1, shape (m,).
    """

    questions: Codes
    baseline: Values
    candidate: Values
    single: bool
    missing: float
    unmatched: int
    worst_questions: Codes
    worst: Values

    @property
    def difference(self) -> Values:
        """Candidate minus baseline, shape (n,)."""
        return self.candidate - self.baseline


@dataclass(frozen=True)
class _Sums:
    scored: NDArray[np.bool_]  # by question code: the judge has a row
    asked: NDArray[np.bool_]  # or should have one
    answered: Codes
    total: Values
    repeats: int

    @property
    def missing(self) -> float:
        expected = int(self.asked.sum()) * self.repeats
        return (expected - int(self.answered.sum())) / expected if expected else 0.0

    def filled(self, questions: Codes, value: float) -> Values:
        lacking = self.repeats - self.answered[questions]
        return np.asarray((self.total[questions] + value * lacking) / self.repeats)


def asked_of_both(answers: Answers, decoding: int) -> NDArray[np.bool_]:
    """Whether a question was put to both sides at a decoding, whoever scored it, by question code."""
    asked = [
        np.bincount(side.question[side.decoding == decoding], minlength=len(answers.questions)) > 0
        for side in (answers.baseline, answers.candidate)
    ]
    return asked[0] & asked[1]


def pair(answers: Answers, judge: int, decoding: int, scale: Scale, expected: NDArray[np.bool_] | None = None) -> Pairs:
    """The pairs of one judge at one decoding; repeats of a question are averaged.

    Args:
        answers: the answers of both checkpoints.
        judge: code of the judge.
        decoding: code of the decoding.
        scale: the judge's scale.
        expected: whether the judge should have scored a question, by question code, shape (questions,); None: those
            it has rows of.
    """
    before, after = (
        _sums(answers, side, judge, decoding, scale, expected) for side in (answers.baseline, answers.candidate)
    )
    questions = np.flatnonzero((before.answered > 0) & (after.answered > 0))
    asked = np.flatnonzero(before.asked & after.asked)
    return Pairs(
        questions=questions,
        baseline=before.total[questions] / before.answered[questions],
        candidate=after.total[questions] / after.answered[questions],
        single=max(before.repeats, after.repeats) <= 1,
        missing=max(before.missing, after.missing),
        unmatched=int((before.scored != after.scored).sum()),
        worst_questions=asked,
        worst=after.filled(asked, 0.0) - before.filled(asked, 1.0),
    )


def _sums(
    answers: Answers, side: Side, judge: int, decoding: int, scale: Scale, expected: NDArray[np.bool_] | None
) -> _Sums:
    chosen = (side.judge == judge) & (side.decoding == decoding)
    question = side.question[chosen]
    scores = scale.unit(side.score[chosen])
    scored = ~np.isnan(scores)
    size = len(answers.questions)
    rows = np.bincount(question, minlength=size)
    asked = rows > 0 if expected is None else (rows > 0) | expected
    return _Sums(
        scored=rows > 0,
        asked=asked,
        answered=np.bincount(question[scored], minlength=size),
        total=np.bincount(question[scored], weights=scores[scored], minlength=size).astype(float),
        # Each question is asked as often as the one asked most; a repeat without a row is missing too.
        repeats=max(int(rows.max(initial=0)), int(asked.any())),
    )
