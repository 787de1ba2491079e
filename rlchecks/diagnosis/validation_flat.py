"""``validation_flat``: the training reward rises, the validation checks do not."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding, Severity
from rlchecks.diagnosis.patterns import reward_up

CODE = "validation_flat"


def detect(context: Context) -> list[Finding]:
    """Find checks that stand still, with room to rise, while the training reward rises.

    Their noise must leave no room for half of the training gain: few or small checks that show nothing say nothing.
    """
    parameters = context.parameters
    gain, trained = context.number("validation_gain_fraction"), context.number("reward_gain_fraction")
    if gain is None or trained is None or not reward_up(context):
        return []
    rising = gain > parameters.limit(CODE, "max_gain") and context.at_most(
        "validation_p", parameters.limit(CODE, "max_p")
    )
    inferred = context.signals.get("scale_basis") == "inferred"
    highest = parameters.limit(CODE, "max_start_inferred" if inferred else "max_start")
    flat = (
        context.at_least("validation_checks", parameters.limit(CODE, "min_checks"))
        and context.at_most("validation_position_start", highest)
        and gain <= parameters.limit(CODE, "training_ratio") * trained
        and context.at_most("validation_gain_high", parameters.limit(CODE, "largest_ratio") * trained)
        and not rising
    )
    if not flat:
        return []
    severity = parameters.severity(CODE)
    questions = context.number("validation_questions")
    if questions is not None and questions < parameters.limit(CODE, "min_questions"):
        severity = Severity.INFORMATION
    return [
        context.finding(
            CODE,
            severity,
            title=f"The training reward rose by {context.show('reward_gain')}, validation by "
            f"{context.show('validation_gain')}.",
            meaning="What was learned does not carry over to questions outside the training prompts.",
            advice="Trust the validation more than the training reward; more varied prompts, or stop earlier.",
            evidence=(
                "reward_gain",
                "validation_start",
                "validation_end",
                "validation_gain",
                "validation_gain_high",
                "validation_checks",
                "validation_questions",
            ),
        )
    ]
