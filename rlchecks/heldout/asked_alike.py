"""Whether both sides were asked the same: one id with two prompts, or with two right answers, is two questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rlchecks.heldout.answers import Answers, Codes, codes_of
from rlchecks.heldout.prompts import forms, normalised


def asked_differently(answers: Answers) -> Codes:
    """Codes of the questions whose prompts, or targets, on the one side are all others than on the other, ascending.

    Prompts are the same if they have a form in common (:func:`rlchecks.heldout.prompts.forms`), targets if they are
    the same once normalised. Where a side gives none, nothing is known to differ.

    Args:
        answers: the answers of both checkpoints.
    """
    found = [_differing(answers, "prompt", forms), _differing(answers, "target", _target)]
    return np.unique(np.concatenate(found))


def _target(text: str) -> frozenset[str]:
    return frozenset({normalised(text)} - {""})


def _differing(answers: Answers, name: str, read: Callable[[str], frozenset[str]]) -> Codes:
    text, texts = codes_of(answers.table[name])
    given = np.array([bool(one) for one in texts], dtype=bool)
    width = max(len(texts), 1)
    before, after = (
        np.unique((side.question * width + text[side.row])[given[text[side.row]]])
        for side in (answers.baseline, answers.candidate)
    )
    # Most questions have a text in common, which need not be read.
    equal = np.intersect1d(before, after, assume_unique=True) // width
    rest = np.setdiff1d(np.intersect1d(before // width, after // width), equal)
    one, other = (_read(keys[np.isin(keys // width, rest)], width, texts, read) for keys in (before, after))
    return np.array([place for place in one if one[place] and other[place] and not one[place] & other[place]], np.int64)


def _read(
    keys: Codes, width: int, texts: Sequence[str | None], read: Callable[[str], frozenset[str]]
) -> dict[int, frozenset[str]]:
    """The forms of the texts of each question, by its code."""
    found: dict[int, frozenset[str]] = {}
    for key in keys.tolist():
        question, index = divmod(key, width)
        found[question] = found.get(question, frozenset()) | read(texts[index] or "")
    return found
