"""Simulated comparisons whose expected difference is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Kind = Literal["single", "averaged", "graded"]
Draw = Callable[[np.random.Generator, int, int], Values]

LOSERS, FALL, GAIN = 0.02, 0.7, 0.03
"""The rare regression: 2 % of the questions fall by .70, half of the others gain .03."""

RARE = GAIN * (1.0 - LOSERS) / 2.0 - FALL * LOSERS
"""Its expected difference: gains and losses all but cancel out, +.0007."""

PER_CLUSTER = 5
"""Questions in a cluster on average."""


@dataclass(frozen=True)
class World:
    """One way in which differences arise.

    Attributes:
        name: what it is, for the table.
        aspect: the table it belongs to.
        kind: one 0/1 answer a side, averages of 0/1 answers, or graded scores.
        truth: expected difference.
        draw: generator, comparisons m and questions n to differences, shape (m, n).
        clustered: whether questions come in clusters, those of :func:`clusters`.
        typical: whether it is one of the cases that most comparisons are; the others are made to be hard.
        numbers: numbers of questions it is measured at.
    """

    name: str
    aspect: str
    kind: Kind
    truth: float
    draw: Draw
    clustered: bool = False
    typical: bool = True
    numbers: tuple[int, ...] = (20, 50, 100, 200, 500, 2000)


@cache
def clusters(n: int) -> NDArray[np.intp]:
    """Clusters of ``n`` questions with unequal sizes, at least 10 of them, by question."""
    count = max(n // PER_CLUSTER, 10)
    weights = np.random.default_rng(n).lognormal(0.0, 0.7, count)
    extra = np.random.default_rng(n + 1).multinomial(n - count, weights / weights.sum())
    return np.repeat(np.arange(count), 1 + extra)


def discordant(share: float, truth: float) -> Draw:
    """One 0/1 answer a side: ``share`` of the questions differ."""

    def draw(rng: np.random.Generator, m: int, n: int) -> Values:
        u = rng.random((m, n))
        better = (share + truth) / 2.0
        return (u < better).astype(float) - ((u >= better) & (u < share))

    return draw


def _rare(rng: np.random.Generator, shape: tuple[int, int]) -> Values:
    """Expected gain of each question under the rare regression."""
    u = rng.random(shape)
    return np.where(u < LOSERS, -FALL, np.where(u < LOSERS + (1.0 - LOSERS) / 2.0, GAIN, 0.0))


def averaged(repeats: int, pattern: Literal["none", "shift", "rare", "rare, mostly solved"]) -> Draw:
    """Averages of 0/1 answers to questions of all difficulties."""

    def draw(rng: np.random.Generator, m: int, n: int) -> Values:
        before = rng.beta(5.0, 0.2, (m, n)) if pattern == "rare, mostly solved" else rng.beta(1.0, 1.0, (m, n))
        gain: Values | float = 0.0
        if pattern == "shift":
            before, gain = 0.05 + 0.95 * before, -0.05
        elif pattern != "none":
            gain = _rare(rng, (m, n))
            before = np.where(gain < 0.0, np.maximum(before, FALL), np.minimum(before, 1.0 - GAIN))
        after = np.clip(before + gain, 0.0, 1.0)
        return (rng.binomial(repeats, after) - rng.binomial(repeats, before)) / repeats

    return draw


def graded(noise: float, repeats: int = 1, *, between: float = 0.0, rare: bool = False) -> Draw:
    """Graded scores: ``noise`` is the spread of one difference between answers, ``between`` that of true gains."""

    def draw(rng: np.random.Generator, m: int, n: int) -> Values:
        gain = _rare(rng, (m, n)) if rare else np.zeros((m, n))
        # Cut symmetrically, so that the expected difference stays what it is.
        room = 1.0 - np.abs(gain)
        spread = (noise**2 / repeats + between**2) ** 0.5
        return gain + np.clip(spread * rng.standard_normal((m, n)), -room, room)

    return draw


def _tied(rng: np.random.Generator, m: int, n: int) -> Values:
    """Four in five questions are scored alike; the others by steps of a quarter."""
    steps = rng.choice([-0.5, -0.25, 0.25, 0.5], (m, n))
    return np.where(rng.random((m, n)) < 0.2, steps, 0.0)


def _lopsided(rng: np.random.Generator, m: int, n: int) -> Values:
    """Losses of all sizes, exponentially fewer the larger, and gains that balance them."""
    return 0.1 - np.minimum(rng.exponential(0.1, (m, n)), 1.0)


_LOPSIDED = 0.1 * float(np.exp(-10.0))  # the mean of min(x, 1) is .1 (1 - exp(-10))


def clustered_graded(pattern: Literal["none", "rare questions", "rare clusters"], noise: float, shared: float) -> Draw:
    def draw(rng: np.random.Generator, m: int, n: int) -> Values:
        code = clusters(n)
        count = int(code.max()) + 1
        gain = np.zeros((m, n))
        if pattern == "rare questions":
            gain = _rare(rng, (m, n))
        elif pattern == "rare clusters":
            gain = _rare(rng, (m, count))[:, code]
        room = 1.0 - np.abs(gain)
        scatter = shared * rng.standard_normal((m, count))[:, code] + noise * rng.standard_normal((m, n))
        return gain + np.clip(scatter, -room, room)

    return draw


def _clustered_single(share: float) -> Draw:
    """One 0/1 answer a side; the questions of a cluster tend to change in the same direction."""

    def draw(rng: np.random.Generator, m: int, n: int) -> Values:
        code = clusters(n)
        up = rng.beta(1.0, 1.0, (m, int(code.max()) + 1))[:, code]
        differs = rng.random((m, n)) < share
        return np.where(differs, np.where(rng.random((m, n)) < up, 1.0, -1.0), 0.0)

    return draw


def worlds() -> list[World]:
    """All worlds."""
    found = [
        World(f"{share:.0%} differ, {word}", "single", "single", truth, discordant(share, truth))
        for share in (0.01, 0.02, 0.05, 0.1, 0.2, 0.4)
        for word, truth in (("no difference", 0.0), ("a loss", -min(0.02, share)))
    ]
    for repeats in (2, 4, 8):
        found += [
            World(f"{repeats} repeats, no change", "averaged", "averaged", 0.0, averaged(repeats, "none")),
            World(f"{repeats} repeats, all lose .05", "averaged", "averaged", -0.05, averaged(repeats, "shift")),
        ]
        found += [
            World(f"{repeats} repeats, {name}", "averaged", "averaged", RARE, averaged(repeats, name), typical=False)
            for name in ("rare", "rare, mostly solved")
        ]
    found += [
        World(f"noise {noise:g}, {repeats} repeats", "graded", "graded", 0.0, graded(noise, repeats, between=0.1))
        for noise, repeats in ((0.2, 1), (0.4, 1), (0.4, 4), (0.4, 8))
    ]
    found += [
        World("ties and quarters", "graded", "graded", 0.0, _tied),
        World("lopsided losses", "graded", "graded", _LOPSIDED, _lopsided, typical=False),
    ]
    found += [
        World(f"rare, noise {noise:g}", "graded", "graded", RARE, graded(noise, rare=True), typical=False)
        for noise in (0.0, 0.02, 0.05, 0.1, 0.2)
    ]
    found += [
        World("one answer, 1% differ", "clustered", "single", 0.0, _clustered_single(0.01), True, False),
        World("one answer, 10% differ", "clustered", "single", 0.0, _clustered_single(0.1), True),
        World("one answer, 40% differ", "clustered", "single", 0.0, _clustered_single(0.4), True),
    ]
    for pattern in ("none", "rare questions", "rare clusters"):
        found += [
            World(
                f"{pattern.replace('none', 'graded')}, noise {noise:g}, shared {shared:g}",
                "clustered",
                "graded",
                0.0 if pattern == "none" else RARE,
                clustered_graded(pattern, noise, shared),
                True,
                pattern == "none",
            )
            for noise, shared in ((0.2, 0.1), (0.05, 0.02))
        ]
    return found
