"""A logged value as a score: what stands for "no score" is None and never zero."""

from __future__ import annotations

import math

UNSCORED = frozenset(
    {"", "-", "?", "error", "garbage", "missing", "n/a", "na", "nan", "none", "null", "unknown", "unscored"}
)
"""Texts, in lower case, that stand for "no score"."""

_LONGEST = 40  # characters of a number
_LARGEST = 1e100  # no score; sums of squares of larger ones overflow


def number(value: object) -> float | None:
    """A number from a number, a truth value or numeric text; None for whatever is no number of a sane size."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        text = value.strip()
        if len(text) > _LONGEST or "_" in text:  # float() accepts 1_000
            return None
        if text.lower() in ("true", "false"):
            return float(text.lower() == "true")
        value = text
    if not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if abs(found) <= _LARGEST else None


def unscored(value: object) -> bool:
    """Whether a value says on purpose that there is no score."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return True
    return isinstance(value, str) and value.strip().lower() in UNSCORED


def whole(value: object) -> int | None:
    """A whole number that fits into 64 bits, or None."""
    found = number(value) if not isinstance(value, bool) else None
    return int(found) if found is not None and found.is_integer() and abs(found) < 2**53 else None


def name(value: object) -> str | None:
    """An identifier from text or a whole number; None for anything else and for empty text."""
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, int) and not isinstance(value, bool):
        try:
            return str(value)
        except ValueError:  # thousands of digits
            return None
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return None


def decoding(temperature: object, *, sampled: object = None) -> str | None:
    """How answers were sampled, as the rows name it; None where the log does not tell.

    Args:
        temperature: the temperature.
        sampled: whether answers are sampled at all.
    """
    given = None if isinstance(temperature, bool) else number(temperature)
    if sampled is False or given == 0:
        return "greedy"
    return None if given is None else f"temperature {given:g}"
