"""Signals of the answers: their spread, their length, how many were cut, and how far the policy has moved."""

from __future__ import annotations

import numpy as np

from rlchecks.signals.arrays import Flags, Floats, divide, per_row
from rlchecks.signals.catalogue import WINDOW
from rlchecks.signals.panel import Panel
from rlchecks.signals.reward import Scale, level_at, one_group, second_half
from rlchecks.signals.trend import linear, may_overflow, ordering, row_median, smooth, spearman

ONSET_RISE = 0.08
"""Smallest rise above the first level that counts as the beginning of length growth."""

FLAT_SPREAD = 0.001
"""Spread of the rewards, as a share of their scale, under which a whole batch scored the same."""


@may_overflow()
def spread(panel: Panel, limits: Scale) -> dict[str, Floats]:
    """Signals of the rewards' spread and of the prompts without a signal; arrays of shape ``(R,)``."""
    start, late = panel.windows("reward_std", WINDOW)
    zero_start, zero_late = panel.windows("zero_std_fraction", WINDOW)
    width = limits.width[panel.run]
    known = np.isfinite(panel.values["reward_std"]) & np.isfinite(width)
    flat = np.where(known, panel.values["reward_std"] <= FLAT_SPREAD * width, np.nan)
    return {
        "reward_std_start": start,
        "reward_std_late": late,
        "zero_spread_late": _late_share(panel, flat),
        "zero_std_fraction_start": zero_start,
        "zero_std_fraction_late": zero_late,
        "zero_std_fraction_peak": _peak(panel.block_means("zero_std_fraction")),
        "one_group_per_step": one_group(panel).astype(np.float64),
    }


NEARLY_ALL = 0.9
"""Clipped ratio from which the longest answers can tell whether the length limit really cut them."""

SAME_LENGTH = 1.005
"""Largest ratio of two rows' longest answers that counts as the same length: rows are means over an interval."""


def doubtful(panel: Panel) -> Flags:
    """Runs, shape ``(R,)``, whose clipped ratio cannot be what it says.

    TRL counts as cut whatever ends with another token than the tokenizer's end token, which is every answer of a
    model that ends its turns with a token of its own (trl/trainer/grpo_trainer.py; pull request 7039). Answers that
    were really cut are as long as the limit, so the longest of each step has the same length; here nearly all count
    as cut, and it has not.
    """
    longest = panel.values["max_length"]
    nearly_all = (panel.values["clipped_ratio"] >= NEARLY_ALL) & np.isfinite(longest)
    result = np.zeros(len(panel.run_ids), dtype=bool)
    for run in np.flatnonzero(panel.count(nearly_all) >= np.maximum(5, panel.size / 2)):
        rows = slice(panel.start[run], panel.start[run] + panel.size[run])
        lengths = longest[rows][nearly_all[rows]]
        # The limit may change when a run is resumed; that is two lengths, each of many rows.
        middle = np.median(lengths)
        same = (lengths <= middle * SAME_LENGTH) & (lengths * SAME_LENGTH >= middle)
        result[run] = same.mean() < 0.5
    return result


def cut(panel: Panel) -> dict[str, Floats]:
    """Signals of the share of cut answers; arrays of shape ``(R,)``."""
    start, late = panel.windows("clipped_ratio", WINDOW)
    return {
        "clipped_ratio_start": start,
        "clipped_ratio_late": late,
        "clipped_ratio_peak": _peak(panel.block_means("clipped_ratio")),
    }


@may_overflow()
def length(panel: Panel, limits: Scale, reward_end: Floats) -> dict[str, Floats]:
    """Signals of the answers' length, and of how it goes with the reward; arrays of shape ``(R,)``."""
    start, end = panel.windows("mean_length", WINDOW)
    blocks, rewards = panel.block_means("mean_length"), panel.block_means("reward")
    onset, at = _onset(blocks, panel)
    return {
        "length_start": start,
        "length_end": end,
        "length_growth": divide(end, start),
        "length_trend_p": linear(blocks).p,
        "length_ordering": ordering(blocks, WINDOW),
        "length_onset_step": onset,
        "length_reward_coupling": spearman(blocks, rewards),
        "reward_gain_after_length_onset": (reward_end - level_at(rewards, at)) / limits.width,
    }


@may_overflow()
def divergence(panel: Panel, reward_knee: Floats) -> dict[str, Floats]:
    """Signals of the KL divergence from the starting model, against the reward; arrays of shape ``(R,)``.

    Medians per block: one wild step would otherwise be the trend.
    """
    blocks, rewards = panel.block_medians("kl"), panel.block_means("reward")
    start, end = _ends(blocks)
    late = linear(second_half(blocks))
    at_knee = level_at(blocks, reward_knee)
    steps = panel.block_steps()
    last = np.maximum((steps >= 0).sum(axis=1) - 1, 0)
    knee_block = np.where(np.isfinite(reward_knee), np.rint(np.nan_to_num(reward_knee) * last), 0).astype(np.int64)
    knee_step = np.where(np.isfinite(reward_knee) & np.isfinite(end), steps[np.arange(len(steps)), knee_block], np.nan)
    gained = end - start
    return {
        "kl_start": start,
        "kl_end": end,
        "kl_peak": _peak(blocks),
        "kl_late_trend": late.slope / 2,
        "kl_late_p": late.p,
        "kl_late_rise": divide(late.slope / 2, end),
        "kl_share_after_knee": divide(end - at_knee, gained, where=(gained > 0) & np.isfinite(gained)),
        "kl_knee_step": knee_step,
        "kl_reward_slope": _slope(second_half(blocks), second_half(rewards)),
    }


