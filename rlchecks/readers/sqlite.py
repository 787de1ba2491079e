"""SQLite files that others wrote, read without a trace: no lock, no side file, nothing changed.

A database is read where it lies, as one that nobody changes; whether it did change is looked at afterwards. If a
write-ahead log or a rollback journal with content lies beside it, because its writer is still at work or was killed,
SQLite has to complete it, which it does on a copy in a temporary directory. File format: sqlite.org/fileformat2.html.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from rlchecks.errors import InputError
from rlchecks.readers.sqlite_database import Database, damaged, hashed
from rlchecks.readers.sqlite_files import LOG, ChangedError, State, copied, memo_of, state_of
from rlchecks.readers.sqlite_log import is_cut_short
from rlchecks.readers.text import place

if TYPE_CHECKING:
    import sqlite3

MAX_VALUE = 64 << 20
"""Largest value that is read, in bytes; a row of metrics with a table of answers in it is far below."""

_TRIES = 3
# A row takes some dozen operations and as many bytes, so that only a file that leads in circles needs more.
_OPERATIONS, _OPERATIONS_PER_BYTE, _AT_A_TIME = 20_000_000, 20, 100_000
_MAX_STATEMENT = 1 << 20

T = TypeVar("T")


def query(path: Path, work: Callable[[Database], T]) -> T:
    """Open a database, let ``work`` read it, and make sure that it was not written meanwhile.

    Args:
        path: the file.
        work: called again if the database was written while it was at work.

    Raises:
        InputError: the file is no SQLite database, or damaged, or keeps being written; or by ``work``.
    """
    for attempt in range(_TRIES):
        state = state_of(path)
        # What is written too often to be read in place may stay the same for as long as a copy takes.
        in_place = not state.beside and attempt < _TRIES - 1
        try:
            with _opened(path, state, in_place=in_place, memo=memo_of(state)) as database:
                found = work(database)
        except ChangedError:
            continue
        except InputError:
            if in_place and state_of(path) != state:
                continue
            raise
        if not in_place or state_of(path) == state:
            return found
    todo = "read it when nothing writes to it"
    raise InputError("the database was written while it was read", path=place(path), todo=todo)


def glance(path: Path, key: str, work: Callable[[Database], bool]) -> bool:
    """Tell from the tables of a database whose it is; one with a log beside it is copied only if it must be.

    Args:
        path: the file.
        key: as in :func:`recall`.
        work: looks at tables and columns.

    Raises:
        InputError: as :func:`query`.
    """
    state = state_of(path)
    if state.beside:
        with suppress(InputError), _opened(path, state, in_place=True, memo={}) as database:
            # All tables of a new database may still be in its log.
            if database.has_tables():
                return work(database)
    return recall(path, key, work)


def recall(path: Path, key: str, work: Callable[[Database], T]) -> T:
    """Do the same, unless it was done before for this state of the file.

    Args:
        path: the file.
        key: names the outcome, for all who read databases.
        work: see :func:`query`.
    """
    memo = memo_of(state_of(path))
    if key not in memo:
        memo[key] = query(path, work)
    known: T = memo[key]
    return known


@contextmanager
def _opened(path: Path, state: State, *, in_place: bool, memo: dict[str, Any]) -> Iterator[Database]:
    import sqlite3

    with ExitStack() as stack:
        files = [state.path] if in_place else stack.enter_context(copied(path, state))
        if not in_place and "inputs" not in memo:
            # Before SQLite completes the copies.
            memo["inputs"] = tuple(map(hashed, files))
        mode = "mode=ro&immutable=1" if in_place else "mode=rw"
        uri = f"file:{quote(os.fsencode(files[0]))}?{mode}"
        try:
            connection = stack.enter_context(closing(sqlite3.connect(uri, uri=True, timeout=0, isolation_level=None)))
            _restrict(connection, state)
            if LOG in state.beside and not in_place:
                used = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1]
                if is_cut_short(Path(files[1]), max(used, 0)):
                    raise damaged(path, "its write-ahead log is not whole")
            yield Database(path, connection, files, memo)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            # The second comes of an error message with a name that is no UTF-8.
            reason = str(error) if isinstance(error, sqlite3.Error) else "a name that is no UTF-8"
            raise damaged(path, reason) from error


def _restrict(connection: sqlite3.Connection, state: State) -> None:
    import sqlite3

    connection.text_factory = bytes
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE)
    connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _MAX_STATEMENT)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    left = _OPERATIONS + _OPERATIONS_PER_BYTE * state.bytes

    def spent() -> bool:
        nonlocal left
        left -= _AT_A_TIME
        return left < 0

    connection.set_progress_handler(spent, _AT_A_TIME)
    # Whatever the schema wants to have computed is left alone.
    for setting in ("trusted_schema = OFF", "ignore_check_constraints = ON", "query_only = ON"):
        connection.execute(f"PRAGMA {setting}")
    for setting in ("cell_size_check = ON", "mmap_size = 0"):
        connection.execute(f"PRAGMA {setting}")
