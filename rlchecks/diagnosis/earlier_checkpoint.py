"""``earlier_checkpoint_as_good``: validation stopped improving long before the end."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding, Severity

CODE = "earlier_checkpoint_as_good"


def detect(context: Context) -> list[Finding]:
    """Find a rise of the checks that ended early, and whose end is shown: it cannot be the last check."""
    parameters = context.parameters
    stop, last = context.step("validation_stop_step"), context.step("last_step")
    latest = context.step("validation_stop_high")
    improved = context.at_least("validation_gain_fraction", parameters.limit(CODE, "min_gain"))
    enough = context.at_least("validation_checks", parameters.limit(CODE, "min_checks"))
    if stop is None or last is None or latest is None or not (improved and enough):
        return []
    if stop > parameters.limit(CODE, "before") * last or latest >= last:
        return []
    low = context.step("validation_stop_low")
    return [
        context.finding(
            CODE,
            Severity.INFORMATION,
            title=f"Validation stopped improving at step {stop} (between {low} and {latest}, at 95 %).",
            meaning="The steps after it added nothing that the checks can show.",
            advice=f"Consider the checkpoint nearest to step {stop}: less training, less drift.",
            evidence=("validation_stop_step", "validation_stop_low", "validation_stop_high", "validation_best"),
            onset_step=stop,
        )
    ]
