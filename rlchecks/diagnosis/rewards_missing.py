"""``rewards_missing``: rewards stop, or are missing for long, while the answers go on."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding

CODE = "rewards_missing"
SIGNAL = "missing_reward_fraction"


def detect(context: Context) -> list[Finding]:
    """Find a long stretch of steps without a reward, or a share of them above the suite's warning limit.

    Rewards that are logged every few steps are not missing between them. NaN and infinity are ``non_finite``; a run
    without any reward is ``too_short``.
    """
    parameters = context.parameters
    share, rows = context.number(SIGNAL), context.number("expected_reward_rows")
    stretch = context.number("missing_reward_stretch")
    if not share or not rows or not stretch or not context.number("n_reward_rows"):
        return []
    long = stretch >= parameters.limit(CODE, "rows") and stretch >= parameters.limit(CODE, "stretch") * rows
    scattered = share > parameters.warn_above[SIGNAL] and share * rows >= parameters.limit(CODE, "rows")
    if context.signals.get("non_finite_lasts") or not (long or scattered):
        return []
    first, last = context.step("missing_reward_first_step"), context.step("missing_reward_last_step")
    to_the_end = last == context.step("last_step")
    where = f"steps {first} to {last}" + (", the end of the run" if to_the_end else "")
    lost = round(share * rows)
    title = f"{lost} of {rows:.0f} rows that should have a reward have none"
    title += f": {where}." if lost == stretch else f", {stretch:.0f} of them in a row: {where}."
    return [
        context.finding(
            CODE,
            parameters.severity(CODE),
            title=title,
            meaning="The model went on training, and nothing is known of its reward there: level and trend describe "
            "the other rows only.",
            advice="Look at why the grader returned nothing, or why it was not logged: time-outs, errors, answers it "
            "cannot parse. Use no checkpoint from steps without a reward.",
            evidence=("missing_reward_stretch", "missing_reward_first_step", "missing_reward_last_step", SIGNAL),
            onset_step=first,
        )
    ]
