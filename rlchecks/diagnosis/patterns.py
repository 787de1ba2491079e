"""Patterns that several rules share."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context

ONE_SIDED = 1.645
"""Standard errors of a one-sided bound at 95 %."""


def enough_for_trends(context: Context) -> bool:
    """Whether there are enough rows with a reward for a statement about a trend (the suite's ``n_reward_rows``)."""
    return context.at_least("n_reward_rows", context.parameters.hold_below["n_reward_rows"])


def enough_for_levels(context: Context) -> bool:
    """Whether there are enough rows with a reward for a statement about a level."""
    return context.at_least("n_reward_rows", context.parameters.limit("rows", "levels"))


def reward_up(context: Context) -> bool:
    """Whether the reward rose by an amount that matters, and clearly above noise."""
    return enough_for_trends(context) and _moved(context, 1.0)


def reward_down(context: Context) -> bool:
    """Whether the reward fell by an amount that matters, and clearly above noise."""
    return enough_for_trends(context) and _moved(context, -1.0)


def rose(context: Context) -> bool:
    """Whether the reward rose, if only in the first rows of the run: easy prompts are learned in a few steps."""
    parameters = context.parameters
    at_once = context.at_least("first_rise", parameters.limit("saturated", "first_rise")) and context.at_least(
        "first_rise_score", parameters.limit("saturated", "score")
    )
    return reward_up(context) or (enough_for_trends(context) and at_once)


def largest_change(context: Context) -> float | None:
    """The most, as a fraction of the scale, that the reward may have changed, at 95 %; None if nothing bounds it."""
    change, error = context.number("reward_trend_fraction"), context.number("reward_trend_error")
    band = context.number("reward_range_fraction")
    if change is None or error is None:
        return band
    bound = abs(change) + ONE_SIDED * error
    return bound if band is None else min(bound, band)


def off_its_scale(context: Context) -> bool:
    """Whether the reward moved clearly among its own answers, and hardly on the scale that had to be guessed.

    Rewards from 50 to 51 are taken to count from 0; what is little there may be all that they have.
    """
    parameters = context.parameters
    effect = context.number("reward_gain_effect")
    return (
        context.signals.get("scale_basis") == "inferred"
        and effect is not None
        and abs(effect) >= parameters.limit("reward", "own_effect")
        and context.at_most("reward_trend_p", parameters.limit("reward", "knee_max_p"))
        and not reward_up(context)
        and not reward_down(context)
    )


def without_gradient(context: Context) -> str:
    """Say that most late gradients are exactly 0, which explains a reward that does not move; empty if they are not.

    It is no finding of its own: the reward says that the model does not learn, and where it rises the norm was not
    measured.
    """
    if not context.at_least("zero_gradient_late", context.parameters.limit("diverged", "zero_gradient")):
        return ""
    return f" {context.show('zero_gradient_late', '.0%')} of the late gradient norms are exactly 0: no update arrives."


def what_shows_the_trend(context: Context) -> str:
    """The signal that shows a rise or fall of the reward to be real: the p of a line or of a knee, or its ordering."""
    parameters = context.parameters
    if context.at_most("reward_trend_p", parameters.limit("reward", "max_p")):
        return "reward_trend_p"
    bent = context.at_most("reward_knee_p", parameters.limit("reward", "knee_max_p"))
    return "reward_knee_p" if bent else "reward_ordering"


def starved(context: Context) -> bool:
    """Whether most prompts give no signal in the late window.

    By the logged share of prompts without a signal; where that is not logged, by batches whose rewards do not spread
    at all, which say the same of every prompt in them; where no spread is logged, by a reward that never changes.
    """
    if constant(context):
        return True
    measured = context.number("zero_std_fraction_late")
    share = measured if measured is not None else context.number("zero_spread_late")
    return enough_for_levels(context) and share is not None and share >= _most(context)


def constant(context: Context) -> bool:
    """Whether all rewards of the run are the same number, and nothing tells the spread of the answers."""
    return enough_for_trends(context) and bool(context.signals.get("reward_constant"))


def at_ceiling(context: Context) -> bool:
    """Whether the reward ends near the top of its scale; an inferred top may lie above the real one."""
    key = "ceiling_inferred" if context.signals.get("scale_basis") == "inferred" else "ceiling"
    return context.at_least("reward_position_end", context.parameters.limit("starved", key))


def trending(context: Context, metric: str, table: str, *, up: bool) -> bool:
    """Whether a metric's trend or its ordering is clear in the given direction."""
    parameters = context.parameters
    order = context.number(f"{metric}_ordering")
    if order is not None and (order if up else 1 - order) >= parameters.limit(table, "ordering"):
        return True
    growth = context.number(f"{metric}_growth")
    return context.at_most(f"{metric}_trend_p", parameters.limit(table, "max_p")) and (
        growth is not None and (growth > 1) == up
    )


def _most(context: Context) -> float:
    return context.parameters.warn_above["zero_std_fraction_late"]


def _moved(context: Context, sign: float) -> bool:
    parameters = context.parameters
    gain, effect = context.number("reward_gain_fraction"), context.number("reward_gain_effect")
    slope, order = context.number("reward_trend"), context.number("reward_ordering")
    if gain is None or sign * gain < parameters.limit("reward", "min_gain"):
        return False
    if effect is not None and sign * effect < parameters.limit("reward", "min_effect"):
        return False
    if (
        slope is not None
        and sign * slope > 0
        and context.at_most("reward_trend_p", parameters.limit("reward", "max_p"))
    ):
        return True
    if context.at_most("reward_knee_p", parameters.limit("reward", "knee_max_p")):
        return True
    ordered = order is not None and (order if sign > 0 else 1 - order) >= parameters.limit("reward", "step_ordering")
    return ordered and sign * gain >= parameters.limit("reward", "step_gain")
