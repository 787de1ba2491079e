"""One question under several ids: it counts as several and is one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rlchecks.heldout.answers import Answers, Codes, codes_of
from rlchecks.heldout.prompts import whole


class Repeats(NamedTuple):
    """How many of the compared questions share their prompt with another.

    Attributes:
        repeated: questions whose prompt another one has too, unless one cluster holds them all.
        prompted: questions that give a prompt.
    """

    repeated: int
    prompted: int

    @property
    def fraction(self) -> float | None:
        """Share of the questions with a prompt; None without any."""
        return self.repeated / self.prompted if self.prompted else None


def find_repeats(answers: Answers, questions: Codes) -> Repeats:
    """The repeated prompts among some questions, once prompts are normalised.

    Args:
        answers: the answers of both checkpoints.
        questions: codes of the compared questions.
    """
    prompt, prompts = codes_of(answers.table["prompt"])
    question, names = codes_of(answers.table["question_id"])
    index: dict[str, int] = {"": 0}  # an empty prompt is none
    same = np.array([index.setdefault(whole(text or ""), len(index)) for text in prompts], dtype=np.int64)
    given = same > 0
    counted = np.isin(question, questions) & given[prompt]
    if not counted.any():
        return Repeats(0, 0)
    # Of a question with several prompts, the first row's.
    asked, first = np.unique(question[counted], return_index=True)
    text = same[prompt[counted][first]]
    unit = np.arange(len(names)) if answers.clusters is None else answers.clusters
    pairs = np.unique(np.stack([text, unit[asked]]), axis=1)
    units = np.bincount(pairs[0], minlength=int(text.max()) + 1)
    return Repeats(int((units[text] > 1).sum()), len(asked))
