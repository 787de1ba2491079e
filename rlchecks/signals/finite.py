"""Rows with a literal NaN or infinity, and whether the run ever recovered from them."""

from __future__ import annotations

import numpy as np

from rlchecks.signals.arrays import Flags, Integers
from rlchecks.signals.panel import Panel

LASTING_ROWS = 3
"""Fewest broken rows at the end of a run that count as lasting: one bad row at the end may yet pass."""

CADENCES = 2
"""Times the longest gap before by which the last one must be longer: what is measured every few rows ends in a gap."""

NULL_TOGETHER = ("kl", "entropy")
"""TRL from 1.0 writes null, not NaN, for a metric that was NaN over its whole interval; these two go together when
the policy itself is broken."""


def broken_rows(panel: Panel) -> Flags:
    """Rows, shape ``(N,)``, with a literal NaN or infinity in any metric but the loss, or with the policy gone.

    The policy is gone where KL and entropy, both logged with values before, are both missing from some row to the
    end of the run, for longer than their cadence explains. Scattered missing values are not broken.
    """
    rows = np.zeros(len(panel.run), dtype=bool)
    for metric, flags in panel.broken.items():
        if metric != "loss":
            rows |= flags
    return rows | _missing_to_the_end(panel)


def _missing_to_the_end(panel: Panel) -> Flags:
    if not len(panel.run):
        return np.zeros(0, dtype=bool)
    present = np.zeros(len(panel.run), dtype=bool)
    logged = np.ones(len(panel.run_ids), dtype=bool)
    for metric in NULL_TOGETHER:
        finite = np.isfinite(panel.values[metric])
        present |= finite
        logged &= last_row(panel, finite) >= 0
    last = last_row(panel, present)
    tail = panel.size - 1 - last
    gone = logged & (tail >= LASTING_ROWS) & (tail > CADENCES * longest_gap(panel, present))
    return np.asarray(gone[panel.run] & (panel.position > last[panel.run]))


def longest_gap(panel: Panel, present: Flags) -> Integers:
    """Most rows in a row of each run, shape ``(R,)``, that lie between two of the given rows."""
    longest = np.zeros(len(panel.run_ids), dtype=np.int64)
    at, run = np.flatnonzero(present), panel.run[present]
    between = np.where(run[1:] == run[:-1], np.diff(at) - 1, 0)
    np.maximum.at(longest, run[1:], between)
    return longest


def last_row(panel: Panel, rows: Flags) -> Integers:
    """Position of the last of the given rows in each run, shape ``(R,)``; -1 for a run without one."""
    last = np.full(len(panel.run_ids), -1, dtype=np.int64)
    last[panel.run[rows]] = panel.position[rows]
    return last


def lasting_from(panel: Panel, broken: Flags) -> Integers:
    """Position, shape ``(R,)``, from which every row to the end is broken; the run's size if it is not lasting."""
    sound = last_row(panel, ~broken) + 1
    return np.where(panel.size - sound >= LASTING_ROWS, sound, panel.size)
