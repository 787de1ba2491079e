"""The files of a SQLite database: what is written beside it, whether any of it changes, copies of it."""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from rlchecks.errors import InputError
from rlchecks.readers.files import regular_size, unreadable
from rlchecks.readers.fingerprint import SETTLED_NS
from rlchecks.readers.text import place

MAGIC = b"SQLite format 3\0"
"""What a SQLite file begins with."""

SUFFIXES = frozenset({".db", ".sqlite", ".sqlite3"})
"""Extensions of the databases that are read, in lower case."""

LOG, JOURNAL = "-wal", "-journal"
"""What is added to the name of a database to name its write-ahead log and its rollback journal."""

MAX_COPY = 8 << 30
"""Most bytes of a database and what lies beside it that are copied."""

_JOURNAL_MAGIC = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
# Where a database counts its changes.
_COUNTER = slice(24, 28)
_HEADER = 100
_REMEMBERED = 32


class State(NamedTuple):
    """What changes when a database is written.

    Attributes:
        path: the file, links resolved.
        beside: what the names of the files beside it that have content end with.
        stamps: device, inode, size in bytes and time of change of each file.
        counter: the database's own count of its changes.
    """

    path: str
    beside: tuple[str, ...]
    stamps: tuple[tuple[int, int, int, int], ...]
    counter: bytes

    @property
    def bytes(self) -> int:
        """Size of all files together."""
        return sum(size for _, _, size, _ in self.stamps)


class ChangedError(Exception):
    """A database was written while it was copied."""


_memos: OrderedDict[State, dict[str, Any]] = OrderedDict()


def state_of(path: Path) -> State:
    """Look at a database and at what lies beside it.

    Raises:
        InputError: the file is missing, unreadable or no regular file.
    """
    regular_size(path)
    real = os.path.realpath(path)
    try:
        with open(real, "rb") as file:
            status = os.fstat(file.fileno())
            counter = file.read(_HEADER)[_COUNTER]
    except OSError as error:
        raise unreadable(path, error) from error
    beside = {suffix: stamp for suffix in (LOG, JOURNAL) if (stamp := _content(real + suffix))}
    return State(real, tuple(beside), (_stamp(status), *beside.values()), counter)


def memo_of(state: State) -> dict[str, Any]:
    """Return where to keep what was found out about a state of a database, for the next who reads it.

    It is kept for the next only if a later change will show in the state.
    """
    if time.time_ns() - max(modified for _, _, _, modified in state.stamps) < SETTLED_NS:
        return {}
    memo = _memos.setdefault(state, {})
    _memos.move_to_end(state)
    if len(_memos) > _REMEMBERED:
        _memos.popitem(last=False)
    return memo


def beside(path: Path) -> list[Path]:
    """List what may lie beside a database and is read with it, there or not."""
    real = os.path.realpath(path)
    return [Path(real + suffix) for suffix in (LOG, JOURNAL)]


@contextmanager
def copied(path: Path, state: State) -> Iterator[list[str]]:
    """Copy a database and what lies beside it into a temporary directory, and yield the copies.

    Raises:
        InputError: it cannot be copied, or what lies beside it cannot be completed safely.
        ChangedError: it is not in this state any more.
    """
    with TemporaryDirectory(prefix="rlchecks-") as directory:
        if state.bytes > MAX_COPY:
            problem = f"it is being written, or was not closed, and its {state.bytes:,} bytes are too many to copy"
            raise InputError(problem, path=place(path), todo="let the tracker that wrote it open and close it")
        copies = [os.path.join(directory, f"database{suffix}") for suffix in ("", *state.beside)]
        try:
            for suffix, copy in zip(("", *state.beside), copies, strict=True):
                shutil.copyfile(state.path + suffix, copy)
        except FileNotFoundError as error:
            raise ChangedError from error
        except OSError as error:
            raise unreadable(path, error) from error
        if state_of(path) != state:
            raise ChangedError
        if JOURNAL in state.beside:
            _refuse_super_journal(copies[-1], path)
        yield copies


def _refuse_super_journal(journal: str, path: Path) -> None:
    # Such a journal names another file, which SQLite would delete after the rollback.
    with open(journal, "rb") as file:
        file.seek(-len(_JOURNAL_MAGIC), os.SEEK_END)
        if file.read() == _JOURNAL_MAGIC:
            problem = "a transaction over several databases was not finished"
            raise InputError(problem, path=place(path), todo="let the tracker that wrote them open them once")


def _content(name: str) -> tuple[int, int, int, int] | None:
    """Stamp a log or journal; None if it has no content, or is a link, which SQLite does not follow here."""
    try:
        status = os.lstat(name)
        if not stat.S_ISREG(status.st_mode) or not status.st_size:
            return None
        if name.endswith(JOURNAL):
            with open(name, "rb") as file:
                if file.read(len(_JOURNAL_MAGIC)) != _JOURNAL_MAGIC:
                    return None
    except OSError:
        return None
    return _stamp(status)


def _stamp(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
