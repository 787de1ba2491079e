"""Who scored: a judge or a training grader, with range, direction, role, and what it is."""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlchecks.errors import UsageError
from rlchecks.heldout.families import families

KINDS = ("rule", "model", "human")
"""What a scorer can be: code, a language or reward model, people."""

_FORMS = (
    "NAME, NAME:0..10, NAME:0..1:lower or NAME::advisory, also with kind=rule|model|human, model=NAME, family=NAME or "
    "prompt=SHA256|@FILE after colons (what holds a colon itself in double quotes)"
)
_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})")
_SHA256 = re.compile(r"[0-9a-f]{64}")
# The rest of a name after a colon. A plain word may be a mistyped direction, and a grader whose name is mistaken would
# pass for another: so it begins with a letter, holds a digit or a sign, begins like none of the words and sets nothing.
_NAME_ON = re.compile(r"(?!low|high|adv|dec)(?!.*\.\.|.*=)[a-z](?=.*[-_\d/@.]).*", re.IGNORECASE)
_DIRECTIONS = {"higher": True, "lower": False}
_ROLES = {"decisive": True, "advisory": False}


@dataclass(frozen=True)
class Scorer:
    """A judge or a training grader.

    Attributes:
        name: its name in the held-out rows or in the training log.
        low: smallest possible score, None where not declared.
        high: largest possible score, None where not declared.
        higher_is_better: whether a higher score is the better one.
        decisive: whether it decides (True) or only guards (False, advisory).
        kind: one of :data:`KINDS`, None where not declared; ``model`` where a model or a family is.
        model: the model that scores, None where not declared.
        family: its family, None where not declared.
        prompt: SHA-256 of its prompt, rubric or code, 64 hexadecimal digits; None where not declared.
    """

    name: str
    low: float | None = None
    high: float | None = None
    higher_is_better: bool = True
    decisive: bool = True
    kind: str | None = None
    model: str | None = None
    family: str | None = None
    prompt: str | None = None

    def __post_init__(self) -> None:
        """Refuse a name, a range or an identity that means nothing.

        Raises:
            UsageError: the name is empty, the range is half declared, not finite or not ascending, or what is said of
                kind, model and family cannot all be true.
        """
        if not self.name.strip():
            raise UsageError(f"A judge or grader needs a name: {_FORMS}.")
        if (self.low is None) != (self.high is None):
            raise UsageError(f"The range of {self.name!r} needs both ends, as in NAME:0..10.")
        if self.low is not None and self.high is not None:
            if not (math.isfinite(self.low) and math.isfinite(self.high)):
                raise UsageError(f"The range of {self.name!r} must be finite, as in NAME:0..10.")
            if not self.low < self.high:
                raise UsageError(f"The range of {self.name!r} must ascend, got {self.low:g}..{self.high:g}.")

        if (self.model or self.family) and self.kind is None:
            object.__setattr__(self, "kind", "model")
        if (self.model or self.family) and self.kind != "model":
            raise UsageError(f"{self.name!r} is declared as kind={self.kind} and with a model; it is one or the other.")
        known = families(self.model or "")
        if self.family and known and not set(families(self.family) or (self.family.casefold(),)) & set(known):
            raise UsageError(
                f"{self.name!r} is declared with family={self.family}, and {self.model} is of the family {known[0]}."
            )

    @property
    def identified(self) -> bool:
        """Whether more than the name is declared of what it is."""
        return bool(self.kind or self.prompt)


def parse_scorer(text: str) -> Scorer:
    """A scorer from its declaration ``NAME[:LOW..HIGH][:lower|higher|advisory|decisive][:KEY=VALUE]...``.

    The keys are ``kind`` (``rule``, ``model``, ``human``), ``model``, ``family`` and ``prompt``: the SHA-256 of prompt,
    rubric or code, or ``@FILE``, which is read and hashed. A name or a value may hold colons: within double quotes, as
    in ``"openai:chat":0..10``; a name also where what follows the colon can be nothing but a name, as in
    ``openai:gpt-4``.

    Args:
        text: such as ``accuracy``, ``helpfulness:0..10``, ``toxicity:0..1:lower``, ``tone::advisory`` or
            ``helpfulness:0..10:model=openai/gpt-5:prompt=@rubric.md``.

    Raises:
        UsageError: there is no name, a suffix is none of these forms, doubled or contradictory, or the file of a prompt
            cannot be read.
    """
    name, *suffixes = _split(text)
    if len(name.strip()) > 1 and name.strip()[0] == name.strip()[-1] == '"':
        return _declared(text, name.strip()[1:-1], suffixes)
    while suffixes and name.strip() and _NAME_ON.fullmatch(suffixes[0]):
        name = f"{name}:{suffixes.pop(0)}"
    return _declared(text, name, suffixes)


def _split(text: str) -> list[str]:
    """The text at its colons outside double quotes."""
    outside = text.split('"')
    if len(outside) % 2 == 0:  # a quotation mark that is not closed is a sign like any other
        return text.split(":")
    parts = [""]
    for place, piece in enumerate(outside):
        if place % 2:
            parts[-1] += f'"{piece}"'
        else:
            first, *rest = piece.split(":")
            parts[-1] += first
            parts += rest
    return parts


def _declared(text: str, name: str, suffixes: list[str]) -> Scorer:
    low = high = None
    words: dict[str, Any] = {}
    for position, suffix in enumerate(suffixes):
        found = _RANGE.fullmatch(suffix.strip())
        word = suffix.strip().lower()
        key, is_set, value = (part.strip() for part in suffix.partition("="))
        if position == 0 and (found or (not word and len(suffixes) > 1)):
            if found:
                low, high = float(found[1]), float(found[2])
        elif word in _DIRECTIONS and "higher_is_better" not in words:
            words["higher_is_better"] = _DIRECTIONS[word]
        elif word in _ROLES and "decisive" not in words:
            words["decisive"] = _ROLES[word]
        elif is_set and key.lower() in _VALUES and key.lower() not in words:
            words[key.lower()] = _VALUES[key.lower()](name.strip(), value.replace('"', "").strip())
        else:
            raise UsageError(f"{suffix!r} in {text!r} is not understood; a judge or grader is declared as {_FORMS}.")
    return Scorer(name.strip(), low, high, **words)


def _kind(name: str, value: str) -> str:
    if value.lower() not in KINDS:
        raise UsageError(f"The kind of {name!r} is one of {', '.join(KINDS)}, got {value!r}.")
    return value.lower()


def _named(name: str, value: str) -> str:
    if not any(sign.isalnum() for sign in value):
        raise UsageError(f"The model or family of {name!r} needs a name, as in model=openai/gpt-5; got {value!r}.")
    return value


def _prompt(name: str, value: str) -> str:
    if value.startswith("@"):
        try:
            return hashlib.sha256(Path(value[1:]).read_bytes()).hexdigest()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise UsageError(f"The prompt of {name!r} cannot be read from {value[1:]!r}: {reason}.") from None
    if not _SHA256.fullmatch(value.lower()):
        raise UsageError(
            f"The prompt of {name!r} is a SHA-256 of 64 hexadecimal digits, or @FILE to have a file hashed; "
            f"got {value!r}."
        )
    return value.lower()


_VALUES = {"kind": _kind, "model": _named, "family": _named, "prompt": _prompt}
