"""Reading listed files: whole, verified, and of one write, while others are writing.

A file that is gone, or is not what the listing says, is damage only if the listing still says so: a writer may have
replaced the run in between. Then the new listing is read. Each round needs another finished write, so it ends.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

import pyarrow as pa

from rlchecks.archive.listing import Listing, load, load_row, require
from rlchecks.archive.store import Store
from rlchecks.archive.tables import damaged, decode, projected, schema_of
from rlchecks.errors import ArchiveError, UsageError

T = TypeVar("T")


class Refusal(NamedTuple):
    """A run of the archive that could not be read: its id, or the name of its file if all were asked for; and why."""

    run_id: str
    reason: str


def consistent(store: Store, listing: Listing, read: Callable[[Listing], T]) -> T:
    """Read several files of one run as one write left them.

    Args:
        store: the archive's files.
        listing: the listing to begin with.
        read: reads what the listing names.

    Raises:
        ArchiveError: if the files are damaged or the run was deleted meanwhile.
    """
    while True:
        try:
            return read(listing)
        except ArchiveError:
            newer = load(store, listing.stem)
            if newer is None or newer == listing:
                raise
            listing = newer


def read_listed(store: Store, listing: Listing, table: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Read and verify one table of a run; typed and empty if the run has no rows of it.

    Raises:
        ArchiveError: if the file is missing or is not what the listing says.
    """
    file = listing.file(table)
    if file is None:
        return projected(schema_of(table), columns).empty_table()
    path = listing.path(file)
    full = store.full(path)
    try:
        data = store.read(path)
    except FileNotFoundError as error:
        raise damaged(full, "it is missing", table) from error
    if hashlib.sha256(data).hexdigest() != file.sha256:
        raise damaged(full, "its SHA-256 is not the one that its runs file lists", table)
    return decode(table, data, full, columns).replace_schema_metadata(None)


def read_facts(store: Store, listing: Listing) -> pa.Table:
    """Read the row of ``runs`` that belongs to a listing.

    Raises:
        ArchiveError: if the runs file was replaced since the listing was read.
    """
    present, row = load_row(store, listing.stem)
    if present != listing:
        raise ArchiveError(f"The run {listing.run_id!r} was replaced while it was read; read it again.")
    return row


def each(
    store: Store,
    read: Callable[[Listing], T],
    run_ids: Iterable[str] | None = None,
    refused: list[Refusal] | None = None,
) -> list[T]:
    """Read something of many runs, one after the other.

    Args:
        store: the archive's files.
        read: reads it, given a run's listing.
        run_ids: which runs; all by default, in the order of their files' names.
        refused: takes the runs that could not be read. Without it any such run is an error.

    Raises:
        ArchiveError: if a run could not be read and ``refused`` is None.
    """
    results, problems = [], []
    for name in store.stems("runs") if run_ids is None else run_ids:
        try:
            # A file that was deleted since the directory was listed is no longer a run of the archive.
            listing = load(store, name) if run_ids is None else require(store, name)
            if listing is not None:
                results.append(consistent(store, listing, read))
        except ArchiveError as error:
            problems.append(Refusal(name, str(error)))
    report(problems, refused)
    return results


def read_many(
    store: Store,
    table: str,
    run_ids: Iterable[str] | None = None,
    columns: Sequence[str] | None = None,
    refused: list[Refusal] | None = None,
) -> pa.Table:
    """Read one table of many runs; the arguments are those of :func:`each`, and which columns (default: all).

    Raises:
        ArchiveError: if a run could not be read and ``refused`` is None.
        UsageError: if a column is unknown.
    """
    schema = schema_of(table)
    unknown = [name for name in columns or () if name not in schema.names]
    if unknown:
        raise UsageError(f"The table {table} has no column {unknown[0]!r}; it has {', '.join(schema.names)}.")

    def one(listing: Listing) -> pa.Table:
        return read_listed(store, listing, table, columns)

    return joined([projected(schema, columns).empty_table(), *each(store, one, run_ids, refused)])


def read_runs(store: Store, run_ids: Iterable[str] | None = None, refused: list[Refusal] | None = None) -> pa.Table:
    """Read the ``runs`` table; the arguments are those of :func:`each`.

    Raises:
        ArchiveError: if a run could not be read and ``refused`` is None.
    """
    rows, problems = [schema_of("runs").empty_table()], []
    for name in store.stems("runs") if run_ids is None else run_ids:
        try:
            stem = name if run_ids is None else require(store, name).stem
            rows.append(load_row(store, stem)[1])
        except ArchiveError as error:
            problems.append(Refusal(name, str(error)))
    report(problems, refused)
    return joined(rows)


def report(problems: Sequence[Refusal], refused: list[Refusal] | None) -> None:
    """Hand over the runs that could not be read, or raise for them: they are never skipped in silence.

    Raises:
        ArchiveError: if there are any and nobody asked for the list.
    """
    if refused is not None:
        refused.extend(problems)
    elif problems:
        others = f" {len(problems) - 1} more run(s) cannot be read either." if len(problems) > 1 else ""
        raise ArchiveError(f"{problems[0].reason}{others}")


def joined(pieces: Sequence[pa.Table]) -> pa.Table:
    """Join tables of one kind. Their columns may differ: what one lacks is null, and numbers widen."""
    return pa.concat_tables(pieces, promote_options="permissive")
