"""How often the best of many candidates that are no better is promoted, in one call or one after the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.calibration.rules import nemo, rlchecks
from benchmarks.calibration.worlds import World, discordant, graded
from rlchecks.heldout.request import ComparisonRequest

COUNTS = (1, 2, 5, 10, 20)
_AT_ONCE = 50


class Best(NamedTuple):
    """Shares of the simulated families of which at least one candidate is promoted, by number of candidates.

    Attributes:
        name: kind of scores.
        n: questions.
        one_call: all candidates in one call.
        separate: one call each, which share an archive.
        unadjusted: the same interval without any correction.
        nemo: NeMo's rule, which has none.
        error: Monte Carlo standard error of a share of 5 %.
    """

    name: str
    n: int
    one_call: list[float]
    separate: list[float]
    unadjusted: list[float]
    nemo: list[float]
    error: float


def best_of(draws: int, seed: int) -> list[Best]:
    """Families of 20 candidates, each as good as the baseline, with whose answers all of them are compared."""
    return [_family(kind, n, draws, seed) for kind in ("single", "graded") for n in (100, 300)]


def _family(kind: str, n: int, draws: int, seed: int) -> Best:
    single = kind == "single"
    world = World(kind, "", "single" if single else "graded", 0.0, discordant(0.4, 0.0) if single else graded(0.3))
    rng = np.random.default_rng([seed, n, single])
    top = COUNTS[-1]
    counts = np.zeros((4, len(COUNTS)))
    # As the gate reckons: all candidates of a call are looks at the same questions.
    together = [ComparisonRequest(looks=count, together=count).level for count in COUNTS]
    later = [ComparisonRequest(looks=look).level for look in range(1, top + 1)]
    left = draws
    while left:
        m = min(left, _AT_ONCE)
        left -= m
        difficulty = rng.random((m, 1, n)) if single else np.zeros((m, 1, n))
        answers = rng.random((m, top + 1, n)) < difficulty if single else 0.2 * rng.standard_normal((m, top + 1, n))
        differences = answers[:, 1:].astype(float) - answers[:, :1]
        grid = np.clip(differences, -1.0, 1.0)
        plain, other = (rule(world, grid.reshape(m * top, n)).lower.reshape(m, top) > 0.0 for rule in (rlchecks, nemo))
        by_look = np.stack(
            [rlchecks(world, grid[:, look], level).lower > 0.0 for look, level in enumerate(later)], axis=1
        )
        for place, count in enumerate(COUNTS):
            counts[:, place] += [
                _any(world, grid[:, :count], together[place]).sum(),
                by_look[:, :count].any(axis=1).sum(),
                plain[:, :count].any(axis=1).sum(),
                other[:, :count].any(axis=1).sum(),
            ]
    shares = (counts / draws).tolist()
    name = "one 0/1 answer" if single else "graded"
    return Best(name, n, *shares, (0.05 * 0.95 / draws) ** 0.5)


def _any(world: World, grid: NDArray[np.float64], level: float) -> NDArray[np.bool_]:
    m, count, n = grid.shape
    lower = rlchecks(world, grid.reshape(m * count, n), level).lower
    return np.asarray((lower.reshape(m, count) > 0.0).any(axis=1))
