"""Rule judges: an answer and the right ones to a score from 0 to 1, or None where the rule cannot tell."""

from __future__ import annotations

import importlib
import inspect
import math
import os
import sys
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from rlchecks.errors import UsageError
from rlchecks.evaluation.extract import LONGEST, letter_in, number_in
from rlchecks.evaluation.formulas import Formulas
from rlchecks.evaluation.specs import JudgeSpec
from rlchecks.heldout.names import shown

PATTERN_SECONDS = 1.0
"""That a search for the user's pattern may take."""

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Question(NamedTuple):
    """What a rule may know of a question besides the answer.

    Attributes:
        id: its id.
        prompt: what was asked.
        targets: right answers, of which one suffices.
        choices: the options of a multiple-choice question.
        metadata: category and cluster.
    """

    id: str
    prompt: str
    targets: Sequence[str]
    choices: Sequence[str]
    metadata: Mapping[str, Any]


class Unable(Exception):  # noqa: N818 - an outcome
    """A rule cannot judge an answer; ``str()`` says why."""


Rule = Callable[[str, Question], float]
"""Raises :class:`Unable` where there is no score."""


def rule_for(spec: JudgeSpec, formulas: Formulas) -> Rule:
    """The rule of a judge.

    Args:
        spec: the judge.
        formulas: compares formulas.

    Raises:
        UsageError: its argument cannot be used.
    """
    if spec.kind == "exact":
        return _exact
    if spec.kind == "numeric":
        return _numeric(spec)
    if spec.kind == "math":
        return _math(formulas)
    if spec.kind == "choice":
        return _choice
    if spec.kind == "regex":
        return _regex(spec)
    return _own(spec)[0]


def source_hash(spec: JudgeSpec) -> str:
    """SHA-256 of the source text of the module that holds the user's function: another text is another judge.

    Raises:
        UsageError: the function cannot be loaded.
    """
    import hashlib

    try:
        text = inspect.getsource(inspect.getmodule(_own(spec)[1]) or _own(spec)[1])
    except (OSError, TypeError):
        text = ""
    return hashlib.sha256(text.encode()).hexdigest()


def _exact(answer: str, question: Question) -> float:
    return float(_plain(answer) in map(_plain, question.targets))


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _numeric(spec: JudgeSpec) -> Rule:
    text = spec.argument or "0"
    with suppress(ValueError):
        tolerance = float(text.removesuffix("%"))
        relative = text.endswith("%")
        if math.isfinite(tolerance) and tolerance >= 0:
            return lambda answer, question: _near(
                answer, question, tolerance / 100 if relative else tolerance, relative
            )
    raise UsageError(f"--judge numeric:{shown(text)}: expected a tolerance such as 0.01, or 1% of the target.")


def _near(answer: str, question: Question, tolerance: float, relative: bool) -> float:
    found = number_in(answer)
    targets = [number_in(target) for target in question.targets]
    if None in targets:
        raise Unable("the target is no number")
    if found is None:
        return 0.0
    for target in targets:
        assert target is not None
        allowed = tolerance * abs(target) if relative else tolerance
        # Decimal fractions are not exact in binary: 0.3 is within 0.1 of 0.2.
        if abs(found - target) <= allowed + 1e-9 * max(1.0, abs(target)):
            return 1.0
    return 0.0


def _math(formulas: Formulas) -> Rule:
    def judged(answer: str, question: Question) -> float:
        try:
            found = formulas.same(answer[-LONGEST:], question.targets)
        except TimeoutError as error:
            raise Unable(f"the formulas could not be compared: {error}") from None
        except ValueError as error:
            raise Unable(f"the formulas could not be compared ({error})") from None
        if found is None:
            raise Unable("the target is no formula")
        return float(found)

    return judged


def _choice(answer: str, question: Question) -> float:
    right = {_right_letter(target, question.choices) for target in question.targets}
    if None in right:
        raise Unable("the target is neither a letter nor one of the choices")
    chosen = letter_in(answer)
    if chosen is None:
        texts = [
            letter for letter, text in zip(_LETTERS, question.choices, strict=False) if _plain(text) == _plain(answer)
        ]
        chosen = texts[0] if len(texts) == 1 else None
    return float(chosen in right)


def _right_letter(target: str, choices: Sequence[str]) -> str | None:
    for letter, text in zip(_LETTERS, choices, strict=False):
        if _plain(text) == _plain(target):
            return letter
    letter = target.strip().strip("().").upper()
    known = _LETTERS[: len(choices)] if choices else _LETTERS
    return letter if len(letter) == 1 and letter in known else None


def _regex(spec: JudgeSpec) -> Rule:
    import regex

    try:
        pattern = regex.compile(spec.argument or "")
    except regex.error as error:
        raise UsageError(f"--judge regex: the pattern is not valid ({error}).") from None

    def judged(answer: str, question: Question) -> float:
        try:
            found = pattern.search(answer[-LONGEST:], timeout=PATTERN_SECONDS)
        except TimeoutError:
            raise Unable(f"the pattern took more than {PATTERN_SECONDS:g} second on this answer") from None
        if found is None:
            return 0.0
        # A group picks out what is compared with the target; without one, to match is to be right.
        return float(_plain(found[1] or "") in map(_plain, question.targets)) if pattern.groups else 1.0

    return judged


def _own(spec: JudgeSpec) -> tuple[Rule, Callable[..., Any]]:
    place, _, name = (spec.argument or "").partition(":")
    here = os.getcwd()
    sys.path.insert(0, here)
    try:
        function = getattr(importlib.import_module(place), name)
    except Exception as error:
        raise UsageError(
            f"--judge python:{shown(spec.argument or '')}: expected MODULE:FUNCTION ({type(error).__name__}: {error})."
        ) from None
    finally:
        sys.path.remove(here)
    if not callable(function):
        raise UsageError(f"--judge python:{shown(spec.argument or '')}: that is no function.")

    def judged(answer: str, question: Question) -> float:
        try:
            found = function(answer, list(question.targets), question._asdict())
        except Exception as error:
            raise Unable(f"the function raised {type(error).__name__}") from None
        if isinstance(found, bool | int | float) and math.isfinite(found):
            return float(found)
        raise Unable("the function returned no number")

    return judged, function
