"""``diverged``: the reward fell to the floor and the policy turned to noise or stopped moving."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding
from rlchecks.diagnosis.patterns import reward_down

CODE = "diverged"


def detect(context: Context) -> list[Finding]:
    """Find a reward that fell to the floor together with exploding entropy or gradients that are exactly zero."""
    parameters = context.parameters
    broken = context.at_least("entropy_growth", parameters.limit(CODE, "entropy_growth")) or context.at_least(
        "zero_gradient_late", parameters.limit(CODE, "zero_gradient")
    )
    at_floor = context.at_most("reward_position_end", parameters.limit("starved", "floor"))
    if not (reward_down(context) and at_floor and broken):
        return []
    return [
        context.finding(
            CODE,
            parameters.severity(CODE),
            title=f"The run diverged: reward {context.show('reward_start')} to {context.show('reward_end')}.",
            meaning="The policy has turned to noise, or no longer changes at all.",
            advice="Go back to a checkpoint from before the fall; lower the learning rate.",
            evidence=("reward_start", "reward_end", "entropy_start", "entropy_end", "zero_gradient_late"),
            onset_step=context.step("reward_fall_step"),
        )
    ]
