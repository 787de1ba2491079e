"""``length_with_reward``: answers grow longer as the reward rises."""

from __future__ import annotations

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding, Severity
from rlchecks.diagnosis.patterns import reward_up, trending

CODE = "length_with_reward"


def detect(context: Context) -> list[Finding]:
    """Find length and reward rising together: coupled block by block, or reward that comes after the growth began."""
    parameters = context.parameters
    grown = context.at_least("length_growth", parameters.limit(CODE, "growth"))
    together = context.at_least("length_reward_coupling", parameters.limit(CODE, "coupling")) or context.at_least(
        "reward_gain_after_length_onset", parameters.limit(CODE, "gain_after_onset")
    )
    if not (reward_up(context) and grown and trending(context, "length", CODE, up=True) and together):
        return []
    onset = context.step("length_onset_step")
    since = "" if onset is None else f" since step {onset}"
    return [
        context.finding(
            CODE,
            _severity(context),
            title=f"Length rises with reward{since}: {context.show('length_start', '.0f')} to "
            f"{context.show('length_end', '.0f')} tokens, reward {context.show('reward_start')} to "
            f"{context.show('reward_end')}.",
            meaning="The grader probably likes long answers. On hard reasoning tasks growth can be legitimate.",
            advice="Read the reinforced answers. Change or combine graders, or lower the length limit, then confirm "
            "with a judge that does not reward length.",
            evidence=(
                "length_start",
                "length_end",
                "length_growth",
                "length_reward_coupling",
                "reward_gain",
                "reward_gain_after_length_onset",
                "clipped_ratio_late",
            ),
            onset_step=onset,
        )
    ]


def _severity(context: Context) -> Severity:
    parameters = context.parameters
    if "severity_when_cut" in parameters.tables[CODE] and context.at_least(
        "clipped_ratio_late", parameters.limit(CODE, "cut")
    ):
        return parameters.severity(CODE, "severity_when_cut")
    return parameters.severity(CODE)
