"""Who scored: a judge or a training grader, with range, direction and role."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from rlchecks.errors import UsageError

_FORMS = "NAME, NAME:0..10, NAME:0..1:lower or NAME::advisory (a NAME that holds a colon in double quotes)"
_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})")
_QUOTED = re.compile(r'\s*"([^"]*)"\s*((?::[^:]*)*)')
# The rest of a name after a colon. A plain word may be a mistyped direction, and a grader whose name is mistaken would
# pass for another: so it begins with a letter, holds a digit or a sign, and begins like none of the words.
_NAME_ON = re.compile(r"(?!low|high|adv|dec)(?!.*\.\.)[a-z](?=.*[-_\d/@.]).*", re.IGNORECASE)
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
    """

    name: str
    low: float | None = None
    high: float | None = None
    higher_is_better: bool = True
    decisive: bool = True

    def __post_init__(self) -> None:
        """Refuse a name or a range that means nothing.

        Raises:
            UsageError: the name is empty, or the range is half declared, not finite or not ascending.
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


def parse_scorer(text: str) -> Scorer:
    """A scorer from its declaration ``NAME[:LOW..HIGH][:lower|higher|advisory|decisive]...``.

    A name may hold colons: within double quotes, as in ``"openai:chat":0..10``, or where what follows the colon can
    be nothing but a name, as in ``openai:gpt-4``.

    Args:
        text: such as ``accuracy``, ``helpfulness:0..10``, ``toxicity:0..1:lower`` or ``tone::advisory``.

    Raises:
        UsageError: there is no name, or a suffix is none of these forms, doubled or contradictory.
    """
    quoted = _QUOTED.fullmatch(text)
    if quoted:
        return _declared(text, quoted[1], quoted[2].split(":")[1:])
    name, *suffixes = text.split(":")
    while suffixes and name.strip() and _NAME_ON.fullmatch(suffixes[0]):
        name = f"{name}:{suffixes.pop(0)}"
    return _declared(text, name, suffixes)


def _declared(text: str, name: str, suffixes: list[str]) -> Scorer:
    low = high = None
    words: dict[str, bool] = {}
    for position, suffix in enumerate(suffixes):
        found = _RANGE.fullmatch(suffix.strip())
        word = suffix.strip().lower()
        if position == 0 and (found or (not word and len(suffixes) > 1)):
            if found:
                low, high = float(found[1]), float(found[2])
        elif word in _DIRECTIONS and "higher_is_better" not in words:
            words["higher_is_better"] = _DIRECTIONS[word]
        elif word in _ROLES and "decisive" not in words:
            words["decisive"] = _ROLES[word]
        else:
            raise UsageError(f"{suffix!r} in {text!r} is not understood; a judge or grader is declared as {_FORMS}.")
    return Scorer(name.strip(), low, high, **words)
