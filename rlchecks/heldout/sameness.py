"""Whether baseline and candidate are one and the same model."""

from __future__ import annotations

import numpy as np

from rlchecks.heldout.answers import Answers, codes_of
from rlchecks.heldout.checkpoints import Checkpoints
from rlchecks.heldout.request import ComparisonRequest


def same_model(answers: Answers, checkpoints: Checkpoints, request: ComparisonRequest) -> tuple[bool, str]:
    """Whether both sides are the same model, and the sentence that says how that is known.

    The same name is the same model, and so are the same files. Different files need not be different models, since a
    checkpoint holds more than its weights: where every row gives its answer, all answers being identical decides. Where
    a hash is unknown, so do the answers that are given, and where there are none, all scores being identical.

    Args:
        answers: the answers of both checkpoints.
        checkpoints: their names.
        request: their hashes, if known.
    """
    if checkpoints.baseline == checkpoints.candidate:
        return True, "Baseline and candidate are the same checkpoint."
    what, matching, common = "answers", *_identical_answers(answers)
    if request.baseline_hash and request.candidate_hash:
        if request.baseline_hash == request.candidate_hash:
            return True, "The files of baseline and candidate are identical."
        if common > 0 and matching == common and answers.table["answer"].null_count == 0:
            return True, f"The files of baseline and candidate differ, yet all {common} answers are identical."
        return False, "The files of baseline and candidate differ."
    if not common:
        what, matching, common = "scores", *_identical_scores(answers)
    same = common > 0 and matching == common
    return same, f"{matching} of {common} {what} of baseline and candidate are identical."


def _identical_answers(answers: Answers) -> tuple[int, int]:
    codes, texts = codes_of(answers.table["answer"])
    unknown = len(texts) - 1 if texts and texts[-1] is None else -1
    values = []
    for side in (answers.baseline, answers.candidate):
        given = side.take(codes[side.row] != unknown)
        # Every judge's row repeats the answer.
        key, first = np.unique(answers.places(given), return_index=True)
        values.append((key, codes[given.row][first]))
    return _matching(values[0], values[1])


def _identical_scores(answers: Answers) -> tuple[int, int]:
    judges = len(answers.judges)
    values = [
        (answers.places(side) * judges + side.judge, np.nan_to_num(side.score, nan=-np.inf))
        for side in (answers.baseline, answers.candidate)
    ]
    return _matching(values[0], values[1])


def _matching(
    one: tuple[np.ndarray[tuple[int, ...], np.dtype[np.int64]], np.ndarray[tuple[int, ...], np.dtype[np.generic]]],
    other: tuple[np.ndarray[tuple[int, ...], np.dtype[np.int64]], np.ndarray[tuple[int, ...], np.dtype[np.generic]]],
) -> tuple[int, int]:
    common, in_one, in_other = np.intersect1d(one[0], other[0], assume_unique=True, return_indices=True)
    return int((one[1][in_one] == other[1][in_other]).sum()), len(common)
