"""The tables of an open SQLite database, of which nothing is to be believed and nothing is to be run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlchecks.errors import InputError
from rlchecks.readers.stream import Stream
from rlchecks.readers.text import clean, listing, place, shown
from rlchecks.run import InputFile

if TYPE_CHECKING:
    import sqlite3

_CHUNK = 10_000
# Place of the mark in what SQLite tells of a column.
_HIDDEN = 6
_INDEX = re.compile(r'CREATE\s+(UNIQUE\s+)?INDEX\s+"?\w+"?\s+ON\s+"?(?P<table>\w+)"?\s*(?P<rest>.*)', re.I | re.S)
_PLAIN = re.compile(r'\(\s*"?\w+"?(\s*,\s*"?\w+"?)*\s*\)(\s*WHERE\s+"?\w+"?\s+IS\s+NOT\s+NULL)?\s*', re.I)


class Database:
    """An open database."""

    def __init__(self, path: Path, connection: sqlite3.Connection, files: Sequence[str], memo: dict[str, Any]) -> None:
        self.path = path
        self._connection, self._files, self._memo = connection, files, memo

    @property
    def inputs(self) -> tuple[InputFile, ...]:
        """What is read, with hashes: the file, and the log or journal beside it that has content."""
        if "inputs" not in self._memo:
            self._memo["inputs"] = tuple(map(hashed, self._files))
        names = [str(self.path), *(f"{self.path}{file[len(self._files[0]) :]}" for file in self._files[1:])]
        return tuple(
            InputFile(clean(name), one.sha256, one.bytes) for name, one in zip(names, self._memo["inputs"], strict=True)
        )

    def has_tables(self) -> bool:
        """Whether there are any."""
        found = self._connection.execute("SELECT count(*) FROM sqlite_master WHERE type = 'table'")
        return bool(found.fetchone()[0])

    def columns(self, table: str) -> frozenset[str]:
        """List the columns of a table; none if there is no such table, or if it is a view, virtual, or computed."""
        key = f"columns of {table}"
        if key not in self._memo:
            real = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND name = ?"
            found = self._connection.execute(real, (table,)).fetchone()[0]
            info = self._connection.execute(f'PRAGMA table_xinfo("{table}")').fetchall() if found else []
            stored = all(row[_HIDDEN] == 0 for row in info)
            self._memo[key] = frozenset(text_of(row[1]) for row in info) if stored else frozenset()
        known: frozenset[str] = self._memo[key]
        return known

    def require(self, table: str, columns: Sequence[str]) -> None:
        """Make sure that a table has some columns, and that its pages are sound.

        Raises:
            InputError: it has not, or they are not.
        """
        missing = [name for name in columns if name not in self.columns(table)]
        if missing:
            problem = f"its table {shown(table)} has no column {listing(missing)}"
            raise InputError(problem, path=place(self.path), todo="it may come from a version that is not known")
        key = f"pages of {table}"
        if key not in self._memo:
            check = "integrity_check" if self._plain(table) else "quick_check"
            self._memo[key] = text_of(self._connection.execute(f'PRAGMA {check}("{table}")').fetchone()[0])
        if self._memo[key] != "ok":
            raise damaged(self.path, self._memo[key])

    def select(
        self,
        table: str,
        columns: Sequence[str],
        where: tuple[str, object] | None = None,
        *,
        in_order: bool = False,
        at_a_time: int = _CHUNK,
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Yield rows of a table in chunks; text comes as bytes.

        Args:
            table: a table that there is.
            columns: names of columns; those that the table lacks are None in all rows.
            where: a column, and the value it has in the rows that are wanted.
            in_order: by their ids, which is the order in which they were written; the whole table is looked through.
            at_a_time: rows in a chunk; the fewer the larger they may be.
        """
        present = self.columns(table) | {"rowid"}
        names = ", ".join(f'"{name}"' if name in present else "NULL" for name in columns)
        condition, wanted = (f'"{where[0]}" = ?', (where[1],)) if where else ("1", ())
        index = "" if self._plain(table) and not in_order else "NOT INDEXED"
        order = "ORDER BY rowid" if in_order else ""
        cursor = self._connection.execute(f'SELECT {names} FROM "{table}" {index} WHERE {condition} {order}', wanted)
        while chunk := cursor.fetchmany(at_a_time):
            yield chunk

    def _plain(self, table: str) -> bool:
        """Whether the indexes of a table hold columns only: expressions are code, which is not run."""
        key = f"indexes of {table}"
        if key not in self._memo:
            statements = self._connection.execute("SELECT sql FROM sqlite_master WHERE type = 'index' AND sql NOT NULL")
            parts = [_INDEX.fullmatch(text_of(sql)) for (sql,) in statements]
            self._memo[key] = all(
                part and (part["table"].lower() != table or _PLAIN.fullmatch(part["rest"])) for part in parts
            )
        return bool(self._memo[key])


def text_of(value: object) -> str:
    """Decode text that a database holds; what is no UTF-8 is escaped."""
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def hashed(file: str) -> InputFile:
    """Read a file for its hash."""
    stream = Stream(Path(file))
    for _ in stream.blocks():
        pass
    return stream.source


def damaged(path: Path, reason: str) -> InputError:
    """Build the error about a file that is no database, or damaged."""
    problem = f"no readable SQLite database ({shown(reason.strip(), 120)})"
    todo = "what is left of a damaged one can be saved with the command .recover of sqlite3"
    return InputError(problem, path=place(path), todo=todo)
