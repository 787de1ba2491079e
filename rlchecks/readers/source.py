"""Where a run is: a file or directory, or one of the runs in it, written ``PATH#PART``.

A file may really be called so. What exists as it stands is what is meant; the part is then written ``PATH##PART``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rlchecks.errors import NotARunError
from rlchecks.readers.text import listing, place

_MARK = "#"


class Source(NamedTuple):
    """The place of one run.

    Attributes:
        path: file or directory.
        part: which of the runs in it, as its reader names them; None if it holds one.
    """

    path: Path
    part: str | None = None

    def __str__(self) -> str:
        """Write it as :func:`source_of` reads it, unless :attr:`nameless`."""
        if self.part is None:
            return str(self.path)
        short = f"{self.path}{_MARK}{self.part}"
        taken = os.path.lexists(short) or source_of(short) not in (self, Source(Path(short)))
        return f"{self.path}{_MARK}{_MARK}{self.part}" if taken else short

    @property
    def nameless(self) -> bool:
        """Whether there is no way to write it, since files are called like both spellings."""
        return source_of(str(self)) != self


def source_of(text: str | Path) -> Source:
    """Read ``PATH``, ``PATH#PART`` or ``PATH##PART``; a path that exists as it stands has no part."""
    whole = str(text)
    at = whole.rfind(_MARK)
    if at > 0 and not os.path.lexists(whole):
        while at > 0:
            if os.path.lexists(whole[:at]):
                return Source(Path(whole[:at]), whole[at + 1 :].removeprefix(_MARK))
            at = whole.rfind(_MARK, 0, at)
    return Source(Path(text))


def choose(path: Path, parts: Sequence[str], wanted: str | None) -> str:
    """Return the part to read: the wanted one, or the only one.

    Raises:
        NotARunError: there is no such part, or there are several and none is wanted.
    """
    if wanted is None and len(parts) == 1:
        return parts[0]
    if wanted in parts:
        return str(wanted)
    if wanted is None and parts:
        todo = f"name one of them, such as {place(str(Source(path, parts[0])))}"
        raise NotARunError(f"{len(parts)} runs ({listing(parts)}), expected one", path=place(path), todo=todo)
    sought = "no run in it" if wanted is None else f"no run {listing([wanted])} in it; it has {listing(parts)}"
    raise NotARunError(sought, path=place(path))
