"""Which files are looked at in a tree, as their names tell."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache

from rlchecks.readers.registry import Reader, may_read, readers

GZIP_SUFFIX = ".gz"
"""The extension of a compressed file; what it is called without it tells whether it may be a log."""


def may_be_a_log(name: str) -> bool:
    """Whether a file of this name is looked at in a tree."""
    suffixes, by_name, all_names = _wanted(readers())
    plain, suffix = os.path.splitext(name)
    if suffix.lower() == GZIP_SUFFIX:
        name, suffix = plain, os.path.splitext(plain)[1]
    return all_names or suffix.lower() in suffixes or any(named(name) for named in by_name)


def readers_for(name: str) -> tuple[Reader, ...]:
    """Return the readers that want to look at files of this name."""
    return tuple(one for one in readers() if may_read(one, name))


@cache
def _wanted(asked: tuple[Reader, ...]) -> tuple[frozenset[str], list[Callable[[str], bool]], bool]:
    """What files some readers want to look at: by their extensions, by their names, or all."""
    by_suffix = [one.suffixes for one in asked if hasattr(one, "suffixes")]
    by_name = [one.named for one in asked if hasattr(one, "named")]
    every = any(not hasattr(one, "suffixes") and not hasattr(one, "named") for one in asked)
    return frozenset().union(*by_suffix), by_name, every
