"""``starved_floor``, ``starved_ceiling``, ``starved``: most prompts give no signal, so that nothing can be learned."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding
from rlchecks.diagnosis.patterns import at_ceiling, rose, starved

_EVIDENCE = ("zero_std_fraction_late", "zero_spread_late", "reward_end", "reward_position_end", "scale_basis")


def detect(context: Context) -> list[Finding]:
    """Find a run without a signal, and tell floor from ceiling: the advice is opposite."""
    if not starved(context):
        return []
    parameters = context.parameters
    share = context.number("zero_std_fraction_late")
    seen = "late batches score all the same" if share is None else f"{share:.0%} of the prompts give no signal"
    if context.at_most("reward_position_end", parameters.limit("starved", "floor")):
        return [
            context.finding(
                "starved_floor",
                parameters.severity("starved_floor"),
                title=f"Starved at the floor: {seen}, reward {context.show('reward_end')}.",
                meaning="All answers are equally bad, so that there is nothing to reinforce.",
                advice="Check that the grader works; start from a supervised run, a larger model or easier prompts.",
                evidence=_EVIDENCE,
            )
        ]
    if at_ceiling(context):
        if rose(context):
            return []  # it learned its way there: that is `saturated`
        return [
            context.finding(
                "starved_ceiling",
                parameters.severity("starved_ceiling"),
                title=f"Starved at the ceiling: {seen}, reward {context.show('reward_end')} from the start.",
                meaning="The prompts are too easy: all answers are equally good.",
                advice="Use harder prompts, or stop: there is little left to gain.",
                evidence=_EVIDENCE,
            )
        ]
    return [
        context.finding(
            "starved",
            parameters.severity("starved_between"),
            title=f"Starved: {seen}, reward {context.show('reward_end')}.",
            meaning="Within a prompt all answers score alike, though not at the floor or the ceiling of the scale.",
            advice="Does the grader tell answers apart? Declare its range; mix prompts of other difficulty.",
            evidence=_EVIDENCE,
        )
    ]