@may_overflow()
def stability(panel: Panel) -> dict[str, Floats]:
    """Signals of entropy and gradient; arrays of shape ``(R,)``."""
    start, end = panel.windows("entropy", WINDOW)
    blocks = panel.block_means("entropy")
    gradient = panel.values["grad_norm"]
    return {
        "entropy_start": start,
        "entropy_end": end,
        "entropy_growth": divide(end, start),
        "entropy_ordering": ordering(blocks, WINDOW),
        "entropy_floor_step": _floor_step(blocks, start, panel),
        "zero_gradient_late": _late_share(panel, np.where(np.isfinite(gradient), gradient == 0, np.nan)),
    }


def _floor_step(blocks: Floats, start: Floats, panel: Panel) -> Floats:
    """Step from which the smoothed series stays within a tenth of its early mean; NaN if it ends above."""
    valid = np.isfinite(blocks)
    high = valid & (smooth(blocks) > 0.1 * start[:, None])
    index = np.arange(blocks.shape[1])
    last_high = np.where(high, index, -1).max(axis=1, initial=-1)
    last = np.where(valid, index, -1).max(axis=1, initial=-1)
    at = np.minimum(last_high + 1, blocks.shape[1] - 1)
    step = panel.block_steps()[np.arange(len(blocks)), at]
    return np.where((last_high < last) & (last_high >= 0) & (step >= 0), step, np.nan)


def _onset(blocks: Floats, panel: Panel) -> tuple[Floats, Floats]:
    """Step and position from which the smoothed series stays above its first level.

    The first level is the median of the first tenth of the blocks (at least 3); above it means by more than
    max(8 %, two robust standard deviations), the deviation taken from the differences of neighbouring blocks.
    """
    valid = np.isfinite(blocks)
    n = valid.sum(axis=1)
    rank = np.cumsum(valid, axis=1) - 1
    first = np.where(valid & (rank < np.maximum(3, np.rint(n / 10))[:, None]), blocks, np.nan)
    level = row_median(first)
    noise = 1.4826 * row_median(np.abs(np.diff(blocks, axis=1))) / np.sqrt(2)
    bound = level + np.fmax(ONSET_RISE * np.abs(level), 2 * np.nan_to_num(noise))
    low = valid & (smooth(blocks) <= bound[:, None])
    index = np.arange(blocks.shape[1])
    last_low = np.where(low, index, -1).max(axis=1, initial=-1)
    last = np.where(valid, index, -1).max(axis=1, initial=-1)
    at = np.minimum(last_low + 1, blocks.shape[1] - 1)
    begins = (n >= 4) & (last_low < last) & (last_low >= 0)
    step = panel.block_steps()[np.arange(len(blocks)), at]
    position = at / np.maximum(last, 1)
    return np.where(begins & (step >= 0), step, np.nan), np.where(begins, position, np.nan)


def _late_share(panel: Panel, flags: Floats) -> Floats:
    """Mean of a 0/1 series (NaN: not measured) over the late window."""
    helper = Panel(panel.run_ids, panel.run, panel.step, {"flag": flags}, {})
    return helper.windows("flag", WINDOW)[1]


def _ends(blocks: Floats) -> tuple[Floats, Floats]:
    valid = np.isfinite(blocks)
    n = valid.sum(axis=1)
    width = np.maximum(1, np.rint(n * WINDOW))
    rank = np.cumsum(valid, axis=1) - 1
    early: Flags = valid & (rank < width[:, None])
    late: Flags = valid & (rank >= (n - width)[:, None])
    start, end = per_row(blocks, early), per_row(blocks, late)
    return np.where(np.isfinite(start), start, np.nan), np.where(np.isfinite(end), end, np.nan)


def _peak(blocks: Floats) -> Floats:
    peak = np.where(np.isfinite(blocks), blocks, -np.inf).max(axis=1, initial=-np.inf)
    return np.where(np.isfinite(peak), peak, np.nan)


def _slope(x: Floats, y: Floats) -> Floats:
    both = np.isfinite(x) & np.isfinite(y)
    n = both.sum(axis=1)
    dx = np.where(both, x - per_row(x, both)[:, None], 0.0)
    dy = np.where(both, y - per_row(y, both)[:, None], 0.0)
    squares = (dx**2).sum(axis=1)
    return divide((dx * dy).sum(axis=1), squares, where=(squares > 0) & np.isfinite(squares) & (n >= 4))
