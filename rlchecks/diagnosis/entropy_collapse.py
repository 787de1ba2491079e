"""``entropy_collapse``: the policy has become nearly deterministic while the reward rose."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding
from rlchecks.diagnosis.patterns import at_ceiling, enough_for_trends, reward_up

CODE = "entropy_collapse"


def detect(context: Context) -> list[Finding]:
    """Find entropy that fell to a small part of its start, and to little in itself, before the task was solved.

    At the ceiling nothing is left to explore, and a low entropy is what learning leads to. Where the ceiling is only
    inferred, prompts that still have a signal say that it has not been reached.
    """
    parameters = context.parameters
    order = context.number("entropy_ordering")
    fallen = (
        context.at_most("entropy_growth", parameters.limit(CODE, "growth"))
        and context.at_most("entropy_end", parameters.limit(CODE, "max_entropy"))
        and order is not None
        and 1 - order >= parameters.limit(CODE, "ordering")
    )
    share = context.number("zero_std_fraction_late")
    inferred = context.signals.get("scale_basis") == "inferred"
    unsolved = inferred and share is not None and share < parameters.limit(CODE, "solved")
    solved = at_ceiling(context) and not unsolved
    if not (enough_for_trends(context) and fallen and reward_up(context)) or solved:
        return []
    return [
        context.finding(
            CODE,
            parameters.severity(CODE),
            title=f"Entropy fell from {context.show('entropy_start')} to {context.show('entropy_end', '.3f')} nats "
            "while the reward rose.",
            meaning="The model answers nearly the same each time, so that there is little left to reinforce: what it "
            "has not found by now it will hardly find.",
            advice="Raise the sampling temperature, add an entropy bonus or a wider upper clip, or stop here.",
            evidence=("entropy_start", "entropy_end", "entropy_growth", "reward_gain", "reward_position_end"),
            onset_step=context.step("entropy_floor_step"),
        )
    ]
