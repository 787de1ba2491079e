"""What the deciding judges say together, and whether missing answers could change it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rlchecks.heldout.parts import Part, adjusted_uppers


class Outcome(NamedTuple):
    """The intervals of the deciding judges against a margin, all on 0 to 1.

    Attributes:
        lowers: lower limits, one per judge; None where undefined. Not adjusted, since all judges must pass.
        uppers: Holm-adjusted upper limits, one per judge; None where undefined.
        word: ``pass``, every lower limit is above -margin; ``loss``, an upper limit is below -margin; ``disagree``,
            some judge's is a pass and another's a loss; else ``undecided``.
    """

    lowers: list[float | None]
    uppers: list[float | None]
    word: str

    @property
    def lower(self) -> float | None:
        """The smallest lower limit; None if any is undefined, or there is no judge."""
        known = [value for value in self.lowers if value is not None]
        return min(known) if known and len(known) == len(self.lowers) else None

    @property
    def upper(self) -> float | None:
        """The smallest adjusted upper limit of those defined; None if none is."""
        return min((value for value in self.uppers if value is not None), default=None)


def judge_outcome(decisive: Sequence[Part], margin: float, level: float, *, worst: bool = False) -> Outcome:
    """The outcome of the deciding judges.

    Args:
        decisive: their parts at the primary decoding.
        margin: acceptable loss, on 0 to 1.
        level: two-sided confidence level of one interval.
        worst: whether missing answers count against the candidate.
    """
    lowers = [(part.worst(level) if worst else part.interval(level)).lower for part in decisive]
    uppers = adjusted_uppers(decisive, level, worst=worst)
    passed = [value is not None and value > -margin for value in lowers]
    lost = [value is not None and value < -margin for value in uppers]
    if any(passed) and any(lost):
        word = "disagree"
    elif any(lost):
        word = "loss"
    else:
        word = "pass" if passed and all(passed) else "undecided"
    return Outcome(lowers, uppers, word)


def weakest(decisive: Sequence[Part], level: float) -> Part | None:
    """The judge that the decision hangs on: one without an interval, else the one with the smallest lower limit."""

    def strength(part: Part) -> tuple[bool, float]:
        lower = part.interval(level).lower
        return lower is not None, 0.0 if lower is None else lower

    return min(decisive, key=strength, default=None)
