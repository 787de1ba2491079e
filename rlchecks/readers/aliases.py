"""Which key of which framework is which canonical metric: ``aliases.toml``, checked and ready for look-up."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files

from rlchecks.readers.alias_file import parse
from rlchecks.readers.frameworks import VALIDATION_REWARD, Framework
from rlchecks.readers.key_patterns import Target

__all__ = ["VALIDATION_REWARD", "Framework", "Target", "framework", "frameworks", "parse", "recognise"]


def framework(name: str) -> Framework:
    """Return the framework with this name in ``aliases.toml``."""
    return frameworks()[name]


def recognise(keys: Iterable[str], default: str) -> Framework:
    """Tell the framework from the logged keys.

    Keys count with and without the prefix that trackers add to training metrics. A framework that finds no reward
    among the keys yields to one that does: some loops of their own log the keys of a framework in part.

    Args:
        keys: all logged keys.
        default: name of the framework if no fingerprint fits.
    """
    return _recognise(frozenset(keys), default)


# Several readers ask about the same few lines of a file.
@lru_cache(maxsize=64)
def _recognise(keys: frozenset[str], default: str) -> Framework:
    forms: dict[tuple[str, ...], frozenset[str]] = {}
    fitting = []
    for known in frameworks().values():
        if known.train_prefixes not in forms:
            forms[known.train_prefixes] = keys.union(map(known.bare, keys))
        if _fits(known, forms[known.train_prefixes]):
            fitting.append(known)
    candidates = [*fitting, frameworks()[default]]
    return next((known for known in candidates if any(map(known.is_reward, keys))), candidates[0])


def _fits(known: Framework, keys: frozenset[str]) -> bool:
    if any(fingerprint <= keys for fingerprint in known.fingerprints):
        return True
    return any(pattern.fullmatch(key) for pattern in known.fingerprint_patterns for key in keys)


@cache
def frameworks() -> dict[str, Framework]:
    """Return all frameworks by name, in the order in which they are recognised."""
    text = files("rlchecks.readers").joinpath("aliases.toml").read_text(encoding="utf-8")
    return parse(tomllib.loads(text))
