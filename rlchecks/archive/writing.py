r"""One write of a run's files: whoever reads finds the old or the new version complete, whenever the writer dies.

Under the run's lock, with ``n`` the generation of the present runs file:

1. Delete what a killed writer may have left: files of generation ``n + 1``, which nothing lists, and the files the
   last write superseded. Both are known by name, so no directory is listed.
2. Write the changed tables as generation ``n + 1``, flushed and renamed. Unchanged tables keep their files.
3. Replace the runs file by a rename. **This is the moment of the change**: before it readers follow the old listing,
   whose files nobody has touched; after it the new one, whose files are all in place.
4. Delete the superseded files. A reader that still held the old listing finds them gone, and reads the listing again.

A generation is never given out twice after a commit, so a listed name never gets other content. Two processes cannot
both be in 1 to 4 for one run; the kernel frees the lock of a killed one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pyarrow as pa

from rlchecks.archive.listing import Listing, TableFile, runs_path, table_path
from rlchecks.archive.reading import read_listed
from rlchecks.archive.store import Store, Writer
from rlchecks.archive.tables import LATER, OWN, Encoded, encode
from rlchecks.errors import ArchiveError
from rlchecks.schema import RUNS, VERSION


def sweep(writer: Writer, stem: str, present: Listing | None) -> None:
    """Step 1: delete what killed writers of the run left."""
    generation = 0 if present is None else present.generation
    leftovers = [(table, generation + 1) for table in (*OWN, *LATER)]
    for table, number in [*leftovers, *(present.superseded if present else ())]:
        writer.delete(table_path(table, stem, number))


def commit(
    writer: Writer,
    stem: str,
    present: Listing | None,
    row: Mapping[str, Any],
    changed: Mapping[str, Encoded],
    dropped: Collection[str] = (),
) -> None:
    """Steps 2 to 4: replace a run's row and some of its tables.

    Args:
        writer: holds the run's lock.
        stem: the name of its runs file.
        present: the listing that is replaced.
        row: the row of ``runs`` without ``tables``.
        changed: the tables with new content.
        dropped: the tables that are listed no longer.
    """
    generation = 1 if present is None else present.generation + 1
    listed = () if present is None else present.tables
    kept = [file for file in listed if file.name not in changed and file.name not in dropped]
    new = [TableFile(name, generation, table.sha256, table.rows) for name, table in changed.items()]
    listing = Listing(
        run_id=row["run_id"],
        generation=generation,
        tables=(*kept, *new),
        superseded=tuple((file.name, file.generation) for file in listed if file not in kept),
        oldest_version=min(VERSION, present.oldest_version) if present is not None and kept else VERSION,
        content_sha256=row["content_sha256"],
    )
    tables = [{**file._asdict(), "generation": str(file.generation)} for file in listing.tables]
    runs = encode("runs", pa.Table.from_pylist([{**row, "tables": tables}], schema=RUNS), listing.metadata())
    if changed:
        writer.write({table_path(name, stem, generation): table.data for name, table in changed.items()})
    writer.write({runs_path(stem): runs.data})
    for name, number in listing.superseded:
        writer.delete(table_path(name, stem, number))


def intact(store: Store, listing: Listing, name: str, table: Encoded | None) -> bool:
    """Whether the archive already has a table with this content, whole (None: whether it has none)."""
    file = listing.file(name)
    if file is None or table is None:
        return file is None and table is None
    return file.sha256 == table.sha256 and readable(store, listing, name)


def readable(store: Store, listing: Listing, name: str) -> bool:
    """Whether a table of a run is whole; one without rows is."""
    try:
        read_listed(store, listing, name)
    except ArchiveError:
        return False
    return True
