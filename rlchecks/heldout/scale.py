"""The range of a judge's or grader's scores: declared, known, or guessed from what it gave."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlchecks.errors import UsageError
from rlchecks.heldout.names import shown
from rlchecks.heldout.scorer import Scorer

_WIDEST = 1e300  # limits lie a little beyond the range, and have to be numbers too
_SLACK = 1e-9  # of the range, for scores that were written as decimal text


@dataclass(frozen=True)
class Scale:
    """The range of a scorer.

    Attributes:
        low: smallest score.
        high: largest score, above ``low``.
        source: ``declared``; ``binary``, all scores are 0 or 1; ``training``, the training reward's; ``observed``.
        binary: all scores are at one of the two ends of a known range.
        higher_is_better: direction.
    """

    low: float
    high: float
    source: str
    binary: bool
    higher_is_better: bool

    @property
    def known(self) -> bool:
        """Whether the range is more than a guess."""
        return self.source in ("declared", "binary")

    @property
    def width(self) -> float:
        """Distance of the ends, above 0, in the unit of the scores."""
        return self.high - self.low

    def unit(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores mapped to 0 (worst) to 1 (best); NaN stays NaN."""
        mapped = (scores - self.low) / self.width
        return mapped if self.higher_is_better else 1.0 - mapped

    def raw(self, score: float) -> float:
        """A score on 0 to 1 in the unit of the scores."""
        return self.low + score * self.width if self.higher_is_better else self.high - score * self.width

    def raw_difference(self, difference: float | None) -> float | None:
        """A difference on 0 to 1, positive if better, in the unit of the scores; None stays None."""
        return None if difference is None else difference * self.width


def scale_of(scorer: Scorer, scores: NDArray[np.float64], training: tuple[float, float] | None = None) -> Scale:
    """The scale of a scorer.

    Undeclared scores that are all 0 or 1 have the known range 0 to 1. Otherwise the range is a guess: the training
    reward's if given, else 0 to 1 if all scores lie there, else min(smallest, 0) to max(largest + one standard
    deviation, 0): including 0 keeps a flat score near 1 flat.

    Args:
        scorer: the judge or grader.
        scores: all its scores of the compared checkpoints, NaN where unscored.
        training: low and high end of the training reward's scale, if the scorer gave that reward.

    Raises:
        UsageError: a score lies outside the declared range, or the range is too wide for a number.
    """
    finite = scores[np.isfinite(scores)]
    if scorer.low is not None and scorer.high is not None:
        low, high, source = scorer.low, scorer.high, "declared"
        slack = _SLACK * (high - low)
        if len(finite) and (finite.min() < low - slack or finite.max() > high + slack):
            raise UsageError(
                f"{shown(scorer.name)} is declared {low:g}..{high:g}, but its scores go from {finite.min():g} to "
                f"{finite.max():g}; declare the real range, and leave failed scorings empty."
            )
    elif len(finite) and np.isin(finite, (0.0, 1.0)).all():
        low, high, source = 0.0, 1.0, "binary"
    elif training is not None:
        (low, high), source = training, "training"
    else:
        low, high, source = (*_observed(finite), "observed")
    if not high - low < _WIDEST:
        raise UsageError(
            f"The scores or the declared range of {shown(scorer.name)} reach too far to compute with; leave failed "
            "scorings empty, or give the scores in another unit."
        )
    known = source in ("declared", "binary")
    binary = bool(known and len(finite) and np.isin(finite, (low, high)).all())
    return Scale(float(low), float(high), source, binary, scorer.higher_is_better)


def _observed(scores: NDArray[np.float64]) -> tuple[float, float]:
    if not len(scores) or (scores.min() >= 0.0 and scores.max() <= 1.0):
        return 0.0, 1.0
    low, high = float(scores.min()), float(scores.max())
    size = max(-low, high)
    # In units of the largest, whose square might be no number.
    spread = float((scores / size).std()) * size
    return min(low, 0.0), max(high + spread, 0.0)
