"""Which decoding decides: the one that will be deployed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rlchecks.errors import UsageError
from rlchecks.heldout.answers import Answers, Side
from rlchecks.heldout.names import listed, shown

COVERED = 0.98
"""Share of the questions that a decoding has to cover: so many answers may be missing (``missing_fraction``)."""

_GREEDY = "greedy"


def choose_decoding(answers: Answers, judges: Sequence[int], wanted: str | None, known: Sequence[str | None]) -> int:
    """Code of the primary decoding.

    The named one; else, of those that cover the questions, the one with most answers per question common to both
    sides, of equals greedy, then the first by name. A decoding covers the questions if both sides answered at least
    :data:`COVERED` of the questions in it that they did in the one with most: a few greedy answers must not decide
    where all questions were sampled.

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
    common = {
        code: min((_common_answers(answers, judge, code) for judge in judges), default=(0, 0.0))
        for code in range(len(answers.decodings))
    }
    most = max((questions for questions, _ in common.values()), default=0)
    best, best_rank = -1, (0.0, False)
    for code, (questions, mean) in common.items():
        name = answers.decodings[code]
        rank = (mean, name is not None and name.casefold() == _GREEDY)
        if questions >= COVERED * most and rank > best_rank:
            best, best_rank = code, rank
    return best


def _common_answers(answers: Answers, judge: int, decoding: int) -> tuple[int, float]:
    """Questions of both sides, and the mean over them of the smaller number of answers."""

    def counts(side: Side) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
        chosen = (side.judge == judge) & (side.decoding == decoding)
        return np.bincount(side.question[chosen], minlength=len(answers.questions))

    smaller = np.minimum(counts(answers.baseline), counts(answers.candidate))
    common = smaller[smaller > 0]
    return len(common), float(common.mean()) if len(common) else 0.0
