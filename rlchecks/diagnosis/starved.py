"""``starved_floor``, ``starved_ceiling``, ``starved``: most prompts give no signal, so that nothing can be learned."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding
from rlchecks.diagnosis.patterns import at_ceiling, constant, rose, starved

_EVIDENCE = ("zero_std_fraction_late", "zero_spread_late", "reward_end", "reward_position_end", "scale_basis")


def detect(context: Context) -> list[Finding]:
    """Find a run without a signal, and tell floor from ceiling: the advice is opposite."""
    if not starved(context):
        return []
    if constant(context):
        return detect_constant(context)
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


def detect_constant(context: Context) -> list[Finding]:
    """Find a reward that is the same in every row. Where its scale is only guessed it has neither floor nor ceiling."""
    if not constant(context):
        return []
    parameters, code, severity = context.parameters, "starved", "starved_between"
    if context.signals.get("scale_basis") != "inferred":
        if context.at_most("reward_position_end", parameters.limit("starved", "floor")):
            code = severity = "starved_floor"
        elif at_ceiling(context):
            code = severity = "starved_ceiling"
    return [
        context.finding(
            code,
            parameters.severity(severity),
            title=f"The reward never changes: it is {context.show('reward_end', '.4g')} in all "
            f"{context.show('n_reward_rows', '.0f')} rows.",
            meaning="The grader always returns the same, or all answers score alike: there is nothing to learn from.",
            advice="Score a good and a bad answer by hand: a grader that tells them apart is not broken. Then change "
            "the prompts' difficulty, and log the spread of the scores.",
            evidence=("reward_constant", "n_reward_rows", "reward_end", "reward_position_end", "scale_basis"),
        )
    ]
