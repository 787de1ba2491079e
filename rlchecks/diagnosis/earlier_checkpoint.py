"""``earlier_checkpoint_as_good``: an earlier checkpoint is as good as the last one, or better."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding, Severity

CODE = "earlier_checkpoint_as_good"

_EVIDENCE = ("validation_stop_step", "validation_stop_low", "validation_stop_high", "validation_checks")
_PEAK = ("validation_peak_kl", "validation_peak_kl_low", "validation_peak_kl_high")


def detect(context: Context) -> list[Finding]:
    """Find checks that fell clearly since their best, or that moved and have an early one hardly below the best.

    That nothing more can be seen to happen after it is not enough: the limits must leave no room for a rise that
    matters.
    """
    parameters = context.parameters
    if not context.at_least("validation_checks", parameters.limit(CODE, "min_checks")):
        return []
    if _moved(context, "fall"):
        return _worse(context)
    good, last = context.step("validation_as_good_step"), context.step("validation_last_step")
    if good is None or last is None or good > parameters.limit(CODE, "before") * last or not _moved(context, "rise"):
        return []
    below = context.show("validation_missing_high", ".1%")
    return [
        context.finding(
            CODE,
            Severity.INFORMATION,
            title=f"Step {good} is as good as any later one: at most {below} of the scale below the best, at 95 %.",
            meaning="On the validation questions the steps after it added nothing that matters.",
            advice=f"Consider the checkpoint nearest to step {good}; compare it with the last on held-out questions.",
            evidence=("validation_as_good_step", "validation_missing", "validation_missing_high", *_known(context)),
            onset_step=good,
        )
    ]


def from_checkpoints(document: Mapping[str, Any], candidate: str, baseline: str) -> Finding | None:
    """Make the finding of the checkpoints of the held-out rows, if one before the candidate is as good.

    Args:
        document: of :func:`rlchecks.heldout.checkpoint_curve.checkpoint_curve`.
        candidate: name of the candidate.
        baseline: name of the baseline; that it is as good is for the comparison to say.
    """
    rows = {row["checkpoint"]: row for row in document["rows"]}
    good, last = rows.get(document["as_good"]), rows.get(candidate)
    if good is None or last is None or good["checkpoint"] in (candidate, baseline) or good["step"] is None:
        return None
    if last["step"] is None or good["step"] >= last["step"]:
        return None
    worse = not last["may_be_best"]
    seen = f"on {good['n_questions']} held-out questions it is at most {0.0 - good['ci_lower']:.3f} below the best"
    return Finding(
        CODE,
        Severity.INFORMATION,
        title=f"{good['checkpoint'][:60]} is {'better than' if worse else 'as good as'} the candidate: {seen}.",
        meaning="The steps after it made the model worse." if worse else "The steps after it added nothing that shows.",
        advice="Gate that checkpoint instead: less training, less drift.",
        evidence={
            "n_questions": good["n_questions"],
            "mean": good["mean"],
            "candidate_mean": last["mean"],
            "ci_lower": good["ci_lower"],
            "confidence": document["confidence"],
        },
        onset_step=good["step"],
    )


def _worse(context: Context) -> list[Finding]:
    best = context.step("validation_top_step")
    lost, least = context.show("validation_fall", ".0%"), context.show("validation_fall_low", ".0%")
    return [
        context.finding(
            CODE,
            Severity.INFORMATION,
            title=f"Step {best} is better than the last: validation fell by {lost} of its scale since, "
            f"at least {least}.",
            meaning="The steps after it made the model worse on questions that it is not trained on.",
            advice=f"Take the checkpoint nearest to step {best}, or train less; read what the last one answers.",
            evidence=("validation_top_step", "validation_fall", "validation_fall_low", *_known(context)),
            onset_step=best,
        )
    ]


def _known(context: Context) -> tuple[str, ...]:
    """Signals that date the end of the rise, and the distance at which the score peaks, if that is shown."""
    peak = () if context.number("validation_peak_kl") is None else _PEAK
    return (*_EVIDENCE, *peak)


def _moved(context: Context, way: str) -> bool:
    """Whether the checks rose to their best, or fell from it, by an amount that matters and clearly above noise."""
    lower = context.number(f"validation_{way}_low")
    least = context.parameters.limit(CODE, "min_gain")
    return context.at_least(f"validation_{way}", least) and lower is not None and lower > 0
