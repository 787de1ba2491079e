"""``length_growth``: answers grow longer, without a rising reward."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding, Severity
from rlchecks.diagnosis.patterns import enough_for_trends, reward_up, trending

_AS_IN = "length_with_reward"
"""Growth means the same in both findings, so its limits stand in one table."""


def detect(context: Context) -> list[Finding]:
    """Find answers that grew clearly longer while the reward did not rise."""
    grown = context.at_least("length_growth", context.parameters.limit(_AS_IN, "growth"))
    if not (enough_for_trends(context) and grown and trending(context, "length", _AS_IN, up=True)):
        return []
    if reward_up(context):
        return []
    return [
        context.finding(
            "length_growth",
            Severity.INFORMATION,
            title=f"Answers grew from {context.show('length_start', '.0f')} to {context.show('length_end', '.0f')} "
            "tokens while the reward did not rise.",
            meaning="Some drift of the length is normal; much of it costs tokens and nears the limit.",
            advice="Watch the share of cut answers; read a few late answers.",
            evidence=("length_start", "length_end", "length_growth", "length_trend_p", "clipped_ratio_late"),
            onset_step=context.step("length_onset_step"),
        )
    ]
