"""``no_trend``: enough steps, a signal, and still no movement of the reward."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding, Severity
from rlchecks.diagnosis.patterns import enough_for_trends, reward_down, reward_up, starved


def detect(context: Context) -> list[Finding]:
    """Find a reward that neither rose nor fell by an amount that matters, although prompts give a signal."""
    if not enough_for_trends(context) or reward_up(context) or reward_down(context) or starved(context):
        return []
    least = context.parameters.limit("reward", "min_gain")
    gain = context.number("reward_gain_fraction")
    small = gain is not None and abs(gain) < least
    seen = f"a change of less than {least:.0%} of its scale" if small else "no change that stands out from the noise"
    return [
        context.finding(
            "no_trend",
            Severity.INFORMATION,
            title=f"Reward went from {context.show('reward_start')} to {context.show('reward_end')}: {seen}.",
            meaning="The task may be out of reach, the grader too noisy, or the learning rate too low.",
            advice="Train longer, or look at learning rate and grader before trusting this checkpoint.",
            evidence=("reward_start", "reward_end", "reward_gain_fraction", *(() if small else ("reward_trend_p",))),
        )
    ]
