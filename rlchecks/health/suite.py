"""A suite as it stands in its file: what is expected of each column, and what follows if it does not hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Literal

OnFailure = Literal["hold", "reject", "warn"]
OnMissing = Literal["hold", "warn", "ignore"]
Scalar = float | int | bool | str

BETWEEN = "expect_column_values_to_be_between"
IN_SET = "expect_column_values_to_be_in_set"
NOT_NULL = "expect_column_values_to_not_be_null"
TYPES = (BETWEEN, IN_SET, NOT_NULL)
"""The only types allowed. Each says yes or no for every row on its own; aggregates pass a table with sick rows."""


@dataclass(frozen=True)
class ExpectationSpec:
    """One expectation of a suite.

    Attributes:
        type: one of :data:`TYPES`.
        column: the column it looks at.
        kwargs: the other arguments: ``min_value``, ``max_value``, ``strict_min``, ``strict_max``, or ``value_set``.
        code: reason code when it does not hold.
        code_passed: reason code when it holds.
        title: what is expected, in a few words.
        why: the reason of the threshold.
        advice: what to do when it does not hold.
        on_failure: effect of a value outside the expectation.
        on_missing: effect of a missing value.
        severity: Great Expectations' word for ``on_failure``, ``critical`` or ``warning``.
    """

    type: str
    column: str
    kwargs: Mapping[str, Scalar | tuple[Scalar, ...]] = field(hash=False)
    code: str
    code_passed: str
    title: str
    why: str
    advice: str
    on_failure: OnFailure
    on_missing: OnMissing
    severity: str

    @property
    def expected(self) -> str:
        """The expectation for people, such as ``< 0.25``, ``between 1 and 5``, ``false`` or ``present``."""
        if self.type == NOT_NULL:
            return "present"
        if self.type == IN_SET:
            words = [_text(value) for value in self.value_set]
            return words[0] if len(words) == 1 else f"one of {', '.join(words)}"
        low, high = self.limits
        below, above = ("<" if self.strict_max else "<="), (">" if self.strict_min else ">=")
        if low == -inf:
            return f"{below} {_text(high)}"
        if high == inf:
            return f"{above} {_text(low)}"
        if self.strict_min or self.strict_max:
            return f"{above} {_text(low)} and {below} {_text(high)}"
        return f"between {_text(low)} and {_text(high)}"

    @property
    def limits(self) -> tuple[float, float]:
        """Smallest and largest value of a ``between``; infinite where there is no limit."""
        return self._number("min_value", -inf), self._number("max_value", inf)

    @property
    def strict_min(self) -> bool:
        """Whether the smallest value itself already fails."""
        return self.kwargs.get("strict_min") is True

    @property
    def strict_max(self) -> bool:
        """Whether the largest value itself already fails."""
        return self.kwargs.get("strict_max") is True

    @property
    def value_set(self) -> tuple[Scalar, ...]:
        """The allowed values of an ``in_set``; all flags, all numbers or all texts."""
        values = self.kwargs.get("value_set", ())
        return values if isinstance(values, tuple) else (values,)

    def _number(self, key: str, default: float) -> float:
        value = self.kwargs.get(key, default)
        return float(value) if isinstance(value, int | float) else default


@dataclass(frozen=True)
class Suite:
    """A suite: its name, the SHA-256 of its file's bytes, its expectations in the order of the file."""

    name: str
    sha256: str
    expectations: tuple[ExpectationSpec, ...]


def thresholds(suite: Suite, *effects: OnFailure) -> dict[str, tuple[float, float]]:
    """Take the ranges of a suite's columns, without Great Expectations.

    Args:
        suite: the suite.
        effects: only expectations with one of these ``on_failure``; all when none is given.

    Returns:
        column to (smallest, largest) value, infinite where there is no limit; the tightest of several.
    """
    ranges: dict[str, tuple[float, float]] = {}
    for spec in suite.expectations:
        if spec.type == BETWEEN and (not effects or spec.on_failure in effects):
            low, high = ranges.get(spec.column, (-inf, inf))
            ranges[spec.column] = (max(low, spec.limits[0]), min(high, spec.limits[1]))
    return ranges


def _text(value: Scalar) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else f"{value:g}"
