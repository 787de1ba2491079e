"""Judgements of pairs as scores: the share of a win against a reference, which itself has one half.

A judge prefers the answer that it sees first (or second) often enough that both orders are asked. A win counts only if
it survives the swap; otherwise it is a tie (``show_result.py`` of lm-sys/FastChat counts so).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

Verdict = Literal["one", "other", "tie"] | None
"""Who won one game: ``one`` is the model that is not the reference; None: the judge gave no verdict."""

WIN, TIE, LOSS = 1.0, 0.5, 0.0
REFERENCE = TIE
"""Score of the reference against itself."""


def settled(first: Verdict, swapped: Verdict) -> float | None:
    """The score of a pair that was judged in both orders, None if one of the games has no verdict."""
    if first is None or swapped is None:
        return None
    if first != swapped or first == "tie":
        return TIE
    return WIN if first == "one" else LOSS


def turned(games: Iterable[tuple[Verdict, Verdict]]) -> int:
    """How many pairs got another verdict when their order was swapped."""
    return sum(first is not None and swapped is not None and first != swapped for first, swapped in games)
