"""Finding the runs in a tree of files, each once."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from rlchecks.errors import InputError, NotARunError
from rlchecks.readers.copies import find_copies
from rlchecks.readers.files import check_exists, read_head
from rlchecks.readers.parquet import is_archived
from rlchecks.readers.registry import Reader, reader_named, reader_of, readers
from rlchecks.readers.source import Source
from rlchecks.readers.table import looks_like_a_log
from rlchecks.readers.table_files import SUFFIXES, keys_in, peek
from rlchecks.readers.text import GZIP, place, shown
from rlchecks.readers.unknown import explain, is_console

MAX_DEPTH = 16
"""Levels of directories that are searched."""

MAX_ENTRIES = 200_000
"""Files and directories that are looked at."""

_CONSOLE_SUFFIXES = frozenset({".log", ".out", ".txt"})


class Refusal(NamedTuple):
    """Something in the tree that is no source.

    Attributes:
        source: file or directory.
        reason: why, in one sentence.
        kind: ``copy`` (of a source that was found; no fault), ``not_a_run`` or ``unreadable``.
    """

    source: Path
    reason: str
    kind: str


class Found(NamedTuple):
    """The runs in a tree: what to read, and what was refused."""

    sources: list[Source]
    refused: list[Refusal]


@dataclass
class _Search:
    root: Path
    rewards: frozenset[str] = frozenset()
    seen: int = 0
    found: list[tuple[Path, Reader]] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)


def find_runs(path: str | Path, columns: Mapping[str, str] | None = None) -> Found:
    """Find the runs in a tree.

    A directory that a reader recognises is one run, whatever else it holds, be it checkpoints or a tracker's copy of
    the log; below it only further directories of the same kind count. Elsewhere files count that a reader
    recognises. Links are followed to files inside the tree only, hidden directories are passed over, and at most
    :data:`MAX_DEPTH` levels and :data:`MAX_ENTRIES` entries are searched. Of several copies or earlier states of
    one log the longest is a source.

    Args:
        path: a directory, or a file.
        columns: the user's own column to canonical name; a table with a column that is said to be the reward counts.

    Returns:
        Sources in the order of their paths, and what was refused: copies, logs without a reward, and what could not
        be read. Files of other kinds (a README, held-out results) are not mentioned.

    Raises:
        InputError: there is no such file or directory, or its name is none.
    """
    root = Path(path)
    check_exists(root)
    rewards = frozenset(own for own, name in (columns or {}).items() if name == "reward")
    search = _Search(root.resolve(), rewards)
    if root.is_dir():
        _directory(root, 0, None, search)
    else:
        _file(root, search, named=True)
    return _sorted(search)


def _sorted(search: _Search) -> Found:
    sources: list[Source] = []
    openings: list[tuple[Source, Reader, str | None]] = []
    for path, reader in search.found:
        try:
            opened = [(source, reader, _opening(source, reader)) for source in _parts(path, reader)]
        except InputError as error:
            search.refused.append(_refusal(path, error))
            continue
        openings += opened
        sources += [source for source, _, _ in opened]
    copies = find_copies(openings)
    search.refused.extend(Refusal(source.path, reason, "copy") for source, (_, reason) in copies.items())
    return Found(sorted(source for source in sources if source not in copies), sorted(search.refused))


def _parts(path: Path, reader: Reader) -> list[Source]:
    """List the runs in a file or directory; one that does not name them is one run."""
    parts = reader.parts(path) if hasattr(reader, "parts") else []
    return [Source(path, part) for part in parts] if len(parts) > 1 else [Source(path)]


def _opening(source: Source, reader: Reader) -> str | None:
    opening = getattr(reader, "opening", None)
    if opening is None:
        return None
    found: str | None = opening(source.path) if source.part is None else opening(source.path, source.part)
    return found


def _directory(directory: Path, depth: int, inside: Reader | None, search: _Search) -> None:
    """Search a directory; ``inside`` is the reader of the run directory above, if there is one."""
    try:
        own = next((one for one in ([inside] if inside else readers()) if one.detect(directory, b"")), None)
        if own is not None and (inside is None or not _belongs(directory, inside)):
            _run_directory(directory, own, search)
    except InputError as error:
        search.refused.append(_refusal(directory, error))
        return
    below = inside or own
    for entry in _entries(directory, search):
        path = Path(entry.path)
        if entry.is_dir(follow_symlinks=False):
            if depth < MAX_DEPTH and not entry.name.startswith("."):
                _directory(path, depth + 1, below, search)
        elif below is None and (not entry.is_symlink() or _is_inside(path, search.root)):
            _file(path, search)


def _run_directory(directory: Path, reader: Reader, search: _Search) -> None:
    files = getattr(reader, "files", None)
    outside = [file for file in (files(directory) if files else []) if not _is_inside(file, search.root)]
    if outside:
        problem = f"{shown(outside[0].name)} is a link out of the tree"
        raise InputError(problem, path=place(directory), todo="read this run by itself")
    search.found.append((directory, reader))


def _belongs(directory: Path, reader: Reader) -> bool:
    belongs = getattr(reader, "belongs", None)
    return belongs is not None and bool(belongs(directory))


def _entries(directory: Path, search: _Search) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
    except OSError as error:
        search.refused.append(Refusal(directory, f"the directory cannot be listed ({error.strerror})", "unreadable"))
        return
    for entry in entries:
        search.seen += 1
        if search.seen > MAX_ENTRIES:
            if search.seen == MAX_ENTRIES + 1:
                reason = f"more than {MAX_ENTRIES:,} files and directories: the rest of the tree was not searched"
                search.refused.append(Refusal(directory, reason, "unreadable"))
            return
        yield entry


def _is_inside(path: Path, root: Path) -> bool:
    try:
        return path.resolve(strict=True).is_relative_to(root)
    except (OSError, RuntimeError):
        return False


def _refusal(source: Path, error: InputError) -> Refusal:
    # The reason stands beside the source, so it does not repeat its path.
    reason = str(InputError(error.problem, where=error.where, todo=error.todo))
    return Refusal(source, reason, "not_a_run" if isinstance(error, NotARunError) else "unreadable")


def _file(path: Path, search: _Search, *, named: bool = False) -> None:
    """Look at a file; ``named``: the user asked for this one, so whatever it is gets an answer."""
    suffix = path.suffix.lower()
    if not named and not _may_be_a_log(suffix):
        return
    try:
        head = read_head(path)
        reader = reader_of(path, head)
        if reader is None and is_archived(path, head) and not named:
            return
        if reader is None and suffix in SUFFIXES and search.rewards & set(keys_in(peek(path, head))):
            reader = reader_named("table")
        if reader is not None:
            search.found.append((path, reader))
        elif named or _is_a_lost_log(path, head):
            search.refused.append(_refusal(path, explain(path, head)))
    except InputError as error:
        search.refused.append(_refusal(path, error))


def _is_a_lost_log(path: Path, head: bytes) -> bool:
    suffix = path.suffix.lower()
    if suffix in SUFFIXES and head.startswith(GZIP):
        return True
    return looks_like_a_log(path, head) or (suffix in _CONSOLE_SUFFIXES and is_console(head))


def _may_be_a_log(suffix: str) -> bool:
    if suffix in _CONSOLE_SUFFIXES:
        return True
    return any(suffix in one.suffixes if hasattr(one, "suffixes") else True for one in readers())
