"""The archive: runs, their tables and the verdicts on them, as plain Parquet files that anybody can read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from rlchecks.archive import facts, reading, verdicts, writing
from rlchecks.archive.escape import escape
from rlchecks.archive.listing import Listing, find, load, require
from rlchecks.archive.reading import Refusal
from rlchecks.archive.store import Store
from rlchecks.archive.tables import OWN, checked, encode
from rlchecks.errors import ArchiveError
from rlchecks.run import RunLog


class Written(NamedTuple):
    """What a write did: the run, and whether anything changed."""

    run_id: str
    changed: bool


class Archive:
    """The archive at a path or URI; nothing is created before the first write.

    A run can be read while others write it: every method sees a run as one write left it. A file that is not what was
    written is never used and never skipped: reading one run raises, reading many raises unless the caller passes
    a list as ``refused``, which then takes the runs that could not be read. What makes a run is its file under
    ``runs/``: table files of a run whose runs file is gone do not count, and are left where they are.

    Args:
        uri: local path, or a URI that ``pyarrow.fs`` understands.

    Raises:
        ArchiveError: from every method, if the archive refuses or a file is damaged; the message names the file.
    """

    def __init__(self, uri: str | Path) -> None:
        self._store = Store(uri)

    @property
    def root(self) -> str:
        """The archive's directory, absolute."""
        return self._store.root

    def write_run(self, run: RunLog) -> Written:
        """Write a run, or replace it by its grown log; the same content again changes nothing.

        A replaced run keeps its evaluations and loses its signals, which were computed from the old steps. Tables of
        the archived run that turn out damaged are written anew; damaged signals are dropped.

        Raises:
            ArchiveError: if the id is empty, belongs to another run, or differs from an archived one in case only; if
                the log is an older copy of the archived one; if a table does not fit its schema.
        """
        if not run.run_id or run.run_id != run.run_id.encode("utf-8", "replace").decode():
            raise ArchiveError(f"The run id {run.run_id!r} is no usable text; give one with --run-id.")
        given = {name: checked(name, getattr(run, name), run.run_id) for name in OWN}
        tables = {name: encode(name, table) for name, table in given.items() if table.num_rows}
        row = facts.facts_row(run)
        content = facts.content_sha256(row, tables)
        stem = escape(run.run_id)
        with self._store.exclusive(stem) as writer:
            present = find(self._store, run.run_id)
            writing.sweep(writer, stem, present)
            changed = tables
            dropped = {name for name in OWN if name not in tables}
            if present is not None:
                if present.content_sha256 != content or not writing.readable(self._store, present, "signals"):
                    dropped.add("signals")
                same = [name for name in OWN if writing.intact(self._store, present, name, tables.get(name))]
                if present.content_sha256 == content:
                    if len(same) == len(OWN) and "signals" not in dropped:
                        return Written(run.run_id, False)
                else:
                    old_facts = reading.read_facts(self._store, present).to_pylist()[0]
                    facts.check_same_run(old_facts, reading.read_listed(self._store, present, "steps"), run)
                changed = {name: table for name, table in tables.items() if name not in same}
            row |= {"content_sha256": content, "ingested_at": datetime.now(UTC)}
            writing.commit(writer, stem, present, row, changed, dropped)
        return Written(run.run_id, True)

    def has(self, run_id: str) -> bool:
        """Whether the archive has a run of exactly this id."""
        listing = load(self._store, escape(run_id))
        return listing is not None and listing.run_id == run_id

    def run_ids(self, refused: list[Refusal] | None = None) -> list[str]:
        """Return the ids of all runs, in the order of their files' names."""
        return reading.each(self._store, lambda listing: listing.run_id, refused=refused)

    def runs(self, run_ids: Sequence[str] | None = None, *, refused: list[Refusal] | None = None) -> pa.Table:
        """Return the ``runs`` table: one row of facts per run.

        Args:
            run_ids: which runs, in this order; all by default.
            refused: takes the runs that could not be read.
        """
        return reading.read_runs(self._store, run_ids, refused)

    def read_run(self, run_id: str) -> RunLog:
        """Return a run as it was written."""

        def whole(listing: Listing) -> RunLog:
            tables = {name: reading.read_listed(self._store, listing, name) for name in OWN}
            return facts.run_log(reading.read_facts(self._store, listing).to_pylist()[0], tables)

        return reading.consistent(self._store, require(self._store, run_id), whole)

    def steps(
        self,
        run_ids: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        *,
        refused: list[Refusal] | None = None,
    ) -> pa.Table:
        """Return rows of ``steps`` of many runs.

        Args:
            run_ids: which runs, in this order; all by default.
            columns: which columns, in this order; all by default.
            refused: takes the runs that could not be read.

        Raises:
            UsageError: if a column is unknown.
        """
        return reading.read_many(self._store, "steps", run_ids, columns, refused)

    def validation(
        self,
        run_ids: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        *,
        refused: list[Refusal] | None = None,
    ) -> pa.Table:
        """Return rows of ``validation`` of many runs; as :meth:`steps`."""
        return reading.read_many(self._store, "validation", run_ids, columns, refused)

    def signals(self, run_ids: Sequence[str] | None = None, *, refused: list[Refusal] | None = None) -> pa.Table:
        """Return the signals of many runs; runs without any have no row. Older rows lack newer signals: null."""
        return reading.read_many(self._store, "signals", run_ids, None, refused)

    def completions(self, run_id: str) -> pa.Table:
        """Return the logged answers of a run."""
        return reading.read_many(self._store, "completions", [run_id])

    def evaluations(self, run_id: str) -> pa.Table:
        """Return the held-out rows of a run."""
        return reading.read_many(self._store, "evaluations", [run_id])

    def verdicts(self, run_id: str | None = None, *, refused: list[Refusal] | None = None) -> pa.Table:
        """Return the verdicts on one run, or all, in the order in which they were made."""
        return verdicts.read_verdicts(self._store, run_id, refused)

    def sql(self, query: str) -> pa.Table:
        """Run one SELECT of DuckDB's SQL over the archive's tables, each of which is a view of its name.

        It can read nothing else and write nothing. The files of ``steps``, ``completions``, ``validation`` and
        ``evaluations`` are not verified by their SHA-256 here.

        Raises:
            ArchiveError: if there is no archive; if the text is no single SELECT, needs anything beside the views,
                names two result columns alike, or fails.
        """
        from rlchecks.archive.query import run_query

        return run_query(self._store, query)

    def write_signals(self, run_id: str, table: pa.Table) -> bool:
        """Write a run's signals, replacing older ones; they are dropped when the run changes.

        Args:
            run_id: a run of the archive.
            table: its row of signals, in the caller's schema, with ``run_id``.

        Returns:
            Whether anything changed.
        """
        return self._write_later(run_id, "signals", lambda _: table)

    def write_evaluations(self, run_id: str, table: pa.Table) -> bool:
        """Add held-out rows to a run: rows from the same source file (``source_sha256``) are replaced, others stay.

        Args:
            run_id: a run of the archive.
            table: rows of ``evaluations`` with this ``run_id``.

        Returns:
            Whether anything changed.
        """

        def merged(listing: Listing) -> pa.Table:
            new = checked("evaluations", table, run_id)
            old = reading.read_listed(self._store, listing, "evaluations")
            sources = new["source_sha256"].unique()
            kept = old.filter(pc.invert(pc.is_in(old["source_sha256"], value_set=sources, skip_nulls=False)))
            # A stable order, so that writing the sources in turn does not shuffle the file for ever.
            return pa.concat_tables([kept, new]).sort_by([("source_sha256", "ascending")])

        return self._write_later(run_id, "evaluations", merged)

    def write_verdict(self, row: Mapping[str, object]) -> bool:
        """Write a verdict, once and for all; the same again changes nothing.

        Args:
            row: a row of ``verdicts``.

        Returns:
            Whether it is new.

        Raises:
            ArchiveError: if the run has a verdict of this id with other content.
        """
        return verdicts.write_verdict(self._store, row)

    def _write_later(self, run_id: str, name: str, content: Callable[[Listing], pa.Table]) -> bool:
        stem = escape(run_id)
        with self._store.exclusive(stem) as writer:
            present = require(self._store, run_id)
            writing.sweep(writer, stem, present)
            table = checked(name, content(present), run_id)
            encoded = encode(name, table) if table.num_rows else None
            if writing.intact(self._store, present, name, encoded):
                return False
            (row,) = reading.read_facts(self._store, present).to_pylist()
            changed = {} if encoded is None else {name: encoded}
            writing.commit(writer, stem, present, row, changed, {name})
        return True
