"""``non_finite``: NaN or infinity was logged outside the loss."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding


def detect(context: Context) -> list[Finding]:
    """Find rows with a literal NaN or infinity, or KL and entropy gone to the end. Scattered nulls are none."""
    rows = context.number("non_finite_rows")
    if not rows:
        return []
    lasts = bool(context.signals.get("non_finite_lasts"))
    first, last = context.step("non_finite_first_step"), context.step("non_finite_last_step")
    where = f"at step {first}" if first == last else f"in {rows:.0f} rows, steps {first} to {last}"
    metrics = context.signals.get("non_finite_metrics") or "kl, entropy (missing to the end)"
    return [
        context.finding(
            "non_finite",
            context.parameters.severity("non_finite", "severity_when_lasting" if lasts else "severity"),
            title=f"NaN or infinity in {metrics} {where}" + (", and to the end of the run." if lasts else "."),
            meaning="The policy or the grader broke." if lasts else "Something broke for a while and recovered.",
            advice="Do not use a checkpoint from after that step. Lower the learning rate, check the grader's output."
            if lasts
            else "Find what happened at those steps; those values are left out of every other figure.",
            evidence=("non_finite_rows", "non_finite_fraction", "non_finite_first_step", "non_finite_last_step"),
            onset_step=first,
        )
    ]
