"""What a rule sees: the signals of one run, the limits of the suite, and the codes found so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rlchecks.diagnosis.finding import Finding, Number, Severity
from rlchecks.diagnosis.parameters import Parameters


@dataclass(frozen=True)
class Context:
    """The input of a rule.

    Attributes:
        signals: one row of the signals table.
        parameters: thresholds of the profile.
        found: codes that earlier rules found; the registry's order decides who comes first.
    """

    signals: Mapping[str, Number]
    parameters: Parameters
    found: frozenset[str] = frozenset()

    def number(self, signal: str) -> float | None:
        """The value of a numeric signal, None if it could not be computed."""
        value = self.signals.get(signal)
        return None if value is None or isinstance(value, str) else float(value)

    def at_least(self, signal: str, limit: float) -> bool:
        """Whether a signal is known and at least ``limit``."""
        value = self.number(signal)
        return value is not None and value >= limit

    def at_most(self, signal: str, limit: float) -> bool:
        """Whether a signal is known and at most ``limit``."""
        value = self.number(signal)
        return value is not None and value <= limit

    def step(self, signal: str) -> int | None:
        """The value of a signal that is a step."""
        value = self.number(signal)
        return None if value is None else int(value)

    def show(self, signal: str, form: str = ".2f") -> str:
        """A signal's value in words, for titles."""
        value = self.number(signal)
        return "unknown" if value is None else format(value, form)

    def finding(
        self,
        code: str,
        severity: Severity,
        *,
        title: str,
        meaning: str,
        advice: str,
        evidence: Sequence[str],
        onset_step: int | None = None,
    ) -> Finding:
        """Make a finding that quotes the given signals as its evidence."""
        numbers = {name: self.signals.get(name) for name in evidence}
        return Finding(code, severity, title, meaning, advice, numbers, onset_step)
