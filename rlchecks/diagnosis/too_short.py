"""``too_short``: too few logged steps to tell anything about trends."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding, Severity
from rlchecks.diagnosis.patterns import enough_for_trends


def detect(context: Context) -> list[Finding]:
    """Find a run with fewer rows than a trend needs."""
    if enough_for_trends(context):
        return []
    rows = context.number("n_reward_rows") or 0
    needed = context.parameters.hold_below["n_reward_rows"]
    return [
        context.finding(
            "too_short",
            Severity.INFORMATION,
            title=f"Too short: {rows:.0f} logged rows with a reward, {needed:.0f} are needed for a trend.",
            meaning="Nothing can be said about where the run was going.",
            advice="Train longer, or log more often.",
            evidence=("n_reward_rows", "n_rows", "missing_reward_fraction"),
        )
    ]
