"""Trackio: databases of projects, their Parquet mirrors, and the inbox of what was logged without a database."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path

from rlchecks.errors import NotARunError
from rlchecks.readers.aliases import recognise
from rlchecks.readers.assemble import Logged, assemble
from rlchecks.readers.identity import run_name
from rlchecks.readers.parquet import PARQUET
from rlchecks.readers.registry import ReadOptions
from rlchecks.readers.settings import settings
from rlchecks.readers.source import choose
from rlchecks.readers.sqlite_files import MAGIC, SUFFIXES, beside
from rlchecks.readers.text import clean, place, shown
from rlchecks.readers.trackio_inbox import INBOX, Writer, may_hold, read_fragments, writers_in
from rlchecks.readers.trackio_parquet import configs_of, is_mirror, mirrored_runs, read_mirrored
from rlchecks.readers.trackio_rows import TrackioLog, TrackioRun, unite
from rlchecks.readers.trackio_sql import is_project, read_stored, stored_runs
from rlchecks.readers.trl_rules import apply
from rlchecks.run import RunLog

_PARQUET = ".parquet"
_DATABASE = ".db"
_ID_SHOWN = 8


class TrackioReader:
    """Reads what Trackio keeps on disk."""

    name = "trackio"
    suffixes = SUFFIXES | {_PARQUET}
    looks_for = f"a project of Trackio (its database, the Parquet file made of it, or the directory {INBOX})"

    def holds(self, names: Collection[str]) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return may_hold(names)

    def detect(self, path: Path, head: bytes) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`.

        Raises:
            InputError: a SQLite file that is damaged, whosever it is.
        """
        if path.is_dir():
            return bool(writers_in(path))
        if head.startswith(MAGIC):
            return is_project(path)
        return head.startswith(PARQUET) and is_mirror(path)

    def files(self, path: Path) -> list[Path]:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return [file for writer in writers_in(path) for file in writer.files]

    def belongs(self, directory: Path) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`; below an inbox there are only its writers."""
        return True

    def beside(self, path: Path) -> list[Path]:
        """See :class:`rlchecks.readers.registry.Reader`; what was logged but is not imported, and mirrors."""
        if path.suffix.lower() == _PARQUET:
            return [_database_of(path), configs_of(path)]
        inbox = path.parent / INBOX
        return [*beside(path), inbox, *(file.parent for writer in _imported_by(path) for file in writer.files[:1])]

    def parts(self, path: Path) -> list[str]:
        """See :class:`rlchecks.readers.registry.Reader`; the ids of the runs, before 0.24 their names.

        Raises:
            NotARunError: what is here is read with a database.
        """
        if path.suffix.lower() == _PARQUET and _database_of(path).is_file():
            reason = f"made of {shown(_database_of(path).name)}, which is read in its place"
            raise NotARunError(reason, path=place(path))
        runs = _runs(path)
        if not runs and path.is_dir():
            raise NotARunError("its fragments are read with the databases beside it", path=place(path))
        return [run.part for run in runs]

    def opening(self, path: Path, part: str | None = None) -> str | None:
        """See :class:`rlchecks.readers.registry.Reader`; the run's id, or before 0.24 its first call."""
        runs = _runs(path)
        run = next((run for run in runs if part in (None, run.part)), None)
        if run is None or run.part != run.name:
            return run.part if run else None
        first = next(iter(_read(path, run.part).rows), None)
        return json.dumps([run.name, first], sort_keys=True, default=str)

    def read(self, path: Path, options: ReadOptions) -> RunLog:
        """See :class:`rlchecks.readers.registry.Reader`."""
        run = _chosen(path, options.part)
        log = _read(path, run.part)
        keys = frozenset(log.rows.keys)
        framework = recognise(keys, "table")
        told = settings(log.config)
        label = run.name if run.part == run.name else f"{run.name} {run.part[:_ID_SHOWN]}"
        logged = Logged(
            path=path,
            name=clean(label.strip() or run_name(path)),
            framework=framework,
            rows=unite(log.rows, framework.with_columns(options.columns).step),
            inputs=log.inputs,
            planned_steps=told.planned_steps,
            facts={"trackio_run": run.part, **told.facts},
            warnings=log.warnings,
        )
        made = assemble(logged, options)
        return apply(made, keys.union(map(framework.bare, keys))) if "trl_grpo" in framework.lineage else made


def _chosen(path: Path, wanted: str | None) -> TrackioRun:
    """Return the run with this id, or with this name if no other has it, or the only one."""
    runs = _runs(path)
    ids = [run.part for run in runs]
    named = [run.part for run in runs if run.name == wanted]
    part = choose(path, ids, named[0] if wanted not in ids and len(named) == 1 else wanted)
    return runs[ids.index(part)]


def _runs(path: Path) -> list[TrackioRun]:
    if path.suffix.lower() == _PARQUET:
        return mirrored_runs(path)
    if path.is_dir():
        runs = [writer.run for writer in _unimported(path)]
    else:
        runs = [*stored_runs(path), *(writer.run for writer in _imported_by(path))]
    return [*{run.part: run for run in reversed(runs)}.values()][::-1]


def _read(path: Path, part: str) -> TrackioLog:
    if path.suffix.lower() == _PARQUET:
        return read_mirrored(path, part)
    if path.is_dir():
        return read_fragments(_of(part, _unimported(path)), part)
    writers = _of(part, _imported_by(path))
    stored = read_stored(path, part, with_ids=bool(writers))
    if not writers:
        return stored.log
    later = read_fragments(writers, part, stored.log_ids)
    rows = stored.log.rows
    for row in later.rows:
        rows.append(row)
    config = later.config or stored.log.config
    return TrackioLog(rows, config, (*stored.log.inputs, *later.inputs), (*stored.log.warnings, *later.warnings))


def _of(part: str, writers: Sequence[Writer]) -> list[Writer]:
    return [writer for writer in writers if writer.run.part == part]


def _imported_by(database: Path) -> list[Writer]:
    """List the writers whose fragments a server would import into this database."""
    inbox = database.parent / INBOX
    if not inbox.is_dir() or inbox.is_symlink():
        return []
    return [writer for writer in writers_in(inbox) if writer.project == database.stem]


def _unimported(path: Path) -> list[Writer]:
    """List the writers of an inbox whose project has no database beside it."""
    writers = writers_in(path)
    if path.absolute().name != INBOX:
        return writers
    return [one for one in writers if not (path.absolute().parent / f"{one.project}{_DATABASE}").is_file()]


def _database_of(mirror: Path) -> Path:
    return mirror.with_suffix(_DATABASE)
