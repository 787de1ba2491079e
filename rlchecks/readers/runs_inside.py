"""The runs in one file or directory, each with what its log begins with."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from pathlib import Path

from rlchecks.errors import NotARunError
from rlchecks.readers.registry import Reader
from rlchecks.readers.sight import FAULTS, Part, Sight, reason_and_kind
from rlchecks.readers.text import clean, counted

_OPENING_LINES = 16


def runs_inside(path: Path, reader: Reader, rewards: Collection[str]) -> Sight:
    """Look for the runs that a reader finds in a file or directory.

    Args:
        path: it.
        reader: its reader.
        rewards: columns that the user declared to be the reward.
    """
    try:
        names = reader.parts(path) if hasattr(reader, "parts") else []
    except FAULTS as error:
        return Sight(reader.name, (), *reason_and_kind(error))
    wanted: list[str | None] = [*names] if len(names) > 1 else [None]
    parts = tuple(_part(path, reader, name, rewards) for name in wanted)
    if len(parts) == 1 and parts[0].reason is not None:
        return Sight(reader.name, (), parts[0].reason, parts[0].kind)
    if all(part.reason is not None for part in parts):
        reason = f"{counted(len(parts), 'run')} in it, none that can be used; the first: {parts[0].reason}"
        return Sight(reader.name, (), reason, _worst(parts))
    return Sight(reader.name, parts)


def _part(path: Path, reader: Reader, name: str | None, rewards: Collection[str]) -> Part:
    if not hasattr(reader, "opening"):
        return Part(name)
    try:
        opening = reader.opening(path) if name is None else reader.opening(path, name)
    except FAULTS as error:
        if isinstance(error, NotARunError) and rewards:
            # The reward may be in the column that the user declared: the reading will tell.
            return Part(name)
        return Part(name, None, *reason_and_kind(error))
    return Part(name, None if opening is None else " ".join(map(_hash, clean(opening).split("\n")[:_OPENING_LINES])))


def _hash(line: str) -> str:
    return hashlib.sha256(line.encode()).hexdigest()[:16]


def _worst(parts: Collection[Part]) -> str:
    return "not_a_run" if all(part.kind == "not_a_run" for part in parts) else "unreadable"
