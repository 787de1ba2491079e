"""The plan of ``rlchecks plan``: how many held-out questions a decision needs."""

from __future__ import annotations

from typing import Any

from rlchecks.errors import UsageError
from rlchecks.heldout import ComparisonRequest, compare, differing_share_upper, questions_needed, read_rows

SHARES = (0.05, 0.1, 0.2, 0.3)
"""Shares of differing questions for which a plan without a pilot is made."""


def plan(margin: float, gain: float, pilot: tuple[str, ...], request: ComparisonRequest) -> dict[str, Any]:
    """Plan the size of a held-out evaluation.

    Args:
        margin: loss that shall be excluded, 0 to below 1.
        gain: gain that is expected, 0 to below 1; with a margin of 0 it is what shall be confirmed.
        pilot: held-out results of a pilot, baseline and candidate.
        request: which checkpoints, judge and decoding to look at in the pilot.

    Returns:
        ``margin``, ``gain``, ``plans`` (``differing_share``, ``questions``) and ``lines``, the same in words.

    Raises:
        UsageError: margin or gain is out of range, or both are 0.
    """
    if not (0 <= margin < 1 and 0 <= gain < 1 and margin + gain > 0):
        raise UsageError(
            "--margin (the loss to be excluded) and --gain (the gain that is expected) lie between 0 and 1, and one of "
            "them above 0, such as --margin 0.02."
        )
    shares = [(share, f"if {share:.0%} of the questions differ") for share in SHARES]
    if pilot:
        document = compare(read_rows(pilot), request).document
        flips, n = document["flips"], document["n_questions"]
        if flips is None:
            raise UsageError("The pilot has no judge that decides; name one with --judge.")
        share = differing_share_upper(flips["improved"] + flips["worsened"], n)
        shares = [(share, f"at most {share:.0%} differ by the pilot's {n} questions")]
    needed = [(questions_needed(margin + gain, share), share, words) for share, words in shares]
    return {
        "margin": margin,
        "gain": gain,
        "plans": [{"differing_share": share, "questions": questions} for questions, share, _ in needed],
        "lines": [
            f"To {_aim(margin, gain)} with 95 % confidence and 80 % power:",
            *(f"  {'no number of' if n is None else f'{n:,}':>12} questions {words}" for n, _, words in needed),
        ],
    }


def _aim(margin: float, gain: float) -> str:
    if not gain:
        return f"exclude a loss of {margin:g}, when there is none,"
    return f"confirm a gain of {gain:g}" if not margin else f"exclude a loss of {margin:g}, when {gain:g} is gained,"
