"""Signals of the answers: their spread, their length, how many were cut, and how far the policy has moved."""

from __future__ import annotations

import numpy as np

from rlchecks.signals.arrays import Flags, Floats, divide, per_row
from rlchecks.signals.catalogue import WINDOW
from rlchecks.signals.onset import departure, under
from rlchecks.signals.panel import Panel
from rlchecks.signals.reward import Scale, level_at, one_group, second_half
from rlchecks.signals.trend import linear, may_overflow, ordering, spearman, theil_sen

LENGTH_CHANGE = 0.08
"""Smallest change, as a share of the early length, that counts as the beginning of growth or decline."""

SHARE_CHANGE = 0.05
"""The same for a share of answers."""

FLAT_SPREAD = 0.001
"""Spread of the rewards, as a share of their scale, under which a whole batch scored the same."""

LAST = 0.05
"""Share of the run, at least 5 rows, whose median tells how it ended: what breaks late is hidden in a late mean."""


@may_overflow()
def spread(panel: Panel, limits: Scale) -> dict[str, Floats]:
    """Signals of the rewards' spread and of the prompts without a signal; arrays of shape ``(R,)``."""
    start, late = panel.windows("reward_std", WINDOW)
    zero_start, zero_late = panel.windows("zero_std_fraction", WINDOW)
    width = limits.width[panel.run]
    known = np.isfinite(panel.values["reward_std"]) & np.isfinite(width)
    flat = np.where(known, panel.values["reward_std"] <= FLAT_SPREAD * width, np.nan)
    logged = panel.count(np.isfinite(panel.values["reward_std"])) > 0
    return {
        "reward_std_start": start,
        "reward_std_late": late,
        "zero_spread_late": np.where(logged, _late_share(panel, flat), _at_one_end(panel, limits)),
        "reward_constant": _constant(panel),
        "zero_std_fraction_start": zero_start,
        "zero_std_fraction_late": zero_late,
        "zero_std_fraction_peak": _peak(panel.block_means("zero_std_fraction")),
        "one_group_per_step": one_group(panel).astype(np.float64),
    }


def _at_one_end(panel: Panel, limits: Scale) -> Floats:
    """1 for a run whose late rewards all lie at the same end of a scale that is known, else 0.

    A mean at the end of its range leaves no room for any spread, whether or not one is logged.
    """
    rewards = panel.values["reward"]
    known = np.array([basis not in (None, "inferred") for basis in limits.basis])[panel.run]
    ends = [
        _late_share(panel, np.where(np.isfinite(rewards), known & (rewards == end[panel.run]), np.nan)) == 1
        for end in (limits.low, limits.high)
    ]
    return np.where(panel.count(np.isfinite(rewards)) > 0, np.any(ends, axis=0), np.nan)


def _constant(panel: Panel) -> Floats:
    """1 for a run whose rewards are one number, where no spread is logged that could tell otherwise; else 0.

    Ranks within a group have a constant mean and still tell answers apart, hence the spread has the word.
    """
    told = np.isfinite(panel.values["reward_std"]) | np.isfinite(panel.values["zero_std_fraction"])
    same = panel.per_run("reward", np.fmin) == panel.per_run("reward", np.fmax)
    scored = panel.count(np.isfinite(panel.values["reward"])) > 0
    return np.where(scored, same & (panel.count(told) == 0), np.nan)


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
    blocks = panel.block_means("clipped_ratio")
    return {
        "clipped_ratio_start": start,
        "clipped_ratio_late": late,
        "clipped_ratio_peak": _peak(blocks),
        "clipped_ratio_onset_step": departure(blocks, panel, np.full(len(blocks), SHARE_CHANGE), 1.0)[0],
    }


@may_overflow()
def length(panel: Panel, limits: Scale, reward_end: Floats) -> dict[str, Floats]:
    """Signals of the answers' length, and of how it goes with the reward; arrays of shape ``(R,)``."""
    start, end = panel.windows("mean_length", WINDOW)
    blocks, rewards = panel.block_means("mean_length"), panel.block_means("reward")
    onset, at = departure(blocks, panel, LENGTH_CHANGE * start, 1.0)
    return {
        "length_start": start,
        "length_end": end,
        "length_growth": divide(end, start),
        "length_last": _last(panel, "mean_length"),
        "length_trend_p": linear(blocks).p,
        "length_ordering": ordering(blocks, WINDOW),
        "length_onset_step": onset,
        "length_fall_step": departure(blocks, panel, LENGTH_CHANGE * start, -1.0)[0],
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
    half = second_half(blocks)
    # Theil-Sen: a spike that fills a block is no climb.
    climb = theil_sen(half) * (np.isfinite(half).sum(axis=1) - 1)
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
        "kl_late_trend": climb,
        "kl_late_p": linear(half).p,
        "kl_late_ordering": ordering(half, WINDOW),
        "kl_late_rise": divide(climb, end),
        "kl_share_after_knee": divide(end - at_knee, gained, where=(gained > 0) & np.isfinite(gained)),
        "kl_knee_step": knee_step,
        "kl_reward_slope": _slope(half, second_half(rewards)),
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
        "entropy_floor_step": under(blocks, 0.1 * start, panel),
        "zero_gradient_late": _late_share(panel, np.where(np.isfinite(gradient), gradient == 0, np.nan)),
    }


def _late_share(panel: Panel, flags: Floats) -> Floats:
    """Mean of a 0/1 series (NaN: not measured) over the late window."""
    helper = Panel(panel.run_ids, panel.run, panel.step, {"flag": flags}, {})
    return helper.windows("flag", WINDOW)[1]


def _last(panel: Panel, metric: str) -> Floats:
    known = panel.keep(np.isfinite(panel.values[metric]))
    rows = np.maximum(5, np.rint(LAST * known.size)).astype(np.int64)
    end = known.keep(known.position >= (known.size - rows)[known.run])
    result = np.full(len(panel.run_ids), np.nan)
    for run in np.flatnonzero(known.size >= rows):
        result[run] = np.median(end.values[metric][end.start[run] : end.start[run] + end.size[run]])
    return result


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
