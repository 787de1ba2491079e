"""``inconclusive``: nothing else holds."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding, Severity
from rlchecks.diagnosis.patterns import largest_change, off_its_scale, without_gradient


def detect(context: Context) -> list[Finding]:
    """Say that nothing was found, since a run without any finding would read as sound."""
    if context.found:
        return []
    advice = "Look at the charts; log more steps or more metrics."
    if off_its_scale(context):
        title = (
            f"The reward moved by {context.show('reward_gain_effect', '+.1f')} standard deviations of its answers' "
            f"scores, {context.show('reward_gain_fraction', '+.0%')} of a scale that is only guessed."
        )
        advice = "Declare the grader's range when the run is gated: rewards are taken to count from 0."
    else:
        largest = largest_change(context)
        title = "The signals say neither that the run learned nor what went wrong"
        hidden = "" if largest is None else f": the noise hides changes of the reward up to {largest:.0%} of its scale"
        title += f"{hidden}."
    return [
        context.finding(
            "inconclusive",
            Severity.INFORMATION,
            title=title,
            meaning="No pattern fits clearly." + without_gradient(context),
            advice=advice,
            evidence=("n_reward_rows", "reward_start", "reward_end", "reward_trend_fraction", "reward_trend_error"),
        )
    ]
