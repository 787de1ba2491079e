"""``kl_without_gain``: the policy keeps moving away from the starting model, and no longer for the better."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding
from rlchecks.diagnosis.patterns import ONE_SIDED, reward_up

CODE = "kl_without_gain"


def detect(context: Context) -> list[Finding]:
    """Find KL that climbs over the second half while the reward no longer improves there.

    A reward that merely cannot be shown to rise is not enough: its rows must show that it rose by little at most, in
    itself and for the KL that it cost, so that noise does not turn a run that still learns into one that drifts.
    """
    parameters = context.parameters
    # A climb that bends leaves residuals about a line that are no noise; its ordering shows it.
    clear = context.at_most("kl_late_p", parameters.limit(CODE, "max_p")) or context.at_least(
        "kl_late_ordering", parameters.limit(CODE, "ordering")
    )
    climbing = (
        clear
        and context.at_least("kl_late_trend", parameters.limit(CODE, "min_rise_nats"))
        and context.at_least("kl_late_rise", parameters.limit(CODE, "min_rise"))
    )
    late, error = context.number("reward_late_fraction"), context.number("reward_late_error")
    enough = context.at_least("n_reward_rows", parameters.limit(CODE, "rows"))
    if not (enough and climbing) or late is None or error is None:
        return []
    climb = context.number("kl_late_trend") or 0.0
    little = min(parameters.limit(CODE, "largest_gain"), parameters.limit(CODE, "largest_gain_per_nat") * climb)
    if late >= parameters.limit("reward", "min_gain") or late + ONE_SIDED * error > little:
        return []
    flat = not reward_up(context)
    return [
        context.finding(
            CODE,
            parameters.severity(CODE),
            title=f"KL climbs to {context.show('kl_end')} nats while the reward no longer improves.",
            meaning="The model still changes, no longer for the better: drift without gain.",
            advice="Stop earlier or raise beta; compare the checkpoint where the reward stopped rising.",
            evidence=(
                "kl_start",
                "kl_end",
                "kl_late_trend",
                "kl_late_ordering",
                "reward_late_fraction",
                "reward_late_error",
            ),
            onset_step=None if flat else context.step("kl_knee_step"),
        )
    ]
