"""The runs file of a run: its facts, and which files of the other tables belong to it.

It is one row, replaced by a rename, and nothing counts that it does not list. The listing stands in the metadata of
the file, since reading those takes a third of the time that reading a row takes; the column ``tables`` repeats it for
people and other programs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import NamedTuple

import pyarrow as pa

from rlchecks.archive.escape import escape
from rlchecks.archive.store import SUFFIX, Store
from rlchecks.archive.tables import LATER, OWN, damaged, decode, metadata_of
from rlchecks.errors import ArchiveError

LISTING_KEY = b"rlchecks.listing"


class TableFile(NamedTuple):
    """One file that a run's listing names: table, generation, SHA-256 of its bytes, rows."""

    name: str
    generation: int
    sha256: str
    rows: int


@dataclass(frozen=True)
class Listing:
    """What a runs file says about the files that belong to its run.

    Attributes:
        run_id: the run's id, which alone is the truth; the file name is derived from it.
        generation: number of the last write, from 1.
        tables: the files that belong to the run; a table without rows has none.
        superseded: table and generation of the files that the last write took out of the listing.
        oldest_version: oldest schema version among the listed files, some of which an older release may have written.
        content_sha256: hash of the run's own tables and facts.
    """

    run_id: str
    generation: int
    tables: tuple[TableFile, ...]
    superseded: tuple[tuple[str, int], ...]
    oldest_version: int
    content_sha256: str

    @property
    def stem(self) -> str:
        """The runs file's name without ``.parquet``."""
        return escape(self.run_id)

    def metadata(self) -> dict[bytes, bytes]:
        """Return the listing as the metadata of the runs file."""
        return {LISTING_KEY: json.dumps(asdict(self)).encode()}

    def file(self, table: str) -> TableFile | None:
        """Return the file of a table, or None if the run has no rows of it."""
        return next((file for file in self.tables if file.name == table), None)

    def path(self, file: TableFile) -> str:
        """Return the path of a listed file in the archive."""
        return table_path(file.name, self.stem, file.generation)


def runs_path(stem: str) -> str:
    """Return the path of a runs file in the archive."""
    return f"runs/{stem}{SUFFIX}"


def table_path(table: str, stem: str, generation: int) -> str:
    """Return the path of a table's file in the archive."""
    return f"{table}/{stem}.{generation}{SUFFIX}"


def load(store: Store, stem: str) -> Listing | None:
    """Read the listing of a runs file.

    Args:
        store: the archive's files.
        stem: its name without ``.parquet``.

    Returns:
        The listing; None if there is no such file.

    Raises:
        ArchiveError: if it is damaged, or stands under a name that is not its run's.
    """
    try:
        data = store.read(runs_path(stem))
    except FileNotFoundError:
        return None
    full = store.full(runs_path(stem))
    return _parse(metadata_of("runs", data, full), stem, full)


def load_row(store: Store, stem: str) -> tuple[Listing, pa.Table]:
    """Read a runs file that must be there: its listing, and its one row.

    Raises:
        ArchiveError: if it is absent or damaged.
    """
    full = store.full(runs_path(stem))
    try:
        data = store.read(runs_path(stem))
    except FileNotFoundError as error:
        raise damaged(full, "it is missing", "runs") from error
    row = decode("runs", data, full)
    if row.num_rows != 1:
        raise damaged(full, f"it has {row.num_rows} rows instead of one", "runs")
    return _parse(row.schema.metadata, stem, full), row.replace_schema_metadata(None)


def _parse(metadata: Mapping[bytes, bytes], stem: str, full: str) -> Listing:
    try:
        fields = json.loads(metadata[LISTING_KEY])
        listing = Listing(
            run_id=str(fields["run_id"]),
            generation=int(fields["generation"]),
            tables=tuple(TableFile(str(name), int(n), str(sha), int(rows)) for name, n, sha, rows in fields["tables"]),
            superseded=tuple((str(name), int(generation)) for name, generation in fields["superseded"]),
            oldest_version=int(fields["oldest_version"]),
            content_sha256=str(fields["content_sha256"]),
        )
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise damaged(full, f"its listing cannot be understood: {error!r}", "runs") from error
    if not {*dict(listing.superseded), *(file.name for file in listing.tables)} <= {*OWN, *LATER}:
        raise damaged(full, "its listing names an unknown table", "runs")
    if listing.stem != stem:
        raise ArchiveError(f"{full} holds run {listing.run_id!r}, whose file has another name; undo the renaming.")
    return listing


def find(store: Store, run_id: str) -> Listing | None:
    """Read the listing of a run by its id, in exactly this spelling.

    Returns:
        The listing; None if the archive has no such run.

    Raises:
        ArchiveError: if the file is damaged, or belongs to a run whose id differs in case only.
    """
    listing = load(store, escape(run_id))
    if listing is not None and listing.run_id != run_id:
        raise ArchiveError(
            f"The archive {store.root} has a run {listing.run_id!r}, which differs from {run_id!r} in case only, and "
            "ids are unique without regard to case; give the run another id with --run-id."
        )
    return listing


def require(store: Store, run_id: str) -> Listing:
    """Read the listing of a run that must be there.

    Raises:
        ArchiveError: if the archive has no such run, or its file is damaged.
    """
    listing = find(store, run_id)
    if listing is None:
        raise ArchiveError(f"The archive {store.root} has no run {run_id!r}; ingest it first.")
    return listing
