"""``earlier_checkpoint_as_good``: validation stopped improving long before the end."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding, Severity

CODE = "earlier_checkpoint_as_good"


def detect(context: Context) -> list[Finding]:
    """Find an early check that is, within the noise of one check, as good as the best one."""
    parameters = context.parameters
    stop, last = context.step("validation_stop_step"), context.step("last_step")
    improved = context.at_least("validation_gain_fraction", parameters.limit(CODE, "min_gain"))
    enough = context.at_least("validation_checks", parameters.limit(CODE, "min_checks"))
    if stop is None or last is None or not (improved and enough):
        return []
    if stop > parameters.limit(CODE, "before") * last:
        return []
    return [
        context.finding(
            CODE,
            Severity.INFORMATION,
            title=f"Validation at step {stop} is as good as the best, within the noise of one check.",
            meaning="The steps after it added nothing that the checks can show.",
            advice=f"Consider the checkpoint nearest to step {stop}: less training, less drift.",
            evidence=("validation_stop_step", "validation_best", "validation_best_step", "validation_noise"),
            onset_step=stop,
        )
    ]
