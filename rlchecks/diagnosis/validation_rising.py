"""``validation_rising``: checks on questions that are never trained on rise from a low start."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding, Severity

CODE = "validation_rising"


def detect(context: Context) -> list[Finding]:
    """Find validation checks that start low and rise clearly; one dip does not matter.

    The rise is clear by a rank test over the checks, by their course if it ends early, or over the questions of a few
    checks.
    """
    parameters = context.parameters
    most = parameters.limit(CODE, "max_p")
    clear = [name for name in ("validation_p", "validation_gain_p") if context.at_most(name, most)]
    if (context.number("validation_rise_low") or 0) > 0:
        clear.append("validation_rise_low")
    rising = context.at_most("validation_position_start", parameters.limit(CODE, "max_start")) and context.at_least(
        "validation_gain_fraction", parameters.limit(CODE, "min_gain")
    )
    if not (rising and clear):
        return []
    return [
        context.finding(
            CODE,
            Severity.INFORMATION,
            title=f"Validation rose by {context.show('validation_gain')} from the first to the last third of its "
            "checks.",
            meaning="The clearest sign of learning that transfers.",
            advice="Confirm it with a different judge.",
            evidence=("validation_start", "validation_end", "validation_gain", clear[0], "validation_checks"),
        )
    ]
