"""What a plan of ``rlchecks plan`` shall confirm."""

from __future__ import annotations

from dataclasses import dataclass

from rlchecks.errors import UsageError


@dataclass(frozen=True)
class Aim:
    """What shall be confirmed.

    Attributes:
        margin: loss that shall be excluded, 0 to below 1.
        gain: gain that is expected, 0 to below 1; with a margin of 0 it is what shall be confirmed.
        repeats: answers per question and side; None: one, or as many as the pilot has.
        candidates: candidates that will be gated on the questions: each has alpha / candidates.
        questions: questions that there are, None if any number can be had.
    """

    margin: float
    gain: float
    repeats: int | None = None
    candidates: int = 1
    questions: int | None = None

    def __post_init__(self) -> None:
        """Refuse what no plan can mean.

        Raises:
            UsageError: a number is out of range, or margin and gain are both 0.
        """
        if not (0 <= self.margin < 1 and 0 <= self.gain < 1 and self.margin + self.gain > 0):
            raise UsageError(
                "--margin (the loss to be excluded) and --gain (the gain that is expected) lie between 0 and 1, and "
                "one of them above 0, such as --margin 0.02: that there is no loss at all can never be confirmed when "
                "nothing was gained."
            )
        if min(n for n in (self.candidates, self.repeats, self.questions) if n is not None) < 1:
            raise UsageError("--repeats, --candidates and --questions are at least 1.")

    @property
    def effect(self) -> float:
        """Distance of the expected difference from the threshold."""
        return self.margin + self.gain

    @property
    def confidence(self) -> float:
        """Two-sided confidence level of each candidate's interval."""
        return 1.0 - 0.05 / self.candidates

    @property
    def words(self) -> str:
        """The aim as the end of a sentence that begins with "To"."""
        if not self.gain:
            return f"exclude a loss of {self.margin:g}, when there is none,"
        if not self.margin:
            return f"confirm a gain of {self.gain:g}"
        return f"exclude a loss of {self.margin:g}, when {self.gain:g} is gained,"
