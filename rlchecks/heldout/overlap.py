"""Held-out questions that were training prompts too: they show memory, not ability."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlchecks.heldout.answers import Answers, codes_of
from rlchecks.heldout.copies import find_copies
from rlchecks.heldout.near_copies import find_near_copies


class Match(NamedTuple):
    """A question that occurs among the training prompts.

    Attributes:
        question: code of the question.
        kind: ``exact``, ``whole`` or ``13-gram`` (:class:`rlchecks.heldout.copies.Copy`), or ``near``
            (:func:`rlchecks.heldout.near_copies.find_near_copies`).
        prompt: the held-out prompt.
        training_prompt: one training prompt that it occurs in.
    """

    question: int
    kind: str
    prompt: str
    training_prompt: str


class Overlap(NamedTuple):
    """What the comparison of prompts found.

    Attributes:
        excluded: whether a question was a training prompt, by question code, shape (questions,).
        without_prompt: questions whose rows give no prompt.
        matches: one for every excluded question, by its code.
        training_prompts: different training prompts that were looked through.
    """

    excluded: NDArray[np.bool_]
    without_prompt: int
    matches: tuple[Match, ...] = ()
    training_prompts: int = 0


def find_overlap(answers: Answers, training_prompts: Collection[str], *, near: bool = False) -> Overlap:
    """The questions that occur among the training prompts.

    Args:
        answers: the answers of both checkpoints.
        training_prompts: prompts seen in training.
        near: whether to look for prompts with a few other words too, which needs ``datasketch``.

    Raises:
        UsageError: ``datasketch`` is needed and not installed.
    """
    training = sorted(set(training_prompts))
    prompt, prompts = codes_of(answers.table["prompt"])
    question, names = codes_of(answers.table["question_id"])
    texts = [text for text in prompts if text is not None]  # None, if there is any, is the last
    found = _found(tuple(texts), tuple(training), near)
    seen = np.zeros(len(prompts), dtype=bool)
    seen[list(found)] = True
    given = np.arange(len(prompts)) < len(texts)
    excluded = np.bincount(question, weights=seen[prompt], minlength=len(names)) > 0
    with_prompt = np.bincount(question, weights=given[prompt], minlength=len(names)) > 0
    pairs = np.stack([question, prompt])[:, seen[prompt]]
    _, first = np.unique(pairs[0], return_index=True)
    matches = tuple(
        Match(code, found[text][0], texts[text], training[found[text][1]]) for code, text in pairs[:, first].T.tolist()
    )
    return Overlap(excluded, int((~with_prompt).sum()), matches, len(training))


@lru_cache(maxsize=1)  # several candidates answered the same questions
def _found(texts: tuple[str, ...], training: tuple[str, ...], near: bool) -> dict[int, tuple[str, int]]:
    """Kind of the match and index of the training prompt by index of the held-out prompt."""
    found: dict[int, tuple[str, int]] = {
        copy.held_out: (copy.kind, copy.training) for copy in find_copies(texts, training)
    }
    if near:
        rest = [index for index in range(len(texts)) if index not in found]
        for index, place in find_near_copies([texts[index] for index in rest], training):
            found[rest[index]] = ("near", place)
    return found
