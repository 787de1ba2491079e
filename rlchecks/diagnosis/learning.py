"""``learning``: the reward rose, and nothing says that the rise is not what it seems."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding, Severity
from rlchecks.diagnosis.patterns import reward_up, what_shows_the_trend

WITHHELD_BY = frozenset({"length_collapse", "length_with_reward", "kl_without_gain", "starved_floor", "diverged"})
"""Findings under which a rising reward is not called learning. A lasting breakdown withholds it as well."""


def detect(context: Context) -> list[Finding]:
    """Find a reward that rose by an amount that matters and clearly above noise."""
    if not reward_up(context) or context.found & WITHHELD_BY or context.signals.get("non_finite_lasts"):
        return []
    return [
        context.finding(
            "learning",
            Severity.INFORMATION,
            title=f"Reward rose from {context.show('reward_start')} to {context.show('reward_end')}.",
            meaning="The model scores better with its training grader.",
            advice="Confirm it with a held-out evaluation by a different judge.",
            evidence=("reward_start", "reward_end", "reward_gain", what_shows_the_trend(context)),
        )
    ]
