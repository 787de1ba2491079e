"""``saturated``: the run learned and has reached the ceiling, where most prompts give no signal any more."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding, Severity
from rlchecks.diagnosis.patterns import at_ceiling, rose, starved


def detect(context: Context) -> list[Finding]:
    """Find a reward that rose to the ceiling of its scale and left most prompts without a signal."""
    if not (rose(context) and starved(context) and at_ceiling(context)):
        return []
    return [
        context.finding(
            "saturated",
            Severity.INFORMATION,
            title=f"The reward has reached its ceiling ({context.show('reward_end')}).",
            meaning="The run learned, and nearly every answer to nearly every prompt now scores the same.",
            advice="Stop here or bring harder prompts; an earlier checkpoint may be as good.",
            evidence=("reward_start", "reward_end", "zero_std_fraction_late", "scale_low", "scale_high"),
        )
    ]
