"""The readers there are, and which of them reads what.

To add a format, write one module with a class that follows :class:`Reader`, give its framework a section in
``aliases.toml``, and name the class in ``_SPECIFIC``. A package of its own offers it as an entry point of the
group ``rlchecks.readers`` instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Protocol, cast

from rlchecks.errors import UsageError
from rlchecks.readers.text import shown
from rlchecks.run import RunLog

ENTRY_POINTS = "rlchecks.readers"
"""Entry point group of third parties' readers; each names a class without arguments or an instance."""

_SPECIFIC = ("rlchecks.readers.trl:TrlReader",)
# Reads whatever has the right columns, so it is asked last.
_GENERIC = ("rlchecks.readers.table:TableReader",)


@dataclass(frozen=True)
class ReadOptions:
    """What the user said about the run to be read.

    Attributes:
        run_id: the id it shall have.
        columns: logged key to canonical name, for keys that no alias knows.
        part: which of the runs in a file or directory, as its reader names them; None for the only one.
    """

    run_id: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    part: str | None = None


class Reader(Protocol):
    """Reads one format.

    Attributes:
        name: a short name, unique.
        looks_for: what it recognises, in words, for the error about an unknown file.

    More is optional:

    - ``suffixes: frozenset[str]``: extensions, in lower case, of the files that may be its; without it every file of
      a tree is looked at.
    - ``parts(path) -> list[str]``: the names of the runs in a file or directory that may hold several. ``read`` then
      gets one of them as ``options.part``, or None for the only one.
    - ``opening(path, part=None) -> str | None``: a text that stays the same while the log of a run grows and that
      copies of it share, such as its first logged row; it is how copies are found.
    - ``files(path) -> list[Path]``: the logs in a run directory, so that none of them is outside of the tree that was
      to be searched.
    - ``belongs(directory) -> bool``: whether a directory below a run directory is a part of that run, though it looks
      like a run itself.
    """

    name: str
    looks_for: str

    def detect(self, path: Path, head: bytes) -> bool:
        """Whether this reader reads ``path``.

        Args:
            path: a file, or a directory.
            head: the first 64 KiB of the file; empty for a directory.
        """

    def read(self, path: Path, options: ReadOptions) -> RunLog:
        """Read the run.

        Raises:
            InputError: it cannot be read; NotARunError: it holds no run of reinforcement learning.
        """


@cache
def readers() -> tuple[Reader, ...]:
    """Return all readers in the order in which they are asked: built-in formats, third parties', tables.

    Raises:
        UsageError: a third party's reader cannot be loaded.
    """
    others = [_third_party(point.name, point.load) for point in entry_points(group=ENTRY_POINTS)]
    return (*map(_built_in, _SPECIFIC), *others, *map(_built_in, _GENERIC))


def reader_of(path: Path, head: bytes) -> Reader | None:
    """Return the first reader that recognises a file or directory."""
    return next((reader for reader in readers() if reader.detect(path, head)), None)


def reader_named(name: str) -> Reader:
    """Return the reader with this name."""
    return next(reader for reader in readers() if reader.name == name)


def _built_in(place: str) -> Reader:
    module, name = place.split(":")
    return cast(Reader, getattr(import_module(module), name)())


def _third_party(name: str, load: object) -> Reader:
    try:
        loaded = load()  # type: ignore[operator]
        reader = loaded() if isinstance(loaded, type) else loaded
    except Exception as error:
        todo = "repair or uninstall the package that offers it"
        raise UsageError(f"the reader {shown(name)} cannot be loaded ({shown(repr(error), 200)}); {todo}.") from error
    return cast(Reader, reader)
