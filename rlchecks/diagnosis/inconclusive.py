"""``inconclusive``: nothing else holds."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding, Severity


def detect(context: Context) -> list[Finding]:
    """Say that nothing was found, since a run without any finding would read as sound."""
    if context.found:
        return []
    return [
        context.finding(
            "inconclusive",
            Severity.INFORMATION,
            title="The signals say neither that the run learned nor what went wrong.",
            meaning="No pattern fits clearly.",
            advice="Look at the charts; log more steps or more metrics.",
            evidence=("n_reward_rows", "reward_start", "reward_end", "reward_trend_p"),
        )
    ]
