"""Looking at one file or directory of a tree: which reader it is for, which runs are in it, or why there are none."""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Callable, Collection
from functools import cache
from pathlib import Path
from typing import NamedTuple

from rlchecks.errors import InputError, NotARunError
from rlchecks.readers.files import HEAD_BYTES, read_head
from rlchecks.readers.fingerprint import Mark, mark_whole
from rlchecks.readers.parquet import is_archived
from rlchecks.readers.registry import Reader, may_read, reader_named, reader_of, readers
from rlchecks.readers.table import looks_like_a_log
from rlchecks.readers.table_files import SUFFIXES, keys_in, peek
from rlchecks.readers.text import GZIP, clean, counted, shown
from rlchecks.readers.unknown import explain, is_console

_GZIP_SUFFIX = ".gz"
_OPENING_LINES = 16
# What vanishes while it is looked at, and what is nested without end.
_FAULTS = (InputError, OSError, RecursionError)


class Part(NamedTuple):
    """One run of a file or directory.

    Attributes:
        name: how its reader calls it; None for the only run.
        opening: a hash of each line that its log begins with; None if the reader does not tell.
        reason: why it is no run after all.
        kind: of the refusal; see :class:`rlchecks.readers.search.Refusal`.
    """

    name: str | None = None
    opening: str | None = None
    reason: str | None = None
    kind: str | None = None


class Sight(NamedTuple):
    """What a file or directory was seen to be.

    Attributes:
        reader: name of its reader; None if there is none.
        parts: its runs.
        reason: why it is none, if that is worth a line.
        kind: of the refusal; :data:`PART` or :data:`OTHER` of what is in a run directory.
        beside: paths outside of it that its reader looks at, with their marks.
        own: of a run directory the names of the files in it, and the paths of the directories below it, that its
            reader reads, that of the first log first; None if that is not known.
    """

    reader: str | None = None
    parts: tuple[Part, ...] = ()
    reason: str | None = None
    kind: str | None = None
    beside: tuple[tuple[str, Mark], ...] = ()
    own: tuple[str, ...] | None = None


PART = "part"
"""The kind of a directory that is a part of the run above it."""

OTHER = "other"
"""The kind of a log in a run directory that another reader would read: one more log of that run."""


def look_at_folder(
    path: Path,
    names: Collection[str],
    inside: Reader | None,
    root: Path,
    rewards: Collection[str] = (),
    *,
    own: bool = False,
) -> Sight:
    """Look at a directory.

    Args:
        path: the directory.
        names: of what is in it.
        inside: the reader of the run directory above it, if there is one.
        root: the directory that is searched, resolved; what leads out of it is refused.
        rewards: columns that the user declared to be the reward.
        own: whether what only another reader reads is taken for one more log of the run above.
    """
    claimed: str | None = None
    files: list[str] | None = None
    try:
        if inside is not None and _may_hold(inside, names) and inside.detect(path, b""):
            if hasattr(inside, "belongs") and inside.belongs(path):
                return Sight(kind=PART)
            reader: Reader | None = inside
        else:
            reader = next((one for one in readers() if _may_hold(one, names) and one.detect(path, b"")), None)
        if reader is None or (own and reader is not inside):
            return Sight() if reader is None else Sight(reader.name, kind=OTHER)
        if hasattr(reader, "files"):
            claimed, read = reader.name, reader.files(path)
            files = list(dict.fromkeys(_below(file, path) for file in read if file.is_relative_to(path)))
            _check_inside(read, root)
    except _FAULTS as error:
        return Sight(claimed, (), *_told(error), own=None if files is None else tuple(files))
    return _with_parts(path, reader, rewards)._replace(own=None if files is None else tuple(files))


def look_beside_a_run(path: Path) -> Sight:
    """Look whether a file in a run directory is one more log, without a look for the runs in it."""
    try:
        head = read_head(path)
        reader = reader_of(path, head, [one for one in readers() if may_read(one, path.name)])
        return Sight() if reader is None or is_archived(path, head) else Sight(reader.name, kind=OTHER)
    except _FAULTS:
        return Sight()


def look_at_file(path: Path, root: Path, rewards: Collection[str], *, named: bool = False) -> Sight:
    """Look at a file.

    Args:
        path: the file.
        root: as for :func:`look_at_folder`; of a named file, what it is read with may be anywhere.
        rewards: columns that the user declared to be the reward.
        named: the user asked for this one, so whatever it is gets an answer.
    """
    try:
        head = read_head(path)
        if path.suffix.lower() == _GZIP_SUFFIX and not named:
            return _look_at_compressed(path, head)
        asked = readers() if named else tuple(one for one in readers() if may_read(one, path.name))
        reader = reader_of(path, head, asked)
        if reader is None and is_archived(path, head) and not named:
            return Sight()
        # What the user declared makes a table of it; of a named file the reading says if there is no such column.
        if reader is None and path.suffix.lower() in SUFFIXES and rewards:
            keys = keys_in(peek(path, head))
            if keys and (named or set(rewards) & set(keys)):
                reader = reader_named("table")
        if reader is None and not named and not _is_a_lost_log(path, head):
            return Sight()
        if reader is None:
            return Sight(None, (), *_told(explain(path, head, brief=not named)))
        beside = reader.beside(path) if hasattr(reader, "beside") else []
        if not named:
            _check_inside([one for one in beside if os.path.lexists(one)], root)
    except _FAULTS as error:
        return Sight(None, (), *_told(error))
    # Looked at before anything else is read.
    marks = tuple((os.path.abspath(one), mark_whole(one)) for one in beside)
    return _with_parts(path, reader, rewards)._replace(beside=marks)


