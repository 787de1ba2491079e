"""What a decision needs under one assumption about the spread, and what a given number of questions gives."""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

from rlchecks.heldout.limits import MIN_CLUSTERS
from rlchecks.heldout.plan import MIN_QUESTIONS
from rlchecks.heldout.power import MOST_QUESTIONS, power_of, power_of_share, questions_for_share, questions_for_variance


class Need(NamedTuple):
    """An effect to be confirmed, and how far the questions' differences spread.

    Attributes:
        effect: distance of the expected difference from the threshold, as a fraction of the score's range.
        confidence: two-sided confidence level.
        variance: of the questions' differences, above 0; with clusters n times the variance of the mean of n questions.
        share: whether the variance is the share of questions that differ, with one 0/1 answer a side.
        cluster_size: questions in a cluster on average, 1 where questions are independent.
    """

    effect: float
    confidence: float
    variance: float
    share: bool = False
    cluster_size: float = 1.0

    def questions(self) -> int | None:
        """Questions that confirm with 80 % power; None if no number does.

        With clusters their means take the place of questions, since the gate's interval counts clusters.
        """
        if self.share:
            return questions_for_share(self.effect, self.variance, confidence=self.confidence)
        size = self.cluster_size
        if size == 1.0:
            return questions_for_variance(self.effect, self.variance, confidence=self.confidence)
        least = max(MIN_CLUSTERS, ceil(MIN_QUESTIONS / size))
        clusters = questions_for_variance(self.effect, self.variance / size, confidence=self.confidence, minimum=least)
        questions = None if clusters is None else ceil(clusters * size)
        return None if questions is None or questions > MOST_QUESTIONS else questions

    def power(self, questions: int) -> float:
        """Probability that so many questions confirm the effect; 0 with too few for a decision."""
        clusters = int(questions / self.cluster_size)
        if questions < MIN_QUESTIONS or (self.cluster_size > 1.0 and clusters < MIN_CLUSTERS):
            return 0.0
        if self.share:
            return power_of_share(questions, self.effect, self.variance, confidence=self.confidence)
        return power_of(clusters, self.effect, self.variance / self.cluster_size, confidence=self.confidence)
