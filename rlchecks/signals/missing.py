"""Rewards that are missing: how many, and the longest stretch without one.

A log may hold a reward in every tenth row only, and other metrics in each. Rows between rewards at a regular distance
lack none; only what lies beyond that distance was lost.
"""

from __future__ import annotations

import numpy as np

from rlchecks.signals.arrays import Flags, Floats, Integers, divide
from rlchecks.signals.finite import CADENCES, LASTING_ROWS, last_row, longest_gap
from rlchecks.signals.panel import Panel

REGULAR = 0.75
"""Share of the distances between rewards that must be the same for rows between them to be no loss. Rewards that are
lost at random reach .5 at most beyond a distance of one row."""

JITTER = 4
"""Distances count as the same if they differ by up to a quarter: logs by the clock, or single rows more. Those of
rewards that are lost at random spread as widely as they are long."""

FEWEST = 3
"""Distances from which a regular one can be told."""

_GENERATION = ("reward_std", "zero_std_fraction", "clipped_ratio", "mean_length")


def generated(panel: Panel) -> Flags:
    """Rows, shape ``(N,)``, of steps that answers were generated for.

    Those are the rows that carry a metric of a generation, or a reward. With several optimiser steps a generation TRL
    logs rows between that have neither, and lack no reward. All rows of a run that logs no such metric count. Where
    the metrics of a generation stop and other rows go on for longer than any gap before explains, a row for each
    generation that should have been is counted.
    """
    tells = np.zeros(len(panel.run), dtype=bool)
    for metric in _GENERATION:
        tells |= np.isfinite(panel.values[metric])
    some = panel.count(tells) > 0
    rows = tells | np.isfinite(panel.values["reward"]) | panel.broken["reward"] | ~some[panel.run]
    last, gap = last_row(panel, rows), longest_gap(panel, rows)
    tail = panel.size - 1 - last
    stopped = (tail >= LASTING_ROWS) & (tail > CADENCES * gap)
    after = panel.position - last[panel.run]
    return np.asarray(rows | (stopped[panel.run] & (after > 0) & (after % (gap[panel.run] + 1) == 0)))


def signals(panel: Panel, sound: Panel) -> dict[str, Floats]:
    """Signals of missing rewards; arrays of shape ``(R,)``.

    Args:
        panel: all rows with answers; a reward that is not finite counts as missing in their share.
        sound: those before a lasting breakdown. NaN and infinity are findings of their own, and end a stretch.
    """
    rows = panel.keep(generated(panel))
    scored = np.isfinite(rows.values["reward"])
    lost = _stretches(rows, scored)[0]
    expected = rows.count(scored) + lost
    rows_of_stretch = sound.keep(generated(sound))
    logged = np.isfinite(rows_of_stretch.values["reward"]) | rows_of_stretch.broken["reward"]
    _, longest, first, last = _stretches(rows_of_stretch, logged)
    return {
        "expected_reward_rows": expected.astype(np.float64),
        "missing_reward_fraction": divide(lost, expected),
        "missing_reward_stretch": longest,
        "missing_reward_first_step": first,
        "missing_reward_last_step": last,
    }


def _stretches(panel: Panel, present: Flags) -> tuple[Integers, Floats, Floats, Floats]:
    """Lost rewards of each run, and the number, first and last step of its longest stretch of them."""
    runs = len(panel.run_ids)
    lost = np.zeros(runs, dtype=np.int64)
    longest, first, last = np.zeros(runs), np.full(runs, np.nan), np.full(runs, np.nan)
    longest[panel.size == 0] = np.nan
    for run in np.flatnonzero(panel.count(~present)):
        begin, size = panel.start[run], panel.size[run]
        here = np.flatnonzero(present[begin : begin + size])
        distance = np.diff(here, prepend=-1, append=size)
        usual = _usual(distance[1:-1])
        beyond = np.where(distance > usual + usual // JITTER, distance - usual, 0)
        rewards = -(-beyond // usual)
        lost[run] = rewards.sum()
        at = int(np.argmax(beyond))
        if beyond[at] > 0:
            end = begin + (here[at] if at < len(here) else size)
            longest[run], first[run], last[run] = rewards[at], panel.step[end - beyond[at]], panel.step[end - 1]
    return lost, longest, first, last


def _usual(distances: Integers) -> int:
    """The distance at which rewards are logged: 1 unless nearly all distances between them are the same."""
    if len(distances) < FEWEST:
        return 1
    usual = int(np.median(distances))
    same = np.abs(distances - usual) <= usual // JITTER
    return usual if same.mean() >= REGULAR else 1
