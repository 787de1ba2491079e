"""``too_short``: too few logged steps to tell anything about trends."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding, Severity
from rlchecks.diagnosis.patterns import enough_for_trends


def detect(context: Context) -> list[Finding]:
    """Find a run with fewer rows than a trend needs."""
    if enough_for_trends(context):
        return []
    rows, checks = context.number("n_reward_rows") or 0, context.step("validation_checks") or 0
    needed = context.parameters.hold_below["n_reward_rows"]
    logged = f"{rows:.0f} logged row{'' if rows == 1 else 's'}"
    title = f"Too short: {logged} with a reward, {needed:.0f} are needed for a trend."
    meaning, advice = "Nothing can be said about where the run was going.", "Train longer, or log more often."
    evidence: tuple[str, ...] = ("n_reward_rows", "n_rows", "missing_reward_fraction")
    if context.signals.get("non_finite_lasts"):
        title = f"Too short: {logged} before the breakdown, {needed:.0f} are needed for a trend."
        advice = "Find what broke first: more steps of a broken policy say nothing."
    elif not rows and checks:
        start, end = context.show("validation_start"), context.show("validation_end")
        title = f"No training reward is logged: {checks} validation checks, {start} to {end}, are all that is known."
        meaning = "What the checks show is said apart; whether the model learned its grader cannot be told."
        advice = "Export the training rewards together with the checks; confirm the result on held-out questions."
        evidence = ("n_reward_rows", "validation_checks", "validation_questions", "validation_gain", "validation_p")
    return [
        context.finding(
            "too_short",
            Severity.INFORMATION,
            title=title,
            meaning=meaning,
            advice=advice,
            evidence=evidence,
        )
    ]
