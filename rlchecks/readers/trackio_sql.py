"""The SQLite database of a Trackio project, ``<project>.db``.

Table ``metrics``: ``id``, ``run_name``, ``step`` (the number of the call), ``metrics`` (a JSON object, stored as bytes
although the column is declared to be text), ``log_id``; since 0.24 ``run_id``, without which the name is the run's
identity. Table ``configs``: the settings of each run. Source: trackio/sqlite_storage.py of gradio-app/trackio.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from rlchecks.readers.rows import Rows
from rlchecks.readers.sqlite import glance, query, recall
from rlchecks.readers.sqlite_database import Database, text_of
from rlchecks.readers.text import counted
from rlchecks.readers.trackio_rows import TrackioLog, TrackioRun, call_of

_RUN_ID, _RUN_NAME = "run_id", "run_name"
_NEEDED = (_RUN_NAME, "step", "metrics")


class Stored(NamedTuple):
    """What a database holds of a run, and the ids of its calls, if wanted: an imported fragment has them, too."""

    log: TrackioLog
    log_ids: frozenset[str]


def is_project(path: Path) -> bool:
    """Whether a SQLite file is Trackio's.

    Raises:
        InputError: it is no SQLite file, or damaged.
    """
    return glance(path, "is Trackio's", lambda database: _RUN_NAME in database.columns("metrics"))


def stored_runs(path: Path) -> list[TrackioRun]:
    """List the runs in the order in which they were begun.

    Raises:
        InputError: the database cannot be read.
    """
    return recall(path, "runs of Trackio", _runs)


def read_stored(path: Path, part: str, *, with_ids: bool) -> Stored:
    """Read what is stored of a run; nothing may be.

    Args:
        path: the database.
        part: the run.
        with_ids: whether the ids of the calls are wanted.

    Raises:
        InputError: the database cannot be read.
    """
    return query(path, lambda database: _read(database, part, with_ids=with_ids))


def _identity(database: Database, table: str) -> str:
    return _RUN_ID if _RUN_ID in database.columns(table) else _RUN_NAME


def _runs(database: Database) -> list[TrackioRun]:
    database.require("metrics", _NEEDED)
    names: dict[object, object] = {}
    for chunk in database.select("metrics", [_identity(database, "metrics"), _RUN_NAME], in_order=True):
        names.update(chunk)
    return [TrackioRun(text_of(part), text_of(name)) for part, name in names.items() if part is not None]


def _read(database: Database, part: str, *, with_ids: bool) -> Stored:
    database.require("metrics", _NEEDED)
    wanted = (_identity(database, "metrics"), part)
    rows = Rows(database.path)
    log_ids = set()
    damaged = 0
    # One by one: the answers of a step may be megabytes.
    for (one,) in database.select("metrics", ["step", "metrics", "log_id"], wanted, in_order=True, at_a_time=1):
        number, stored, log_id = one
        metrics = _parsed(stored)
        if metrics is None:
            damaged += 1
            continue
        rows.append(call_of(metrics, number))
        if with_ids:
            log_ids.add(text_of(log_id))
    warnings = (f"{counted(damaged, 'row')} damaged (no JSON object): left out",) if damaged else ()
    log = TrackioLog(rows, _config(database, part), database.inputs, warnings)
    return Stored(log, frozenset(log_ids))


def _config(database: Database, part: str) -> Mapping[str, object]:
    if not database.columns("configs"):
        return {}
    database.require("configs", [_RUN_NAME, "config"])
    found: Mapping[str, object] = {}
    for chunk in database.select("configs", ["config"], (_identity(database, "configs"), part), in_order=True):
        found = _parsed(chunk[-1][0]) or {}
    return found


def _parsed(stored: object) -> dict[str, object] | None:
    try:
        document = json.loads(stored) if isinstance(stored, bytes) else None
    except (ValueError, RecursionError):
        # Also what is no UTF-8, and numbers of more digits than Python takes.
        return None
    return document if isinstance(document, dict) else None
