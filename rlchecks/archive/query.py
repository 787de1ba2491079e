"""SQL over the archive: one SELECT, which can read the listed files and nothing else, and can write nothing.

DuckDB is closed in three ways:

- Its configuration: no access to files but the listed ones, no extensions, no Python variables; then locked.
- The statement: exactly one, of type SELECT by DuckDB's parser.
- The syntax tree: DuckDB counts ``WITH x AS (COPY ... TO ...) SELECT`` as a SELECT, and such a COPY may write any file
  that may be read; table functions can change the database's state or take a raw pointer. So every query node must be
  one that only reads, and every table function one of a few that compute.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from rlchecks.archive.reading import each, read_many, read_runs
from rlchecks.archive.store import Store, first_line
from rlchecks.archive.tables import OWN, schema_of
from rlchecks.archive.verdicts import read_verdicts
from rlchecks.errors import ArchiveError
from rlchecks.schema import VERSION

_READING = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"})
_COMPUTING = frozenset({"range", "generate_series", "unnest", "json_each", "json_tree"})
_CONFIGURATION: dict[str, str | bool | int | float | list[str]] = {
    "python_enable_replacements": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "temp_directory": "",
}
# The small tables are read and verified here; only files of these are left to DuckDB.
_BY_DUCKDB = (*OWN, "evaluations")
_ERRORS = (duckdb.Error, pa.ArrowException, ValueError, RuntimeError)


class Sources(NamedTuple):
    """What the views stand on: tables in memory, and files, of which some may be of an older schema."""

    tables: dict[str, pa.Table]
    files: dict[str, list[str]]
    older: bool


def run_query(store: Store, query: str) -> pa.Table:
    """Run one SELECT over the archive's views.

    Args:
        store: the archive's files; they must be local.
        query: the SELECT.

    Raises:
        ArchiveError: if there is no archive; if it is no single SELECT, needs anything beside the views, names two
            result columns alike, or fails; or if a file that says what is listed is damaged.
    """
    # DuckDB takes these characters in a file's name for a pattern, and would look into other directories.
    if not store.local or re.search(r"[*?\[]", store.root):
        raise ArchiveError(f"SQL needs a local archive without *, ? and [ in its path, unlike {store.root}; move it.")
    if not os.path.isdir(store.root):
        raise ArchiveError(f"There is no archive at {store.root}; name the directory of one.")
    mentioned = _checked(query)
    sources = _sources(store, mentioned)
    while True:
        try:
            with duckdb.connect(":memory:", config=_CONFIGURATION) as connection:
                _open(connection, sources)
                return _distinct(connection.sql(query).to_arrow_table())
        except duckdb.IOException as error:
            # A writer may have replaced a run since its files were listed: then they are others now.
            newer = _sources(store, mentioned)
            if newer.files == sources.files:
                raise _failed(error) from error
            sources = newer
        except _ERRORS as error:
            raise _failed(error) from error


def _distinct(table: pa.Table) -> pa.Table:
    # As mappings, in JSON for one, rows would lose all but the last of them.
    twice = [name for name in table.column_names if table.column_names.count(name) > 1]
    if twice:
        raise ArchiveError(f"Two result columns are named {twice[0]!r}; give one another name with AS.")
    return table


def _failed(error: Exception) -> ArchiveError:
    problem = first_line(error).rstrip("!")
    lines = map(str.strip, str(error).splitlines())
    # What DuckDB found instead stands below: "Candidate bindings: ..." or "Did you mean ...?".
    instead = next((line for line in lines if line.startswith(("Candidate", "Did you mean"))), "")
    if instead:
        problem += f" ({instead})"
    if isinstance(error, duckdb.BinderException):
        problem += "; `describe steps` lists the columns of steps"
    return ArchiveError(f"The query failed: {problem}.")


def _checked(query: str) -> set[str]:
    """Return every text in the query's syntax tree, in lower case, if the query may run.

    Raises:
        ArchiveError: if it may not.
    """
    if query != query.encode("utf-8", "replace").decode():
        raise ArchiveError("The query holds characters that are no valid text; remove them.")
    with duckdb.connect(":memory:", config=_CONFIGURATION) as connection:
        try:
            statements = connection.extract_statements(query)
            answers = connection.execute("SELECT json_serialize_sql(?)", [query]).fetchall()
            tree = json.loads(answers[0][0])
        except (*_ERRORS, RecursionError) as error:
            raise _failed(error) from error
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        kinds = " and ".join(dict.fromkeys(statement.type.name for statement in statements)) or "nothing"
        found = kinds if len(statements) < 2 else f"{len(statements)} statements ({kinds})"
        raise ArchiveError(f"Exactly one SELECT can be run on the archive, and this is {found}.")
    if tree["error"]:
        raise ArchiveError(f"Only a plain SELECT can be run on the archive ({tree['error_message']}).")
    texts: set[str] = set()
    for key, value, node in _walk(tree):
        texts.add(value.casefold())
        if key == "type" and value.endswith("_NODE") and value not in _READING:
            raise ArchiveError(f"Only a SELECT can be run on the archive, and this one holds a {value}.")
        if key == "type" and value == "TABLE_FUNCTION":
            name = str(node["function"]["function_name"])
            if name.casefold() not in _COMPUTING:
                raise ArchiveError(f"The query may not call {name}; it can read the archive's views.")
    return texts


def _walk(tree: object) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            waiting.extend(node.values())
            yield from ((key, value, node) for key, value in node.items() if isinstance(value, str))
        elif isinstance(node, list):
            waiting.extend(node)


def _sources(store: Store, mentioned: Set[str]) -> Sources:
    """Read what a query needs of the tables that it mentions; the others are empty, which it cannot notice."""
    tables = {name: schema_of(name).empty_table() for name in ("runs", "signals", "verdicts")}
    files: dict[str, list[str]] = {name: [] for name in _BY_DUCKDB}
    older = False
    if "verdicts" in mentioned:
        tables["verdicts"] = read_verdicts(store, None, None)
    if "signals" in mentioned:
        tables["signals"] = read_many(store, "signals")
    if "runs" in mentioned:
        tables["runs"] = read_runs(store)
    if not mentioned.isdisjoint(_BY_DUCKDB):
        for listing in each(store, lambda listing: listing):
            older |= listing.oldest_version < VERSION
            for file in listing.tables:
                if file.name in files and file.name in mentioned:
                    files[file.name].append(store.full(listing.path(file)))
    return Sources(tables, files, older)


def _open(connection: duckdb.DuckDBPyConnection, sources: Sources) -> None:
    """Make the views, then lock the connection."""
    for name, table in sources.tables.items():
        connection.register(name, table)
    # What makes a view typed without files, and gives it the columns that older files lack.
    connection.execute("CREATE SCHEMA typed")
    for name, paths in sources.files.items():
        connection.register("rows", schema_of(name).empty_table())
        connection.execute(f"CREATE TABLE typed.{name} AS SELECT * FROM rows")
        connection.unregister("rows")
        view = f"CREATE VIEW {name} AS SELECT * FROM typed.{name}"
        if paths:
            options = f"hive_partitioning = false, union_by_name = {str(sources.older).lower()}"
            view += f" UNION ALL BY NAME SELECT * FROM read_parquet({_list(paths)}, {options})"
        connection.execute(view)
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute(f"SET allowed_paths = {_list([path for paths in sources.files.values() for path in paths])}")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _list(texts: Iterable[str]) -> str:
    return "[" + ", ".join("'" + text.replace("'", "''") + "'" for text in texts) + "]"
