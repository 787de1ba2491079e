"""How often an interval holds the truth, and how often a candidate at the margin would be promoted."""

from __future__ import annotations

from dataclasses import dataclass
from zlib import crc32

import numpy as np

from benchmarks.calibration.rules import RULES, SMALLEST
from benchmarks.calibration.worlds import World

_AT_ONCE = 200_000  # differences: what a processor's cache holds


@dataclass(frozen=True)
class Tally:
    """What one rule did in one cell.

    Attributes:
        draws: simulated comparisons.
        undefined: comparisons without an interval.
        covered: intervals that hold the truth.
        above: lower limits above the truth: PROMOTE at a margin that is exactly reached.
        below: upper limits below the truth: REJECT of the same.
        decides: whether the rule promotes at this number of questions at all.
    """

    draws: int
    undefined: int
    covered: int
    above: int
    below: int
    decides: bool

    @property
    def coverage(self) -> float:
        """Share of the defined intervals that hold the truth; NaN if none is defined."""
        defined = self.draws - self.undefined
        return self.covered / defined if defined else float("nan")

    @property
    def error(self) -> float:
        """Monte Carlo standard error of a coverage of 93 % with this many defined intervals."""
        return float(np.sqrt(0.93 * 0.07 / max(self.draws - self.undefined, 1)))

    @property
    def holds(self) -> bool:
        """Whether the coverage is at least 93 %, less three Monte Carlo errors."""
        return self.undefined == self.draws or self.coverage >= 0.93 - 3.0 * self.error

    @property
    def promoted(self) -> float | None:
        """Share of all comparisons at the margin that would be promoted, None where nothing is decided."""
        return self.above / self.draws if self.decides else None


Cell = dict[str, Tally]


def measure(world: World, n: int, draws: int, seed: int) -> Cell:
    """Tallies of all rules in one cell, on the same simulated comparisons."""
    rng = np.random.default_rng([seed, n, crc32(f"{world.aspect} {world.name}".encode())])
    counts = {name: np.zeros(4, dtype=int) for name in RULES}
    left = draws
    while left:
        m = min(left, max(_AT_ONCE // n, 1))
        left -= m
        differences = world.draw(rng, m, n)
        for name, rule in RULES.items():
            lower, upper = rule(world, differences)
            # Limits that should equal the truth may miss it by rounding.
            above, below = lower > world.truth + 1e-12, upper < world.truth - 1e-12
            undefined = np.isnan(lower)
            counts[name] += undefined.sum(), (~undefined & ~above & ~below).sum(), above.sum(), below.sum()
    return {name: Tally(draws, *map(int, counts[name]), n >= SMALLEST[name]) for name in RULES}
