"""Metrics that a framework does not log but that follow from what it logs."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlchecks.readers.maps import Series

_Numbers = NDArray[np.float64]


def _ratio(part: _Numbers, whole: _Numbers) -> _Numbers:
    quotient: _Numbers = np.divide(part, whole, out=np.full(len(part), np.nan), where=whole != 0)
    return quotient


# Name of the formula: how many keys it takes, what it computes, how it is written.
_FORMULAS: dict[str, tuple[int, Callable[..., _Numbers], str]] = {
    "complement": (1, lambda a: 1 - a, "1 - {}"),
    "complement_of_percent": (1, lambda a: 1 - a / 100, "1 - {} / 100"),
    "complement_of_ratio": (2, lambda a, b: 1 - _ratio(a, b), "1 - {} / {}"),
    "difference": (2, lambda a, b: a - b, "{} - {}"),
    "ratio": (2, _ratio, "{} / {}"),
    "sum": (2, lambda a, b: a + b, "{} + {}"),
}


@dataclass(frozen=True)
class Formula:
    """How a metric is computed from logged keys.

    Attributes:
        name: which formula it is, or ``times``.
        operands: keys, or patterns of keys whose groups have to agree.
        factor: what ``times`` multiplies with.
        binary: whether it holds for rewards of 0 and 1 only.
    """

    name: str
    operands: tuple[str | re.Pattern[str], ...]
    factor: float = 1.0
    binary: bool = False

    def __post_init__(self) -> None:
        """Check the name and the number of keys.

        Raises:
            ValueError: there is no such formula, or it takes more or fewer keys.
        """
        wanted = 1 if self.name == "times" else _FORMULAS.get(self.name, (0,))[0]
        if len(self.operands) != wanted:
            raise ValueError(f"{self.name} of {len(self.operands)} keys is no formula")

    def choices(self, keys: Collection[str]) -> list[tuple[str, ...]]:
        """Find the keys that it can be computed from: none, one choice, or one for each part of a run."""
        found = [_matches(operand, keys) for operand in self.operands]
        return [tuple(one[part] for one in found) for part in found[0] if all(part in one for one in found)]

    def compute(self, series: list[Series]) -> Series:
        """Compute the metric where all keys have a value; NaN where a denominator is 0."""
        rows = series[0].rows
        for one in series[1:]:
            rows = np.intersect1d(rows, one.rows)
        numbers = [values_at(one, rows) for one in series]
        # Infinity is a value like any other here.
        with np.errstate(all="ignore"):
            result = numbers[0] * self.factor if self.name == "times" else _FORMULAS[self.name][1](*numbers)
        known = ~np.isnan(result) | np.any(np.isnan(numbers), axis=0)
        return Series(rows[known], result[known])

    def text(self, keys: Iterable[str]) -> str:
        """Write the formula with these keys."""
        if self.name == "times":
            return f"{next(iter(keys))} * {self.factor:g}"
        return _FORMULAS[self.name][2].format(*keys)

    def pattern_text(self) -> str:
        """Write the formula for people, patterns as they stand in the file."""
        return self.text(operand if isinstance(operand, str) else operand.pattern for operand in self.operands)


def formula(entry: Mapping[str, object]) -> Formula:
    """Make a formula of an entry of ``aliases.toml``, such as ``{ ratio = ["a", "b"] }``.

    Raises:
        ValueError: it is no formula.
    """
    rest = {key: value for key, value in entry.items() if key not in ("factor", "binary")}
    (name, operands), *others = rest.items()
    if others or not isinstance(operands, list):
        raise ValueError(f"{dict(entry)} is no formula")
    keys = tuple(re.compile(one) if "(?P<" in one else one for one in operands)
    return Formula(name, keys, float(str(entry.get("factor", 1.0))), bool(entry.get("binary")))


def _matches(operand: str | re.Pattern[str], keys: Collection[str]) -> dict[str, str]:
    """Lead from the part of the run, as the groups of a pattern name it, to the key."""
    if isinstance(operand, str):
        return {"": operand} if operand in keys else {}
    found = ((operand.fullmatch(key), key) for key in keys)
    return {" ".join(match.groupdict("").values()): key for match, key in found if match}


def values_at(series: Series, rows: NDArray[np.int64]) -> _Numbers:
    """Take the values of a series at some of its rows."""
    order = np.argsort(series.rows, kind="stable")
    taken: _Numbers = series.numbers[order][np.searchsorted(series.rows[order], rows)]
    return taken
