"""Held-out questions that were training prompts too: they show memory, not ability."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlchecks.heldout.answers import Answers, codes_of
from rlchecks.heldout.prompts import forms


class Overlap(NamedTuple):
    """What the comparison of prompts found.

    Attributes:
        excluded: whether a question was a training prompt, by question code, shape (questions,).
        without_prompt: questions whose rows give no prompt.
    """

    excluded: NDArray[np.bool_]
    without_prompt: int


def find_overlap(answers: Answers, training_prompts: Collection[str]) -> Overlap:
    """The questions with a prompt that has a form in common with a training prompt.

    A paraphrase is not found.

    Args:
        answers: the answers of both checkpoints.
        training_prompts: prompts seen in training.
    """
    trained = frozenset[str]().union(*map(forms, training_prompts))
    prompt, prompts = codes_of(answers.table["prompt"])
    question, names = codes_of(answers.table["question_id"])
    seen = np.array([text is not None and not trained.isdisjoint(forms(text)) for text in prompts], dtype=bool)
    given = np.array([text is not None for text in prompts], dtype=bool)
    excluded = np.bincount(question, weights=seen[prompt], minlength=len(names)) > 0
    with_prompt = np.bincount(question, weights=given[prompt], minlength=len(names)) > 0
    return Overlap(excluded, int((~with_prompt).sum()))
