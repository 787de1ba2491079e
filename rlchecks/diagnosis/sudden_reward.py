"""``sudden_reward``: the reward jumps to a high level within a few per cent of the run."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding

CODE = "sudden_reward"


def detect(context: Context) -> list[Finding]:
    """Find a jump that is large on the scale, leads to a high level, and is most of all that the reward ever moved."""
    parameters = context.parameters
    inferred = context.signals.get("scale_basis") == "inferred"
    jumped = (
        context.at_least("fastest_rise", parameters.limit(CODE, "rise"))
        and context.at_least("fastest_rise_level", parameters.limit(CODE, "level_inferred" if inferred else "level"))
        and context.at_least("fastest_rise_share", parameters.limit(CODE, "share"))
        and context.at_least("fastest_rise_score", parameters.limit(CODE, "score"))
    )
    if not (jumped and context.at_least("n_reward_rows", parameters.limit(CODE, "rows"))):
        return []
    step = context.step("fastest_rise_step")
    return [
        context.finding(
            CODE,
            parameters.severity(CODE),
            title=f"The reward jumped by {context.show('fastest_rise', '.0%')} of its scale at step {step}.",
            meaning="Suspect until somebody has read the answers: the model may have found a hole in the grader.",
            advice="Read the top-scoring answers around that step first.",
            evidence=("fastest_rise", "fastest_rise_level", "fastest_rise_share", "fastest_rise_score"),
            onset_step=step,
        )
    ]
