"""One column of the evidence table, and how its numbers are worded."""

from __future__ import annotations

from typing import NamedTuple

from rlchecks.heldout.names import label
from rlchecks.heldout.parts import Part


class Entry(NamedTuple):
    """One evidence column.

    Attributes:
        value: its value, None if undefined.
        observed: one plain sentence with the numbers.
        advice: what to do about it, where the suite cannot know that; else empty.
    """

    value: bool | int | float | None
    observed: str
    advice: str = ""


def described(part: Part, level: float) -> str:
    """A part in a few words: judge, decoding, difference with its interval in the unit of the scores."""
    found = part.interval(level)
    name = label(part.scorer.name) + (f" ({label(part.decoding_name)})" if part.decoding_name is not None else "")
    if found.estimate is None:
        return f"{name}: {found.reason}"
    width = part.scale.width
    if found.lower is None or found.upper is None:
        return f"{name}: {signed(found.estimate * width)}, no interval ({found.reason})"
    return f"{name}: {signed(found.estimate * width)} [{signed(found.lower * width)}, {signed(found.upper * width)}]"


def signed(value: float | None) -> str:
    """A difference with sign and three decimals."""
    return "undefined" if value is None else f"{value:+.3f}"
