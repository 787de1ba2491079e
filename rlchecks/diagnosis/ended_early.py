"""``ended_early``: the run has fewer steps than it was configured for."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding, Severity


def detect(context: Context) -> list[Finding]:
    """Find a run whose last step lies before the planned end."""
    done = context.number("completed_fraction")
    if done is None or done >= context.parameters.limit("ended_early", "completed"):
        return []
    last, planned = context.step("last_step"), context.step("planned_steps")
    return [
        context.finding(
            "ended_early",
            Severity.INFORMATION,
            title=f"The run ended at step {last} of {planned} planned steps.",
            meaning="It was stopped, it crashed, or it still goes on.",
            advice="Find out why before its last checkpoint is used.",
            evidence=("completed_fraction", "planned_steps", "last_step"),
        )
    ]
