"""What a diagnosis is made of: a severity and a finding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

Number = float | int | str | bool | None


class Severity(IntEnum):
    """How bad a finding is; ordered, so that ``max`` is the worst. Information never alarms."""

    INFORMATION = 0
    WARNING = 1
    CRITICAL = 2

    @property
    def label(self) -> str:
        """The word in ``verdict.json``: ``information``, ``warning`` or ``critical``."""
        return self.name.lower()


@dataclass(frozen=True)
class Finding:
    """Something that the run's signals show together.

    Attributes:
        code: stable name, such as ``length_with_reward``.
        severity: how bad it is.
        title: what is seen, in one short sentence.
        meaning: what it probably means.
        advice: what to do.
        evidence: the numbers it rests on, by signal name.
        onset_step: the step at which it began, if that can be told.
    """

    code: str
    severity: Severity
    title: str
    meaning: str
    advice: str
    evidence: Mapping[str, Number] = field(default_factory=dict)
    onset_step: int | None = None
