"""Looking at one file or directory of a tree: which reader it is for, which runs are in it, or why there are none."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from rlchecks.readers.files import read_head
from rlchecks.readers.fingerprint import mark_whole
from rlchecks.readers.inside import check_inside
from rlchecks.readers.lost_logs import is_a_lost_log, look_at_compressed
from rlchecks.readers.parquet import is_archived
from rlchecks.readers.registry import Reader, reader_named, reader_of, readers
from rlchecks.readers.runs_inside import runs_inside
from rlchecks.readers.sight import FAULTS, OTHER, PART, Sight, reason_and_kind
from rlchecks.readers.table_files import SUFFIXES, keys_in, peek
from rlchecks.readers.unknown import explain
from rlchecks.readers.wanted_files import GZIP_SUFFIX, readers_for


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
    files: tuple[str, ...] | None = None
    try:
        if inside is not None and _claims(inside, path, names):
            if hasattr(inside, "belongs") and inside.belongs(path):
                return Sight(kind=PART)
            reader: Reader | None = inside
        else:
            reader = next((one for one in readers() if _claims(one, path, names)), None)
        if reader is None or (own and reader is not inside):
            return Sight() if reader is None else Sight(reader.name, kind=OTHER)
        if hasattr(reader, "files"):
            claimed, read = reader.name, reader.files(path)
            files = tuple(dict.fromkeys(_below(file, path) for file in read if file.is_relative_to(path)))
            check_inside(read, root)
    except FAULTS as error:
        return Sight(claimed, (), *reason_and_kind(error), own=files)
    return runs_inside(path, reader, rewards)._replace(own=files)


def _claims(reader: Reader, path: Path, names: Collection[str]) -> bool:
    if hasattr(reader, "holds") and not reader.holds(names):
        return False
    return reader.detect(path, b"")


def _below(file: Path, directory: Path) -> str:
    place = file.relative_to(directory)
    return place.name if len(place.parts) == 1 else place.parent.as_posix()


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
        if path.suffix.lower() == GZIP_SUFFIX and not named:
            return look_at_compressed(path, head)
        reader = reader_of(path, head, readers() if named else readers_for(path.name))
        if reader is None and is_archived(path, head) and not named:
            return Sight()
        # What the user declared makes a table of it; of a named file the reading says if there is no such column.
        if reader is None and path.suffix.lower() in SUFFIXES and rewards:
            keys = keys_in(peek(path, head))
            if keys and (named or set(rewards) & set(keys)):
                reader = reader_named("table")
        if reader is None and not named and not is_a_lost_log(path, head):
            return Sight()
        if reader is None:
            return Sight(None, (), *reason_and_kind(explain(path, head, brief=not named, rewards=rewards)))
        beside = reader.beside(path) if hasattr(reader, "beside") else []
        if not named:
            check_inside([one for one in beside if os.path.lexists(one)], root)
    except FAULTS as error:
        return Sight(None, (), *reason_and_kind(error))
    # Looked at before anything else is read.
    marks = tuple((os.path.abspath(one), mark_whole(one)) for one in beside)
    return runs_inside(path, reader, rewards)._replace(beside=marks)


def look_beside_a_run(path: Path) -> Sight:
    """Look whether a file in a run directory is one more log, without a look for the runs in it."""
    try:
        head = read_head(path)
        reader = reader_of(path, head, readers_for(path.name))
        return Sight() if reader is None or is_archived(path, head) else Sight(reader.name, kind=OTHER)
    except FAULTS:
        return Sight()
