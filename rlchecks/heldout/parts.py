"""The parts of a comparison: one judge at one decoding, in one role."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from rlchecks.heldout.answers import Answers, Codes
from rlchecks.heldout.holm import holm_uppers
from rlchecks.heldout.intervals import Interval, paired_interval
from rlchecks.heldout.pairing import Pairs, Values, asked_of_both, pair
from rlchecks.heldout.scale import Scale, scale_of
from rlchecks.heldout.scorer import Scorer

Role = Literal["decisive", "guard", "grader", "other"]


@dataclass(frozen=True)
class Part:
    """One judge at one decoding.

    Attributes:
        scorer: the judge or grader.
        scale: its scale.
        decoding: code of the decoding, -1 if both sides have none in common.
        decoding_name: its name, None for rows that name none.
        role: ``decisive``, ``guard``, ``grader`` or ``other`` (nobody asked for it; it decides nothing).
        pairs: its pairs, on 0 to 1.
        clusters: cluster of each question by code, or None.
        cache: intervals computed so far, by (worst case?, level).
    """

    scorer: Scorer
    scale: Scale
    decoding: int
    decoding_name: str | None
    role: Role
    pairs: Pairs
    clusters: Codes | None
    cache: dict[tuple[bool, float], Interval] = field(default_factory=dict, compare=False, repr=False)

    def interval(self, level: float) -> Interval:
        """Interval of the difference on 0 to 1, at a two-sided confidence level, on the questions answered."""
        return self._interval(self.pairs.difference, self.pairs.questions, level, worst=False)

    def worst(self, level: float) -> Interval:
        """The same with all missing answers counted against the candidate."""
        return self._interval(self.pairs.worst, self.pairs.worst_questions, level, worst=True)

    def upper(self, level: float) -> float | None:
        """Upper limit of :meth:`interval`."""
        return self.interval(level).upper

    def worst_upper(self, level: float) -> float | None:
        """Upper limit of :meth:`worst`."""
        return self.worst(level).upper

    def among(self, places: Codes, level: float) -> Interval:
        """The interval on some of the questions.

        Args:
            places: their places among the pairs.
            level: two-sided confidence level.
        """
        return self._computed(self.pairs.difference[places], self.pairs.questions[places], level)

    def _interval(self, difference: Values, at: Codes, level: float, *, worst: bool) -> Interval:
        if (worst, level) not in self.cache:
            self.cache[worst, level] = self._computed(difference, at, level)
        return self.cache[worst, level]

    def _computed(self, difference: Values, at: Codes, level: float) -> Interval:
        binary = self.scale.binary
        return paired_interval(
            difference,
            binary_single=binary and self.pairs.single,
            averaged_binary=binary,
            clusters=None if self.clusters is None else self.clusters[at],
            confidence=level,
        )


def make_part(
    answers: Answers,
    scorer: Scorer,
    decoding: int,
    role: Role,
    *,
    training: tuple[float, float] | None = None,
    scores_all: bool = False,
) -> Part:
    """The part of one scorer at one decoding.

    Args:
        answers: the answers of both checkpoints.
        scorer: the judge or grader.
        decoding: code of the decoding.
        role: its role.
        training: scale of the training reward, if the scorer gave that reward.
        scores_all: whether the scorer should have scored every question that was put to both sides at the decoding:
            what a deciding judge passed over is missing.

    Raises:
        UsageError: a score lies outside the scorer's declared range.
    """
    judge = answers.judge(scorer.name)
    sides = (answers.baseline, answers.candidate)
    scale = scale_of(scorer, np.concatenate([side.score[side.judge == judge] for side in sides]), training)
    name = answers.decodings[decoding] if decoding >= 0 else None
    pairs = pair(answers, judge, decoding, scale, asked_of_both(answers, decoding) if scores_all else None)
    return Part(scorer, scale, decoding, name, role, pairs, answers.clusters)


def guards(answers: Answers, decisive: Sequence[Scorer], advisory: Sequence[Scorer], primary: int) -> list[Part]:
    """The guards: decisive judges at every other decoding that a side has, and advisory judges at the primary one.

    A decoding that only one side has is a guard without pairs: leaving out the decoding that lost must not go unseen.

    Args:
        answers: the answers of both checkpoints.
        decisive: judges that decide.
        advisory: judges that only guard.
        primary: code of the primary decoding.
    """
    parts = []
    for scorer in decisive:
        judge = answers.judge(scorer.name)
        present = {
            int(code)
            for side in (answers.baseline, answers.candidate)
            for code in np.unique(side.decoding[side.judge == judge])
        }
        codes = sorted(present - {primary})
        parts += [make_part(answers, scorer, code, "guard", scores_all=True) for code in codes]
    return parts + [make_part(answers, scorer, primary, "guard") for scorer in advisory]


def adjusted_uppers(parts: Sequence[Part], level: float, *, worst: bool = False) -> list[float | None]:
    """Upper limits of several parts together on 0 to 1, adjusted by :func:`rlchecks.heldout.holm.holm_uppers`."""
    return holm_uppers([part.worst_upper if worst else part.upper for part in parts], level)
