"""Signals of the reward: its scale, level, trend and jumps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rlchecks.signals.arrays import Flags, Floats, divide, per_row
from rlchecks.signals.catalogue import WINDOW
from rlchecks.signals.onset import departure
from rlchecks.signals.panel import Panel
from rlchecks.signals.trend import knee, linear, may_overflow, ordering, theil_sen

REWARD_CHANGE = 0.05
"""Smallest fall, as a share of the scale, that counts as the beginning of a decline."""

FIRST_ROWS = 3
"""Rows that tell the level at which a run began."""

TINY = 1e-3
"""Highest reward and spread together under which rewards do not count on 0 to 1: one right answer in a batch of a
thousand gives more."""

JUMP_SHARE = 0.06
"""Share of the run in each of the two adjacent windows between which a jump is sought."""

JUMP_ROWS = 3
"""Fewest rows of such a window; 5 with one prompt group a step, whose rewards are far noisier."""


@dataclass(frozen=True)
class Scale:
    """The range of each run's reward: arrays of shape ``(R,)`` and how it is known."""

    low: Floats
    high: Floats
    basis: tuple[str | None, ...]

    @property
    def width(self) -> Floats:
        """Width of the range, NaN where it is zero or overflows: nothing can be placed on it."""
        with may_overflow():
            width = self.high - self.low
        return np.where((width > 0) & np.isfinite(width), width, np.nan)

    @may_overflow()
    def position(self, level: Floats) -> Floats:
        """Place a level on the scale, 0 the floor and 1 the ceiling."""
        return np.asarray((level - self.low) / self.width)


@may_overflow()
def scale(panel: Panel, declared: Sequence[tuple[float, float] | None]) -> Scale:
    """Tell the range of each run's reward.

    A declared range wins. If all rewards lie in 0..1, that is the range, unless they and their spread fill less than
    :data:`TINY` of it. Otherwise it reaches from min(lowest, 0) to max(highest + one std, 0), the std being the mean
    logged spread of the answers in the fifth of the blocks with the highest rewards, or that of the rows where none is
    logged: answers that all score the same at the top leave no room above it. Including 0 keeps a flat reward near 1.0
    flat, and tells floor from ceiling on negative scales. Rewards that are never above 0 and within one std of it are
    few penalties on answers that mostly have none: such a scale reaches one std below the lowest, lest its top be taken
    for its floor.
    """
    lowest = panel.per_run("reward", np.fmin)
    highest = panel.per_run("reward", np.fmax)
    blocks = panel.block_means("reward")
    valid = np.isfinite(blocks)
    spreads = panel.block_means("reward_std")
    spread, below = _spread_of_the_highest(blocks, spreads), _spread_of_the_highest(-blocks, spreads)
    mean = per_row(blocks, valid)
    squares = np.where(valid, (blocks - mean[:, None]) ** 2, 0.0).sum(axis=1)
    own = np.sqrt(squares / np.maximum(valid.sum(axis=1) - 1, 1))
    spread = np.where(np.isfinite(spread), spread, own)
    unit = (lowest >= 0) & (highest <= 1) & ((highest == 0) | (highest + spread >= TINY))
    penalties = (highest <= 0) & (lowest < 0) & (-lowest < below)
    low = np.where(unit, 0.0, np.where(penalties, lowest - below, np.minimum(lowest, 0.0)))
    high = np.where(unit, 1.0, np.where(penalties, 0.0, np.maximum(highest + spread, 0.0)))
    basis: list[str | None] = [
        None if np.isnan(value) else "unit" if is_unit else "inferred"
        for value, is_unit in zip(lowest, unit, strict=True)
    ]
    for index, given in enumerate(declared):
        if given is not None:
            low[index], high[index] = given
            basis[index] = "declared"
    return Scale(low, high, tuple(basis))


def _spread_of_the_highest(rewards: Floats, spreads: Floats) -> Floats:
    both = np.isfinite(rewards) & np.isfinite(spreads)
    order = np.argsort(np.where(both, -rewards, np.inf), axis=1, kind="stable")
    kept = np.arange(rewards.shape[1]) < np.maximum(1, np.rint(both.sum(axis=1) * WINDOW))[:, None]
    return per_row(np.take_along_axis(spreads, order, axis=1), kept & np.take_along_axis(both, order, axis=1))


@may_overflow()
def signals(panel: Panel, limits: Scale) -> dict[str, Floats]:
    """Compute level, trend and jump of the reward; every array has shape ``(R,)``, NaN where undefined."""
    start, end = panel.windows("reward", WINDOW)
    blocks = panel.block_means("reward")
    trend = linear(blocks)
    spread, _ = panel.windows("reward_std", 1.0)
    turn = knee(blocks)
    bent = linear(blocks, turn)
    # Twenty blocks tell an autocorrelation badly; all of them, about the best knee, tell it better.
    late = linear(second_half(blocks), rho=bent.rho)
    gain = end - start
    return (
        {
            "reward_start": start,
            "reward_end": end,
            "reward_gain": gain,
            "reward_gain_fraction": gain / limits.width,
            "reward_gain_effect": divide(gain, spread),
            "reward_position_start": limits.position(start),
            "reward_position_end": limits.position(end),
            "reward_trend": trend.slope,
            "reward_trend_p": trend.p,
            "reward_trend_fraction": trend.slope / limits.width,
            "reward_trend_error": trend.error / limits.width,
            "reward_autocorrelation": trend.rho,
            "reward_slope": theil_sen(blocks),
            "reward_ordering": ordering(blocks, WINDOW),
            "reward_range_fraction": _range(blocks) / limits.width,
            "reward_late_trend": late.slope / 2,
            "reward_late_p": late.p,
            "reward_late_own_p": linear(second_half(blocks)).p,
            "reward_late_fraction": late.slope / 2 / limits.width,
            "reward_late_error": late.error / 2 / limits.width,
            "reward_knee": turn,
            "reward_knee_p": bent.p,
            "reward_gain_after_knee": (end - level_at(blocks, turn)) / limits.width,
            "reward_fall_step": departure(blocks, panel, REWARD_CHANGE * limits.width, -1.0)[0],
        }
        | _first_rise(panel, limits, end)
        | _fastest_moves(panel, limits)
    )


