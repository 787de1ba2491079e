"""Rows with a literal NaN or infinity, and whether the run ever recovered from them."""

from __future__ import annotations

import numpy as np

from rlchecks.signals.arrays import Flags, Integers
from rlchecks.signals.panel import Panel

LASTING_ROWS = 3
"""Fewest broken rows at the end of a run that count as lasting: one bad row at the end may yet pass."""

NULL_TOGETHER = ("kl", "entropy")
"""TRL from 1.0 writes null, not NaN, for a metric that was NaN over its whole interval; these two go together when
the policy itself is broken."""


def broken_rows(panel: Panel) -> Flags:
    """Rows, shape ``(N,)``, with a literal NaN or infinity in any metric but the loss, or with the policy gone.

    The policy is gone where KL and entropy, both logged with values before, are both missing from some row to the
    end of the run. Scattered missing values are not broken.
    """
    rows = np.zeros(len(panel.run), dtype=bool)
    for metric, flags in panel.broken.items():
        if metric != "loss":
            rows |= flags
    return rows | _missing_to_the_end(panel)


def _missing_to_the_end(panel: Panel) -> Flags:
    if not len(panel.run):
        return np.zeros(0, dtype=bool)
    gone = np.ones(len(panel.run), dtype=bool)
    for metric in NULL_TOGETHER:
        last = last_row(panel, np.isfinite(panel.values[metric]))
        gone &= (last[panel.run] >= 0) & (panel.position > last[panel.run])
    return gone


def last_row(panel: Panel, rows: Flags) -> Integers:
    """Position of the last of the given rows in each run, shape ``(R,)``; -1 for a run without one."""
    last = np.full(len(panel.run_ids), -1, dtype=np.int64)
    last[panel.run[rows]] = panel.position[rows]
    return last


def lasting_from(panel: Panel, broken: Flags) -> Integers:
    """Position, shape ``(R,)``, from which every row to the end is broken; the run's size if it is not lasting."""
    sound = last_row(panel, ~broken) + 1
    return np.where(panel.size - sound >= LASTING_ROWS, sound, panel.size)
