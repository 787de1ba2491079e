"""``validation_rising``: checks on questions that are never trained on rise from a low start."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding, Severity

CODE = "validation_rising"


def detect(context: Context) -> list[Finding]:
    """Find validation checks that start low and rise clearly; one dip does not matter."""
    parameters = context.parameters
    rising = (
        context.at_most("validation_position_start", parameters.limit(CODE, "max_start"))
        and context.at_least("validation_gain_fraction", parameters.limit(CODE, "min_gain"))
        and context.at_most("validation_p", parameters.limit(CODE, "max_p"))
    )
    if not rising:
        return []
    return [
        context.finding(
            CODE,
            Severity.INFORMATION,
            title=f"Validation rose from {context.show('validation_start')} to {context.show('validation_end')}.",
            meaning="The clearest sign of learning that transfers.",
            advice="Confirm it with a different judge.",
            evidence=("validation_start", "validation_end", "validation_gain", "validation_p", "validation_checks"),
        )
    ]