def _range(blocks: Floats) -> Floats:
    valid = np.isfinite(blocks)
    size = np.where(valid, blocks, -np.inf).max(axis=1) - np.where(valid, blocks, np.inf).min(axis=1)
    return np.where(valid.any(axis=1), size, np.nan)


def second_half(blocks: Floats) -> Floats:
    """The blocks of the second half of each run, the others NaN."""
    index = np.arange(blocks.shape[1])
    last = np.where(np.isfinite(blocks), index, -1).max(axis=1, initial=-1)
    return np.where(index[None, :] * 2 >= last[:, None], blocks, np.nan)


@may_overflow()
def level_at(blocks: Floats, position: Floats) -> Floats:
    """Mean of the up to five blocks around a position (0 to 1) of each run."""
    index = np.arange(blocks.shape[1])
    last = np.where(np.isfinite(blocks), index, -1).max(axis=1, initial=-1)
    near = np.abs(index[None, :] - (position * last)[:, None]) <= 2.5
    return per_row(blocks, near & np.isfinite(blocks))


@may_overflow()
def _first_rise(panel: Panel, limits: Scale, end: Floats) -> dict[str, Floats]:
    """How far the late reward lies above the first rows, which a run may leave long before its first fifth ends."""
    scored = panel.keep(np.isfinite(panel.values["reward"]))
    values, runs = scored.values["reward"], len(panel.run_ids)
    first = scored.position < FIRST_ROWS
    level = divide(np.bincount(scored.run[first], values[first], runs), np.bincount(scored.run[first], minlength=runs))
    step = np.diff(values, prepend=np.nan)[scored.position > 0]
    pairs = scored.run[scored.position > 0]
    # Noise of a row from neighbouring rows (von Neumann 1941), so that the rise itself hardly counts as noise.
    noise = np.sqrt(divide(np.bincount(pairs, step**2, runs), 2 * np.bincount(pairs, minlength=runs)))
    error = noise / np.sqrt(FIRST_ROWS)
    enough = scored.size >= 5 * FIRST_ROWS
    rise = np.where(enough, end - level, np.nan)
    return {"first_rise": rise / limits.width, "first_rise_score": np.where(noise > 0, rise / error, np.nan)}


def _fastest_moves(panel: Panel, limits: Scale) -> dict[str, Floats]:
    """Largest rise and fall between adjacent windows of rows with a reward, and where the reward went from there."""
    runs = len(panel.run_ids)
    scored = panel.keep(np.isfinite(panel.values["reward"]))
    least = np.where(one_group(panel), JUMP_ROWS + 2, JUMP_ROWS)
    widths = np.maximum(least, np.rint(scored.size * JUMP_SHARE).astype(np.int64))
    names = [f"fastest_{way}{what}" for way in ("rise", "fall") for what in ("", *_OF_A_MOVE)]
    result = {name: np.full(runs, np.nan) for name in names}
    for run in np.flatnonzero(scored.size >= 2 * widths):
        rows = slice(scored.start[run], scored.start[run] + scored.size[run])
        values, width = scored.values["reward"][rows], widths[run]
        sums = np.concatenate([[0.0], np.cumsum(values)])
        jump = (sums[2 * width :] - 2 * sums[width:-width] + sums[: -2 * width]) / width
        mean = (sums[width:] - sums[:-width]) / width
        if not np.isfinite(jump).all():
            continue
        # Noise of a row from neighbouring rows (von Neumann 1941), so that the move itself hardly counts as noise.
        noise = np.sqrt(np.mean(np.diff(values) ** 2) / 2) * np.sqrt(2 / width)
        for name, at in (("fastest_rise", int(np.argmax(jump))), ("fastest_fall", int(np.argmin(jump)))):
            size, after = abs(jump[at]), at + width
            result[name][run] = jump[at] / limits.width[run]
            result[f"{name}_step"][run] = scored.step[rows][after]
            # Of means, since the median of single answers' 0 and 1 is no level.
            result[f"{name}_level"][run] = (np.median(mean[after:]) - limits.low[run]) / limits.width[run]
            result[f"{name}_share"][run] = _ratio(size, mean.max() - mean.min())
            result[f"{name}_score"][run] = _ratio(size, noise)
    return result


_OF_A_MOVE = ("_step", "_level", "_share", "_score")


def _ratio(one: float, other: float) -> float:
    return one / other if 0 < other < np.inf else np.nan


def one_group(panel: Panel) -> Flags:
    """Runs, shape ``(R,)``, whose zero-std fraction is only ever 0 or 1: it was measured over one group a step."""
    share = panel.values["zero_std_fraction"]
    measured = np.isfinite(share)
    between = measured & (share > 0) & (share < 1)
    # Many groups that all have a signal also log 0 at every row, so some row at 1 is needed.
    seen, at_one = panel.count(measured), panel.count(measured & (share == 1))
    return np.asarray((seen >= 5) & (panel.count(between) == 0) & (at_one > 0))
