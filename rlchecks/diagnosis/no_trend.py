"""``no_trend``: enough steps, a signal, and still no movement of the reward."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding, Severity
from rlchecks.diagnosis.patterns import (
    enough_for_trends,
    largest_change,
    off_its_scale,
    reward_up,
    starved,
    without_gradient,
)

_EVIDENCE = ("reward_start", "reward_end", "reward_trend_fraction", "reward_trend_error")


def detect(context: Context) -> list[Finding]:
    """Find a reward that neither rose nor fell, although prompts give a signal.

    That no change stands out is not enough: the rows must show that there was little at most. Where noise could hide
    more, nothing can be said, and the run is ``inconclusive``.
    """
    moved = reward_up(context) or "reward_falling" in context.found or off_its_scale(context)
    if not enough_for_trends(context) or moved or starved(context):
        return []
    largest, limit = largest_change(context), context.parameters.limit("reward", "largest_change")
    if largest is None or largest > limit:
        return []
    stuck = without_gradient(context)
    return [
        context.finding(
            "no_trend",
            Severity.INFORMATION,
            title=f"Reward went from {context.show('reward_start')} to {context.show('reward_end')}: a change of at "
            f"most {largest:.0%} of its scale.",
            meaning="The task may be out of reach, the grader too noisy, or the learning rate too low." + stuck,
            advice="Train longer, or look at learning rate and grader before trusting this checkpoint.",
            evidence=(*_EVIDENCE, "zero_gradient_late") if stuck else _EVIDENCE,
        )
    ]
