"""Patterns of logged keys, and where what fits them belongs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_BETWEEN_WORDS = re.compile(r"[\s_-]+")


class Target(NamedTuple):
    """Where the values of a key belong: a canonical metric, or a reward function; the lower rank wins."""

    name: str
    rank: int


class Pattern(NamedTuple):
    """A pattern of keys and where they belong; its group ``function`` or ``dataset`` completes the name."""

    keys: re.Pattern[str]
    name: str
    rank: int

    def target(self, key: str) -> Target | None:
        """Find where a key belongs; None if it does not fit."""
        found = self.keys.fullmatch(key)
        if found is None:
            return None
        parts = found.groupdict()
        return Target(self.name + (parts.get("function") or parts.get("dataset") or ""), self.rank)


def first(patterns: Iterable[Pattern], key: str) -> Target | None:
    """Find where a key belongs by the first pattern that it fits; None if it fits none."""
    return next((target for pattern in patterns if (target := pattern.target(key))), None)


def plain_spelling(key: str) -> str:
    """Write a key in lower case with underscores for what stands between its words: ``mean_reward``."""
    return _BETWEEN_WORDS.sub("_", key.strip().lower())


def other_spellings(keys: Iterable[str]) -> dict[str, str]:
    """Map keys that are spelled otherwise to their plain spelling; none of two that only their spelling tells apart."""
    spelled: dict[str, list[str]] = {}
    for key in keys:
        spelled.setdefault(plain_spelling(key), []).append(key)
    return {found[0]: plain for plain, found in spelled.items() if len(found) == 1 and found[0] != plain}