def may_be_a_log(name: str) -> bool:
    """Whether a file of this name is looked at in a tree."""
    suffixes, by_name, all_names = _wanted(readers())
    plain, suffix = os.path.splitext(name)
    if suffix.lower() == _GZIP_SUFFIX:
        name, suffix = plain, os.path.splitext(plain)[1]
    return all_names or suffix.lower() in suffixes or any(named(name) for named in by_name)


@cache
def _wanted(asked: tuple[Reader, ...]) -> tuple[frozenset[str], list[Callable[[str], bool]], bool]:
    """What files some readers want to look at: by their extensions, by their names, or all."""
    by_suffix = [one.suffixes for one in asked if hasattr(one, "suffixes")]
    by_name = [one.named for one in asked if hasattr(one, "named")]
    every = any(not hasattr(one, "suffixes") and not hasattr(one, "named") for one in asked)
    return frozenset().union(*by_suffix), by_name, every


def is_inside(path: Path, root: Path) -> bool:
    """Whether a path, links followed, is below a resolved directory."""
    try:
        return path.resolve(strict=True).is_relative_to(root)
    except (OSError, RuntimeError):
        return False


def _below(file: Path, directory: Path) -> str:
    place = file.relative_to(directory)
    return place.name if len(place.parts) == 1 else place.parent.as_posix()


def _check_inside(files: Collection[Path], root: Path) -> None:
    """Make sure that no file is a link out of the tree, nor below one.

    Raises:
        InputError: one is.
    """
    inside = {folder: is_inside(folder, root) for folder in {file.parent for file in files}}
    for file in files:
        if not (is_inside(file, root) if file.is_symlink() else inside[file.parent]):
            problem = f"{shown(file.name)} is a link out of the tree, which is not followed"
            raise InputError(problem, todo="put a copy in its place, or name the log itself")


def _may_hold(reader: Reader, names: Collection[str]) -> bool:
    return bool(reader.holds(names)) if hasattr(reader, "holds") else True


def _with_parts(path: Path, reader: Reader, rewards: Collection[str]) -> Sight:
    try:
        names = reader.parts(path) if hasattr(reader, "parts") else []
    except _FAULTS as error:
        return Sight(reader.name, (), *_told(error))
    wanted: list[str | None] = [*names] if len(names) > 1 else [None]
    parts = tuple(_part(path, reader, name, rewards) for name in wanted)
    if len(parts) == 1 and parts[0].reason is not None:
        return Sight(reader.name, (), parts[0].reason, parts[0].kind)
    if all(part.reason is not None for part in parts):
        reason = f"{counted(len(parts), 'run')} in it, none that can be used; the first: {parts[0].reason}"
        return Sight(reader.name, (), reason, _worst(parts))
    return Sight(reader.name, parts)


def _worst(parts: Collection[Part]) -> str:
    return "not_a_run" if all(part.kind == "not_a_run" for part in parts) else "unreadable"


def _part(path: Path, reader: Reader, name: str | None, rewards: Collection[str]) -> Part:
    if not hasattr(reader, "opening"):
        return Part(name)
    try:
        opening = reader.opening(path) if name is None else reader.opening(path, name)
    except _FAULTS as error:
        if isinstance(error, NotARunError) and rewards:
            # The reward may be in the column that the user declared: the reading will tell.
            return Part(name)
        return Part(name, None, *_told(error))
    return Part(name, None if opening is None else " ".join(map(_hash, clean(opening).split("\n")[:_OPENING_LINES])))


def _hash(line: str) -> str:
    return hashlib.sha256(line.encode()).hexdigest()[:16]


def _look_at_compressed(path: Path, head: bytes) -> Sight:
    """Look at the beginning of what a file was before it was compressed; no more comes out of it than of any other."""
    plain = path.with_suffix("")
    asked = [one for one in readers() if may_read(one, plain.name)]
    try:
        begun = zlib.decompressobj(wbits=31).decompress(head, HEAD_BYTES)
        is_a_log = reader_of(plain, begun, asked) is not None or _is_a_lost_log(plain, begun)
    except (zlib.error, *_FAULTS):
        return Sight()
    return Sight(None, (), *_told(explain(path, head))) if is_a_log else Sight()


def _is_a_lost_log(path: Path, head: bytes) -> bool:
    if path.suffix.lower() in SUFFIXES and head.startswith(GZIP):
        return True
    return looks_like_a_log(path, head) or (may_read(reader_named("console"), path.name) and is_console(head))


def _told(error: Exception) -> tuple[str, str]:
    if isinstance(error, InputError):
        # The reason stands beside the source, so it does not repeat its path.
        reason = str(InputError(error.problem, where=error.where, todo=error.todo))
        return reason, "not_a_run" if isinstance(error, NotARunError) else "unreadable"
    why = f"cannot be read ({error.strerror})" if isinstance(error, OSError) else "nested too deeply for a log"
    return f"{why}.", "unreadable"
