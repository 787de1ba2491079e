"""``inconclusive``: nothing else holds."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding, Severity
from rlchecks.diagnosis.patterns import largest_change


def detect(context: Context) -> list[Finding]:
    """Say that nothing was found, since a run without any finding would read as sound."""
    if context.found:
        return []
    largest = largest_change(context)
    hidden = "." if largest is None else f": the noise hides changes of the reward up to {largest:.0%} of its scale."
    return [
        context.finding(
            "inconclusive",
            Severity.INFORMATION,
            title=f"The signals say neither that the run learned nor what went wrong{hidden}",
            meaning="No pattern fits clearly.",
            advice="Look at the charts; log more steps or more metrics.",
            evidence=("n_reward_rows", "reward_start", "reward_end", "reward_trend_fraction", "reward_trend_error"),
        )
    ]
