"""``reward_falling``: the reward fell, clearly."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding, Severity
from rlchecks.diagnosis.patterns import enough_for_trends, reward_down, what_shows_the_trend

CODE = "reward_falling"

_AS_IN = "sudden_reward"
"""A jump means the same in both findings, so its limits stand in one table."""


def detect(context: Context) -> list[Finding]:
    """Find a reward that fell by an amount that matters and clearly below noise.

    Over the whole run, at once to the floor, or over its second half: a reward that was gained before and lost again
    ends where it began, and says nothing by its early and late levels.
    """
    to_the_floor, down = _to_the_floor(context), reward_down(context)
    if _at_once(context) and (to_the_floor or not down):
        return [
            _finding(
                context,
                context.parameters.severity(CODE, "severity_when_large" if to_the_floor else "severity"),
                f"The reward fell by {-(context.number('fastest_fall') or 0.0):.0%} of its scale at step "
                f"{context.step('fastest_fall_step')}.",
                ("fastest_fall", "fastest_fall_level", "fastest_fall_share", "fastest_fall_score", "reward_end"),
                context.step("fastest_fall_step"),
            )
        ]
    if down:
        title = f"Reward fell from {context.show('reward_start')} to {context.show('reward_end')}."
        evidence = ("reward_start", "reward_end", "reward_gain", what_shows_the_trend(context))
        return [_finding(context, _severity(context), title, evidence, context.step("reward_fall_step"))]
    if _lately(context):
        lost = -(context.number("reward_late_fraction") or 0.0)
        return [
            _finding(
                context,
                context.parameters.severity(CODE),
                f"The reward fell by {lost:.0%} of its scale over the second half of the run.",
                ("reward_start", "reward_end", "reward_late_fraction", "reward_late_own_p"),
                None,
            )
        ]
    return []


def _finding(context: Context, severity: Severity, title: str, evidence: tuple[str, ...], onset: int | None) -> Finding:
    return context.finding(
        CODE,
        severity,
        title=title,
        meaning="The model scores worse with its own training grader, or later prompts are harder.",
        advice="Compare early and late prompts; lower the learning rate; go back to an earlier checkpoint.",
        evidence=evidence,
        onset_step=onset,
    )


def _at_once(context: Context) -> bool:
    """Whether the reward fell by much within a few per cent of the run: the reverse of a sudden reward."""
    parameters = context.parameters
    return (
        context.at_least("n_reward_rows", parameters.limit(_AS_IN, "rows"))
        and context.at_most("fastest_fall", -parameters.limit(_AS_IN, "rise"))
        and context.at_least("fastest_fall_share", parameters.limit(_AS_IN, "share"))
        and context.at_least("fastest_fall_score", parameters.limit(_AS_IN, "score"))
    )


def _to_the_floor(context: Context) -> bool:
    """Whether a jump down led to near the floor; harder prompts cost much, and rarely all.

    The floor of an inferred scale is known where it is 0; below that it is only the lowest reward that was seen.
    """
    known = context.signals.get("scale_basis") != "inferred" or context.number("scale_low") == 0.0
    return known and context.at_most("fastest_fall_level", context.parameters.limit(CODE, "floor"))


def _lately(context: Context) -> bool:
    """Whether the reward fell by much over its second half, evenly: a cycle has fallen, too, and comes back."""
    parameters = context.parameters
    return (
        enough_for_trends(context)
        and context.at_most("reward_late_fraction", -parameters.limit("reward", "step_gain"))
        and context.at_most("reward_late_own_p", parameters.limit(CODE, "large_max_p"))
    )


def _severity(context: Context) -> Severity:
    parameters = context.parameters
    large = context.at_most("reward_gain_fraction", -parameters.limit(CODE, "large"))
    sure = context.at_most("reward_trend_p", parameters.limit(CODE, "large_max_p"))
    return parameters.severity(CODE, "severity_when_large" if large and sure else "severity")
