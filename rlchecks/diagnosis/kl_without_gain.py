"""``kl_without_gain``: the policy keeps moving away from the starting model, and no longer for the better."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding
from rlchecks.diagnosis.patterns import enough_for_trends, reward_up

CODE = "kl_without_gain"


def detect(context: Context) -> list[Finding]:
    """Find KL that climbs over the second half while the reward is flat, or stopped rising early in the run."""
    parameters = context.parameters
    climbing = (
        context.at_least("kl_end", parameters.limit(CODE, "min_kl"))
        and context.at_most("kl_late_p", parameters.limit(CODE, "max_p"))
        and context.at_least("kl_late_rise", parameters.limit(CODE, "min_rise"))
    )
    if not (enough_for_trends(context) and climbing):
        return []
    early_knee = (
        context.at_most("reward_knee", parameters.limit(CODE, "knee"))
        and context.at_least("kl_share_after_knee", parameters.limit(CODE, "share_after_knee"))
        and context.at_most("reward_gain_after_knee", parameters.limit("reward", "min_gain"))
    )
    flat = not reward_up(context)
    if not (flat or early_knee):
        return []
    return [
        context.finding(
            CODE,
            parameters.severity(CODE),
            title=f"KL climbs to {context.show('kl_end')} nats while the reward no longer improves.",
            meaning="The model still changes, no longer for the better: drift without gain.",
            advice="Stop earlier or raise beta; compare the checkpoint where the reward stopped rising.",
            evidence=("kl_start", "kl_end", "kl_late_trend", "kl_late_p", "reward_gain", "reward_knee"),
            onset_step=None if flat else context.step("kl_knee_step"),
        )
    ]
