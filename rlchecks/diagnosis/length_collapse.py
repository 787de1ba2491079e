"""``length_collapse``: answers shrink to a small part with no real gain."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding
from rlchecks.diagnosis.patterns import enough_for_trends, reward_up, starved

CODE = "length_collapse"


def detect(context: Context) -> list[Finding]:
    """Find answers that vanish. A little reward gained on the way does not excuse it: silence avoids penalties.

    What breaks in the last rows is still hidden in the late mean and in the order of the blocks; there it takes a
    length that is next to nothing.
    """
    parameters = context.parameters
    order, start, last = (context.number(f"length_{name}") for name in ("ordering", "start", "last"))
    if not enough_for_trends(context) or start is None:
        return []
    at_last = last is not None and last <= parameters.limit(CODE, "vanished_growth") * start
    vanished = context.at_most("length_growth", parameters.limit(CODE, "vanished_growth")) or context.at_most(
        "length_end", parameters.limit(CODE, "vanished_length")
    )
    empty_gain = not reward_up(context) or starved(context)
    shrunk = (
        context.at_most("length_growth", parameters.limit(CODE, "growth"))
        and order is not None
        and 1 - order >= parameters.limit(CODE, "ordering")
        and (empty_gain or vanished)
    )
    if not (shrunk or at_last):
        return []
    end = context.show("length_end" if shrunk else "length_last", ".1f")
    return [
        context.finding(
            CODE,
            parameters.severity(CODE),
            title=f"Answers collapsed from {context.show('length_start', '.1f')} to {end} tokens.",
            meaning="The model avoids penalties by saying little.",
            advice="Read the late answers; look at the penalties of the grader; go back to an earlier checkpoint.",
            evidence=("length_start", "length_end", "length_last", "length_growth", "length_ordering", "reward_gain"),
            onset_step=context.step("length_fall_step"),
        )
    ]
