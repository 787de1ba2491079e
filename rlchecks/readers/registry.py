"""The readers there are, and which of them reads what.

To add a format, write one module with a class that follows :class:`Reader`, give its framework a section in
``aliases.toml``, and name the class in ``_SPECIFIC``. A package of its own offers it as an entry point of the
group ``rlchecks.readers`` instead.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Protocol, cast

from rlchecks.errors import UsageError
from rlchecks.readers.guarded import Guarded
from rlchecks.readers.text import shown
from rlchecks.run import RunLog

ENTRY_POINTS = "rlchecks.readers"
"""Entry point group of third parties' readers; each names a class without arguments or an instance."""

_SPECIFIC = (
    # Its output directories look like TRL's, too, and its own log has more in it.
    "rlchecks.readers.swift:SwiftReader",
    "rlchecks.readers.trl:TrlReader",
    "rlchecks.readers.tensorboard:TensorBoardReader",
    "rlchecks.readers.wandb:WandbReader",
    "rlchecks.readers.wandb_export:WandbExportReader",
    "rlchecks.readers.wandb_panel:WandbPanelReader",
    "rlchecks.readers.swanlab:SwanLabReader",
    "rlchecks.readers.mlflow:MlflowReader",
    "rlchecks.readers.trackio:TrackioReader",
    "rlchecks.readers.verl_log:VerlLogReader",
    "rlchecks.readers.verl_dump:VerlDumpReader",
    "rlchecks.readers.openai_rft:OpenaiRftReader",
    "rlchecks.readers.timeline:TimelineReader",
    "rlchecks.readers.columnar:ColumnarReader",
    "rlchecks.readers.prime_rl:PrimeRlReader",
    "rlchecks.readers.tinker:TinkerReader",
    "rlchecks.readers.notebook:NotebookReader",
    "rlchecks.readers.console:ConsoleReader",
)
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

    More is optional. What a search asks first, so that it opens few files (without them it opens all):

    - ``suffixes: frozenset[str]``: extensions, in lower case, of the files that may be its.
    - ``named(name) -> bool``: whether a file of this name may be its, where no extension tells.
    - ``holds(names) -> bool``: whether a directory with entries of these names may be its run; a reader that reads
      no directories says no.

    What a run consists of:

    - ``parts(path) -> list[str]``: the names of the runs in a file or directory that may hold several. ``read`` then
      gets one of them as ``options.part``, or None for the only one.
    - ``opening(path, part=None) -> str | None``: what the log of a run begins with, such as its first logged row, or
      more rows, one a line: copies share it, or the lines of the shorter log are the first of the longer one's.
    - ``files(path) -> list[Path]``: the logs in a run directory and what is read beside them, so that none of it is
      outside of the tree that was to be searched, and that other logs there are told from them.
    - ``belongs(directory) -> bool``: whether a directory below a run directory is a part of that run, though it looks
      like a run itself.
    - ``beside(path) -> list[Path]``: the other files and directories that the reading of a file looks at, there or
      not; when one of them changes, the file is read again. (Of a directory, each entry counts.) In a tree none of
      them may be a link that leads out of it.
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
    found = (*map(_built_in, _SPECIFIC), *_third_parties(), *map(_built_in, _GENERIC))
    names = [reader.name for reader in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"two readers are called {shown(twice)}; uninstall the package that offers one of them.")
    return found


def built_in() -> tuple[Reader, ...]:
    """Return the readers of rlchecks itself."""
    return tuple(reader for reader in readers() if not isinstance(reader, Guarded))


def reader_of(path: Path, head: bytes, asked: Iterable[Reader] | None = None) -> Reader | None:
    """Return the first reader, of all or of those that are asked, that recognises a file or directory."""
    return next((reader for reader in (readers() if asked is None else asked) if reader.detect(path, head)), None)


def reader_named(name: str) -> Reader:
    """Return the reader with this name."""
    return next(reader for reader in readers() if reader.name == name)


def may_read(reader: Reader, name: str) -> bool:
    """Whether a reader wants to look at files of this name; one that says nothing about it wants to look at all."""
    suffixes, named = getattr(reader, "suffixes", None), getattr(reader, "named", None)
    if suffixes is None and named is None:
        return True
    extension = os.path.splitext(name)[1].lower()
    return (suffixes is not None and extension in suffixes) or (named is not None and bool(named(name)))


def _built_in(place: str) -> Reader:
    module, name = place.split(":")
    return cast(Reader, getattr(import_module(module), name)())


def _third_parties() -> Iterator[Reader]:
    for point in entry_points(group=ENTRY_POINTS):
        yield _third_party(point)


def _third_party(point: EntryPoint) -> Reader:
    todo = "repair or uninstall the package that offers it"
    try:
        loaded = point.load()
        reader = loaded() if isinstance(loaded, type) else loaded
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # Whatever its module does, such as to end the program.
        problem = f"cannot be loaded ({shown(repr(error), 200)})"
        raise UsageError(f"the reader {shown(point.name)} {problem}; {todo}.") from error
    missing = [name for name in ("name", "looks_for", "detect", "read") if not hasattr(reader, name)]
    if missing:
        raise UsageError(f"the reader {shown(point.name)} has no {missing[0]}; {todo}.")
    texts = [reader.name, reader.looks_for, *getattr(reader, "suffixes", ())]
    if not all(isinstance(one, str) for one in texts):
        raise UsageError(f"the reader {shown(point.name)} has a name, looks_for or suffixes that are no texts; {todo}.")
    return cast(Reader, Guarded(reader))
