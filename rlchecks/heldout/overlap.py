"""Held-out questions that were training prompts too: they show memory, not ability."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlchecks.heldout.answers import Answers, codes_of


class Overlap(NamedTuple):
    """What the comparison of prompts found.

    Attributes:
        excluded: whether a question was a training prompt, by question code, shape (questions,).
        without_prompt: questions whose rows give no prompt.
    """

    excluded: NDArray[np.bool_]
    without_prompt: int


def normalised(prompt: str) -> str:
    """A prompt without differences of case, white space and Unicode form."""
    return " ".join(unicodedata.normalize("NFKC", prompt).casefold().split())


def find_overlap(answers: Answers, training_prompts: Collection[str]) -> Overlap:
    """The questions with a prompt that equals a training prompt once both are normalised.

    A paraphrase is not found.

    Args:
        answers: the answers of both checkpoints.
        training_prompts: prompts seen in training.
    """
    trained = {normalised(prompt) for prompt in training_prompts}
    prompt, prompts = codes_of(answers.table["prompt"])
    question, names = codes_of(answers.table["question_id"])
    seen = np.array([text is not None and normalised(text) in trained for text in prompts], dtype=bool)
    given = np.array([text is not None for text in prompts], dtype=bool)
    excluded = np.bincount(question, weights=seen[prompt], minlength=len(names)) > 0
    with_prompt = np.bincount(question, weights=given[prompt], minlength=len(names)) > 0
    return Overlap(excluded, int((~with_prompt).sum()))
