"""``length_collapse``: answers shrink to a small part with no real gain."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding
from rlchecks.diagnosis.patterns import enough_for_trends, reward_up, starved

CODE = "length_collapse"


def detect(context: Context) -> list[Finding]:
    """Find answers that vanish. A little reward gained on the way does not excuse it: silence avoids penalties."""
    parameters = context.parameters
    order = context.number("length_ordering")
    shrunk = context.at_most("length_growth", parameters.limit(CODE, "growth"))
    if not (enough_for_trends(context) and shrunk and order is not None):
        return []
    vanished = context.at_most("length_growth", parameters.limit(CODE, "vanished_growth")) or context.at_most(
        "length_end", parameters.limit(CODE, "vanished_length")
    )
    empty_gain = not reward_up(context) or starved(context)
    if 1 - order < parameters.limit(CODE, "ordering") or not (empty_gain or vanished):
        return []
    return [
        context.finding(
            CODE,
            parameters.severity(CODE),
            title=f"Answers collapsed from {context.show('length_start', '.1f')} to "
            f"{context.show('length_end', '.1f')} tokens.",
            meaning="The model avoids penalties by saying little.",
            advice="Read the late answers; look at the penalties of the grader; go back to an earlier checkpoint.",
            evidence=("length_start", "length_end", "length_growth", "length_ordering", "reward_gain"),
            onset_step=context.step("length_fall_step"),
        )
    ]
