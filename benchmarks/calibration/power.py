"""Whether the questions of ``rlchecks plan`` confirm as often as it promises, and what power the rule costs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.calibration.rules import nemo, plain, rlchecks
from benchmarks.calibration.worlds import World, averaged, clustered_graded, discordant, graded
from rlchecks.heldout.power import power_of, power_of_share, questions_for_share, questions_for_variance, variance_of

_AT_ONCE = 200_000


class Promise(NamedTuple):
    """One plan and what became of it.

    Attributes:
        name: what was planned for.
        effect: the margin, with no true difference.
        questions: questions that the plan asks for.
        promised: power that it promises.
        found: share of the simulated comparisons that confirm.
        error: Monte Carlo standard error of it.
    """

    name: str
    effect: float
    questions: int
    promised: float
    found: float
    error: float


class Cost(NamedTuple):
    """Power of three rules on the same comparisons, where t (CR2) alone has about 80 %."""

    name: str
    n: int
    effect: float
    rlchecks: float
    plain: float
    nemo: float
    typical: bool


def promises(draws: int, seed: int) -> list[Promise]:
    """Plans for 0/1 answers, averages and graded scores."""
    found = []
    for share, margin in ((0.05, 0.02), (0.1, 0.02), (0.1, 0.05), (0.2, 0.03), (0.4, 0.05)):
        world = World(f"one 0/1 answer, {share:.0%} differ", "", "single", 0.0, discordant(share, 0.0))
        n = questions_for_share(margin, share)
        assert n is not None
        found.append(_kept(world, margin, n, power_of_share(n, margin, share), draws, seed))
    for repeats, margin in ((2, 0.05), (4, 0.03), (8, 0.02)):
        # Difficulties uniform on 0 to 1: within a question p (1 - p) has the mean 1/6.
        world = World(f"{repeats} averaged 0/1 answers", "", "averaged", 0.0, averaged(repeats, "none"))
        found.append(_planned(world, margin, variance_of(0.0, 1 / 6, 1 / 6, repeats), draws, seed))
    for noise, between, repeats, margin in (
        (0.2, 0.1, 1, 0.05),
        (0.2, 0.1, 1, 0.02),
        (0.4, 0.1, 4, 0.03),
        (0.1, 0.05, 1, 0.02),
        (0.05, 0.02, 1, 0.02),
        (0.02, 0.01, 1, 0.01),
    ):
        name = f"graded, noise {noise:g}, between {between:g}, {repeats} answers"
        world = World(name, "", "graded", 0.0, graded(noise, repeats, between=between))
        variance = variance_of(between**2, noise**2 / 2, noise**2 / 2, repeats)
        found.append(_planned(world, margin, variance, draws, seed))
    return found


def costs(draws: int, seed: int) -> list[Cost]:
    """What the wider limits cost where nothing rare is hidden."""
    found = []
    for spread in (0.3, 0.2, 0.15, 0.1, 0.05):
        for n in (100, 200, 500, 2000):
            world = World(f"graded, spread {spread:g}", "", "graded", 0.0, graded(spread))
            found.append(_cost(world, n, 2.8 * spread / n**0.5, spread * n**0.5 >= 2.0, draws, seed))
    for repeats in (2, 8):
        for n in (100, 500):
            world = World(f"{repeats} averaged 0/1 answers", "", "averaged", 0.0, averaged(repeats, "none"))
            found.append(_cost(world, n, 2.8 * (1 / 3 / repeats / n) ** 0.5, True, draws, seed))
    for noise, shared in ((0.3, 0.1), (0.2, 0.1), (0.1, 0.05)):
        for n in (200, 500, 2000):
            draw = clustered_graded("none", noise, shared)
            world = World(f"clusters of 5, noise {noise:g}, shared {shared:g}", "", "graded", 0.0, draw, clustered=True)
            rng = np.random.default_rng([seed, n])
            effect = 2.85 * float(world.draw(rng, 2000, n).mean(axis=1).std())
            found.append(_cost(world, n, effect, effect / 2.85 * n / 5 >= 2.0, draws, seed))
    return found


def _planned(world: World, margin: float, variance: float, draws: int, seed: int) -> Promise:
    n = questions_for_variance(margin, variance)
    assert n is not None
    return _kept(world, margin, n, power_of(n, margin, variance), draws, seed)


def _kept(world: World, margin: float, n: int, promised: float, draws: int, seed: int) -> Promise:
    found = _confirmed(world, n, margin, draws, seed)[0]
    return Promise(world.name, margin, n, promised, found, (found * (1 - found) / draws) ** 0.5)


def _cost(world: World, n: int, effect: float, typical: bool, draws: int, seed: int) -> Cost:
    return Cost(world.name, n, effect, *_confirmed(world, n, effect, draws, seed), typical)


def _confirmed(world: World, n: int, effect: float, draws: int, seed: int) -> tuple[float, float, float]:
    rng = np.random.default_rng([seed, n, round(1e6 * effect)])
    counts, left = np.zeros(3), draws
    while left:
        m = min(left, max(_AT_ONCE // n, 1))
        left -= m
        differences = world.draw(rng, m, n)
        for place, rule in enumerate((rlchecks, plain, nemo)):
            counts[place] += (rule(world, differences).lower > world.truth - effect).sum()
    first, second, third = counts / draws
    return float(first), float(second), float(third)
