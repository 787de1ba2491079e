"""What an answer comes to: its number, or the letter that it chooses."""

from __future__ import annotations

import math
import re

LONGEST = 100_000
"""Characters of an answer's end that rules look at: what counts stands there."""

_NUMBER = re.compile(r"[-+\u2212]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][-+]?\d{1,3})?%?|[-+\u2212]?\.\d+")
_LETTER_FORMS = tuple(
    re.compile(form)
    for form in (
        r"(?i:answer)\s*(?i:is)?\s*[:=]?\s*[*_`$]{0,3}\(?([A-Z])\)?(?![A-Za-z])",
        r"\\boxed\{\s*(?:\\text\{)?\s*\(?([A-Z])\)?\s*\}",
        r"\(([A-Z])\)",
    )
)
_ALONE = re.compile(r"\s*[*_`$(]{0,3}([A-Z])[*_`$).:]{0,3}(?:\s.*)?", re.DOTALL)


def number_in(text: str) -> float | None:
    """The last number of a text, None if there is none; percent as hundredths, thousands with commas."""
    found = None
    for found in _NUMBER.finditer(text[-LONGEST:]):  # noqa: B007 - the last one
        pass
    if found is None:
        return None
    written = found[0].replace(",", "").replace("\u2212", "-")
    value = float(written.rstrip("%")) / (100 if written.endswith("%") else 1)
    return value if math.isfinite(value) else None


def letter_in(text: str) -> str | None:
    """The letter that an answer chooses: the last one that is named as the answer, else one that stands alone."""
    for form in _LETTER_FORMS:
        found = form.findall(text[-LONGEST:])
        if found:
            return str(found[-1])
    lines = text.strip()[-LONGEST:].splitlines()
    alone = _ALONE.fullmatch(lines[-1]) if lines and len(lines[-1]) < 4 else None
    return alone[1] if alone else None
