"""When something began: the step from which a series stays away from its first level."""

from __future__ import annotations

import numpy as np

from rlchecks.signals.arrays import Floats
from rlchecks.signals.panel import Panel
from rlchecks.signals.trend import may_overflow, row_median, smooth

FIRST = 0.1
"""Share of the blocks, at least 3, whose median is the first level; and the most that an onset is followed back."""

BACK = 0.5
"""Share of the margin down to which an onset is followed back once the series has left the margin for good: waiting
for the whole margin dates slow changes late by .08 of the run, in the median; this by .05 (detection benchmark)."""


@may_overflow()
def departure(blocks: Floats, panel: Panel, least: Floats, sign: float) -> tuple[Floats, Floats]:
    """Step and position from which the smoothed series stays above (``sign`` 1) or below (-1) its first level.

    Away from it means by more than max(``least``, two robust standard deviations), the deviation taken from the
    differences of neighbouring blocks. A series that is away from the first block on has no onset.

    Args:
        blocks: shape ``(R, B)``.
        panel: the runs.
        least: smallest departure that counts, shape ``(R,)``.
        sign: the direction.

    Returns:
        step and position (0 to 1), shape ``(R,)`` each; NaN where there is none.
    """
    valid = np.isfinite(blocks)
    n = valid.sum(axis=1)
    rank = np.cumsum(valid, axis=1) - 1
    few = np.maximum(3, np.rint(n * FIRST)).astype(np.int64)
    first = np.where(valid & (rank < few[:, None]), blocks, np.nan)
    noise = 1.4826 * row_median(np.abs(np.diff(blocks, axis=1))) / np.sqrt(2)
    margin = np.fmax(least, 2 * np.nan_to_num(noise))
    away = sign * (smooth(blocks) - row_median(first)[:, None])
    index = np.arange(blocks.shape[1])
    near = np.where(valid & (away <= margin[:, None]), index, -1).max(axis=1, initial=-1)
    still = valid & (away <= BACK * margin[:, None]) & (index[None, :] <= near[:, None])
    last = np.where(valid, index, -1).max(axis=1, initial=-1)
    begun = np.maximum(np.where(still, index, -1).max(axis=1, initial=-1), near - few)
    at = np.clip(begun + 1, 0, blocks.shape[1] - 1)
    begins = (n >= 4) & (near < last) & (near >= 0)
    step = panel.block_steps()[np.arange(len(blocks)), at]
    position = at / np.maximum(last, 1)
    return np.where(begins & (step >= 0), step, np.nan), np.where(begins, position, np.nan)


@may_overflow()
def under(blocks: Floats, bound: Floats, panel: Panel) -> Floats:
    """Step from which the smoothed series stays at or under a bound, shape ``(R,)``; NaN if it ends or begins above."""
    valid = np.isfinite(blocks)
    index = np.arange(blocks.shape[1])
    high = np.where(valid & (smooth(blocks) > bound[:, None]), index, -1).max(axis=1, initial=-1)
    last = np.where(valid, index, -1).max(axis=1, initial=-1)
    at = np.minimum(high + 1, blocks.shape[1] - 1)
    step = panel.block_steps()[np.arange(len(blocks)), at]
    return np.where((high < last) & (high >= 0) & (step >= 0), step, np.nan)
