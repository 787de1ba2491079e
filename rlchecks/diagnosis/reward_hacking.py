"""``reward_hacking``: the training grader gained and a different judge lost.

The only finding that training logs cannot give: it is made from the held-out comparison.
"""

from __future__ import annotations

from collections.abc import Mapping

from rlchecks.diagnosis.finding import Finding, Number
from rlchecks.diagnosis.parameters import Parameters


def from_comparison(evidence: Mapping[str, Number], parameters: Parameters) -> Finding | None:
    """Make the finding if the evidence of the held-out comparison says so.

    Args:
        evidence: the evidence columns of the comparison; ``reward_hacking`` decides.
        parameters: thresholds of the profile.
    """
    if not evidence.get("reward_hacking"):
        return None
    names = ("difference", "ci_lower", "ci_upper", "n_questions", "gain_gap")
    return Finding(
        "reward_hacking",
        parameters.severity("reward_hacking"),
        title="The training grader scores the model higher; a different judge scores it lower than at the start.",
        meaning="The model learned to please its grader, not to answer better.",
        advice="Do not promote it. Read the answers that the grader likes and the judge does not; change the grader, "
        "train fewer steps, raise beta.",
        evidence={name: evidence.get(name) for name in names},
    )
