"""Which decoding decides: the one that will be deployed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rlchecks.errors import UsageError
from rlchecks.heldout.answers import Answers, Side
from rlchecks.heldout.names import listed, shown

_GREEDY = "greedy"


def choose_decoding(answers: Answers, judges: Sequence[int], wanted: str | None, known: Sequence[str | None]) -> int:
    """Code of the primary decoding.

    The named one; else the one with most answers per question common to both sides, of equals greedy, then the
    first by name.

    Args:
        answers: the answers of both checkpoints.
        judges: codes of the judges whose rows count; with several, the one with the fewest answers.
        wanted: name given by the user, or None.
        known: decodings of all rows.

    Returns:
        The code, -1 if the compared checkpoints have no row at that decoding, or no decoding in common.

    Raises:
        UsageError: the named decoding is in no row; the sentence lists those that are.
    """
    if wanted is not None:
        if wanted not in known:
            names = listed(name for name in known if name is not None)
            raise UsageError(f"There is no decoding {shown(wanted)} in the held-out rows; they have {names}.")
        return answers.decodings.index(wanted) if wanted in answers.decodings else -1
    best, best_rank = -1, (0.0, False)
    for code, name in enumerate(answers.decodings):
        common = min((_common_answers(answers, judge, code) for judge in judges), default=0.0)
        rank = (common, name is not None and name.casefold() == _GREEDY)
        if common > 0.0 and rank > best_rank:
            best, best_rank = code, rank
    return best


def _common_answers(answers: Answers, judge: int, decoding: int) -> float:
    """Mean, over the questions of both sides, of the smaller number of answers."""

    def counts(side: Side) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
        chosen = (side.judge == judge) & (side.decoding == decoding)
        return np.bincount(side.question[chosen], minlength=len(answers.questions))

    smaller = np.minimum(counts(answers.baseline), counts(answers.candidate))
    common = smaller[smaller > 0]
    return float(common.mean()) if len(common) else 0.0
