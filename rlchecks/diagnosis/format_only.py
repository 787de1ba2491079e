"""``format_only``: of several reward functions only the one that pays for the form of the answers rises."""

from __future__ import annotations

import re

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding
from rlchecks.diagnosis.patterns import reward_up

CODE = "format_only"


def detect(context: Context) -> list[Finding]:
    """Find a rise that one function brings, whose name says that it pays for the form, while the others stand still.

    A reward that is learned in its form first is common early in a run; it is the whole run that counts here.
    """
    parameters = context.parameters
    name = context.signals.get("top_function")
    gain, others = context.number("top_function_gain"), context.number("other_functions_best")
    if not isinstance(name, str) or gain is None or others is None or not reward_up(context):
        return []
    total = context.number("reward_gain_fraction") or gain
    ordered = context.at_least("other_functions_ordering", parameters.limit(CODE, "ordering"))
    still = others < parameters.limit(CODE, "others") or (
        others < parameters.limit(CODE, "others_share") * total and not ordered
    )
    alone = still and gain >= parameters.limit(CODE, "share") * total
    if not alone or not set(_parts(name)) & parameters.words(CODE):
        return []
    return [
        context.finding(
            CODE,
            parameters.severity(CODE),
            title=f"Only the form improves: {name[:60]} brings {gain:.0%} of the reward's scale, every other function "
            f"at most {others:.0%}.",
            meaning="The model learned to write as the grader wants it, not to answer better.",
            advice="Look at each function's chart. Pay less for the form, or only for right answers; train longer if "
            "the form is still being learned.",
            evidence=("reward_functions", "top_function", "top_function_gain", "other_functions_gain"),
        )
    ]


def _parts(name: str) -> list[str]:
    """Split a function's name into its words: ``strict_format_reward``, ``FormatReward``, ``xmlcount``."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name[:200])
    words = [word.lower() for word in re.findall(r"[A-Za-z]+", spaced)]
    return [*words, *(word[: -len("count")] for word in words if word.endswith("count"))]
