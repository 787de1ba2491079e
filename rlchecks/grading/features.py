"""Features of answers that a grader should not pay for by themselves: each a number for one answer to one prompt.

All are plain text statistics, so that they hold for any grader and cost nothing. Words are runs of letters and digits;
in scripts without spaces that makes whole phrases words, and the features by words say little there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_WORD = re.compile(r"\w+")
_HEDGE = re.compile(
    r"\b(maybe|perhaps|possibly|probably|might|may be|seems?|appears?|likely|i think|i believe|i guess|not sure"
    r"|it depends|generally|typically|in general|to some extent|arguably)\b",
    re.I,
)
_LIST_LINE = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+\S", re.M)
_MARKUP = re.compile(r"^#{1,6} |\*\*[^*\n]+\*\*|```|^\|.*\|$|\\boxed\{|<[a-z_]{1,20}>", re.M | re.I)
_GRAM = 4
_LONGEST = 50_000


@dataclass(frozen=True)
class Feature:
    """A feature of an answer.

    Attributes:
        name: key in documents.
        unit: what a step of ``step`` is called, for "the grader pays +0.11 for ...".
        step: size of the change that is reported, in the feature's own unit.
        of: computes it from prompt and answer.
    """

    name: str
    unit: str
    step: float
    of: Callable[[str, str], float]


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text[:_LONGEST])]


def _grams(words: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(words[at : at + _GRAM]) for at in range(len(words) - _GRAM + 1)]


def repeated_phrases(prompt: str, answer: str) -> float:
    """Share of the answer's four-word phrases that it used before; 0 for answers of fewer than four words.

    The complement of the distinct-n of Li et al. 2016 (NAACL, "A Diversity-Promoting Objective Function"), n = 4.
    """
    grams = _grams(_words(answer))
    return 1 - len(set(grams)) / len(grams) if grams else 0.0


def repeated_question(prompt: str, answer: str) -> float:
    """Share of the prompt's four-word phrases (of its words, if it has fewer than four) that the answer repeats."""
    asked, said = _words(prompt), _words(answer)
    wanted = set(_grams(asked)) or {(word,) for word in asked}
    given = set(_grams(said)) if len(asked) >= _GRAM else {(word,) for word in said}
    return len(wanted & given) / len(wanted) if wanted else 0.0


FEATURES: tuple[Feature, ...] = (
    Feature("length", "100 more characters", 100.0, lambda prompt, answer: float(len(answer))),
    Feature("repeated_question", "repeating the whole question", 1.0, repeated_question),
    Feature("repeated_phrases", "a tenth more repeated phrases", 0.1, repeated_phrases),
    Feature("hedges", "one more hedge", 1.0, lambda prompt, answer: float(len(_HEDGE.findall(answer[:_LONGEST])))),
    Feature("list_lines", "one more list line", 1.0, lambda prompt, answer: float(len(_LIST_LINE.findall(answer)))),
    Feature("markup", "one more piece of markup", 1.0, lambda prompt, answer: float(len(_MARKUP.findall(answer)))),
)
"""The features that are looked at, besides whether an answer was cut off, which only the log can tell."""
