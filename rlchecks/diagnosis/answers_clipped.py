"""``answers_clipped``: many answers are cut off at the length limit."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding, Severity
from rlchecks.diagnosis.patterns import enough_for_levels

SIGNAL = "clipped_ratio_late"


def detect(context: Context) -> list[Finding]:
    """Find a late clipped ratio above the suite's warning limit; above its hold limit it is critical."""
    parameters = context.parameters
    share = context.number(SIGNAL)
    if not enough_for_levels(context) or share is None or share < parameters.warn_above[SIGNAL]:
        return []
    severity = parameters.severity("answers_clipped")
    if share >= parameters.hold_above[SIGNAL]:
        severity = Severity.CRITICAL
    return [
        context.finding(
            "answers_clipped",
            severity,
            title=f"{share:.0%} of the late answers are cut off at the length limit.",
            meaning="A cut answer is usually incomplete and scores badly: it wastes the step and pushes the model to "
            "brevity for the wrong reason.",
            advice="Raise the length limit, or ask for shorter answers in the system prompt. If the longest answer is "
            "below the limit, the tokenizer's stop token is not the one that ends the answers.",
            evidence=("clipped_ratio_start", SIGNAL, "clipped_ratio_peak", "length_end"),
            onset_step=context.step("clipped_ratio_onset_step"),
        )
    ]
