"""The plan of ``rlchecks plan``: how many held-out questions a margin needs."""

from __future__ import annotations

from typing import Any

from rlchecks.errors import UsageError
from rlchecks.heldout import (
    ComparisonRequest,
    compare,
    differing_share_upper,
    parse_scorer,
    questions_needed,
    read_rows,
)

SHARES = (0.05, 0.1, 0.2, 0.3)
"""Shares of differing questions for which a plan without a pilot is made."""


def plan(
    margin: float, pilot: tuple[str, ...] = (), judge: str | None = None, decoding: str | None = None
) -> dict[str, Any]:
    """Plan the size of a held-out evaluation.

    Args:
        margin: loss that shall be excluded when the truth is no difference, above 0 and below 1.
        pilot: held-out results of a pilot, baseline and candidate.
        judge: the judge to look at in the pilot.
        decoding: the decoding to look at in the pilot.

    Returns:
        ``margin``, ``plans`` (``differing_share`` to ``questions``) and ``lines``, the same in words.

    Raises:
        UsageError: the margin is out of range.
    """
    if not 0 < margin < 1:
        raise UsageError(f"--margin must lie between 0 and 1, such as 0.02; found {margin:g}.")
    if pilot:
        judges = () if judge is None else (parse_scorer(judge),)
        document = compare(read_rows(pilot), ComparisonRequest(judges=judges, decoding=decoding)).document
        flips = document["flips"]
        if flips is None:
            raise UsageError("The pilot has no judge that decides; name one with --judge.")
        share = differing_share_upper(flips["improved"] + flips["worsened"], document["n_questions"])
        source = f"at most {share:.0%} differ by the pilot's {document['n_questions']} questions"
        shares: tuple[tuple[float, str], ...] = ((share, source),)
    else:
        shares = tuple((share, f"if {share:.0%} of the questions differ") for share in SHARES)
    plans = [{"differing_share": share, "questions": questions_needed(margin, share)} for share, _ in shares]
    lines = [f"To exclude a loss of {margin:g} with 95 % confidence and 80 % power, when there is none:"]
    lines += [f"  {one['questions']:>7,} questions {words}" for one, (_, words) in zip(plans, shares, strict=True)]
    return {"margin": margin, "plans": plans, "lines": lines}
