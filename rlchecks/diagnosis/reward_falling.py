"""``reward_falling``: the reward fell, clearly."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding, Severity
from rlchecks.diagnosis.patterns import reward_down, what_shows_the_trend

CODE = "reward_falling"


def detect(context: Context) -> list[Finding]:
    """Find a reward that fell by an amount that matters and clearly below noise."""
    if not reward_down(context):
        return []
    return [
        context.finding(
            CODE,
            _severity(context),
            title=f"Reward fell from {context.show('reward_start')} to {context.show('reward_end')}.",
            meaning="The model scores worse with its own training grader, or later prompts are harder.",
            advice="Compare early and late prompts; lower the learning rate; go back to an earlier checkpoint.",
            evidence=("reward_start", "reward_end", "reward_gain", what_shows_the_trend(context)),
            onset_step=context.step("reward_fall_step"),
        )
    ]


def _severity(context: Context) -> Severity:
    parameters = context.parameters
    large = context.at_most("reward_gain_fraction", -parameters.limit(CODE, "large"))
    sure = context.at_most("reward_trend_p", parameters.limit(CODE, "large_max_p"))
    return parameters.severity(CODE, "severity_when_large" if large and sure else "severity")
