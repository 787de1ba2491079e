"""MLflow's SQL store in SQLite.

Tables ``runs``, ``metrics``, ``params``, ``tags``, ``experiments``; source: mlflow/store/tracking/dbmodels/models.py
of mlflow/mlflow, from 1.0 to 3.17. A NaN is stored as 0 with ``is_nan`` (before 1.2 as a null), an infinity as the
largest double (mlflow/store/tracking/sqlalchemy_store.py, ``sanitize_metric_value``).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlchecks.errors import InputError
from rlchecks.readers.mlflow_run import DELETED, NAME_TAG, SOURCE_TAG, TrackedRun, deleted, without_system
from rlchecks.readers.mlflow_values import Values
from rlchecks.readers.rows import MAX_VALUES
from rlchecks.readers.settings import NAMES
from rlchecks.readers.source import choose
from rlchecks.readers.sqlite import glance, query, recall
from rlchecks.readers.sqlite_database import Database, text_of
from rlchecks.readers.text import counted, place
from rlchecks.readers.values import to_number

_INFINITY = 1.7976931348623157e308
_METRICS = ("key", "value", "timestamp", "run_uuid")
_NUMBERS = frozenset({float, int})


class _Run(NamedTuple):
    run_id: str
    name: str
    status: str
    stage: str


class _Stored(NamedTuple):
    """Values with what tells their order."""

    key: NDArray[Any]
    value: NDArray[Any]
    step: NDArray[Any]
    time: NDArray[Any]
    row: NDArray[Any]


def is_store(path: Path) -> bool:
    """Whether a SQLite file is a store of MLflow.

    Raises:
        InputError: it is no SQLite file, or damaged.
    """
    return glance(path, "is MLflow's", _is_store)


def run_ids(path: Path) -> list[str]:
    """List the ids of the runs that are not deleted, in the order in which they were begun.

    Raises:
        InputError: the store cannot be read.
    """
    return [run.run_id for run in recall(path, "runs of MLflow", _runs) if run.stage != DELETED]


def read_stored(path: Path, part: str | None) -> TrackedRun:
    """Read a run.

    Args:
        path: the store.
        part: its id, or its name if no other run has it; None for the only one.

    Raises:
        InputError: the store cannot be read; NotARunError: there is no such run, or it was deleted.
    """
    runs: list[_Run] = recall(path, "runs of MLflow", _runs)
    named = [run.run_id for run in runs if run.name == part and run.stage != DELETED]
    by_id = {run.run_id: run for run in runs}
    if part in by_id and by_id[part].stage == DELETED:
        raise deleted(path)
    wanted = named[0] if part not in by_id and len(named) == 1 else part
    run = by_id[choose(path, run_ids(path), wanted)]
    return query(path, lambda database: _read(database, run))


def _is_store(database: Database) -> bool:
    return "run_uuid" in database.columns("metrics") and bool(database.columns("runs"))


def _runs(database: Database) -> list[_Run]:
    database.require("runs", ["run_uuid"])
    columns = ["run_uuid", "name", "status", "lifecycle_stage", "start_time", "rowid"]
    found = [row for chunk in database.select("runs", columns) for row in chunk]
    found.sort(key=lambda row: (to_number(row[4]) or 0.0, row[5]))
    return [_Run(*("" if cell is None else text_of(cell) for cell in row[:4])) for row in found if row[0] is not None]


def _read(database: Database, run: _Run) -> TrackedRun:
    tags = _texts(database, "tags", run.run_id, (NAME_TAG, SOURCE_TAG))
    values, warnings = _values(database, run.run_id)
    return TrackedRun(
        run_id=run.run_id,
        name=tags.get(NAME_TAG) or run.name,
        status=run.status,
        source=tags.get(SOURCE_TAG, ""),
        params=_texts(database, "params", run.run_id, NAMES),
        values=without_system(values),
        inputs=database.inputs,
        warnings=warnings,
    )


def _texts(database: Database, table: str, run_id: str, names: Sequence[str]) -> dict[str, str]:
    if not database.columns(table):
        return {}
    database.require(table, ["key", "value", "run_uuid"])
    chunks = database.select(table, ["key", "value"], ("run_uuid", run_id))
    found = {text_of(key): text_of(value) for chunk in chunks for key, value in chunk if value is not None}
    return {name: found[name] for name in names if name in found}


def _values(database: Database, run_id: str) -> tuple[Values, tuple[str, ...]]:
    database.require("metrics", _METRICS)
    places: dict[object, int] = {}
    stored = [_Stored(*(np.empty(0, np.int64) for _ in _Stored._fields))]
    lost = count = 0
    columns = ["key", "value", "is_nan", "step", "timestamp", "rowid"]
    for chunk in database.select("metrics", columns, ("run_uuid", run_id)):
        count += len(chunk)
        if count > MAX_VALUES:
            raise InputError(f"more than {MAX_VALUES:,} values, the most that are read", path=place(database.path))
        key, value, is_nan, step, time, row = zip(*chunk, strict=True)
        number, sound = _numbers(value, is_nan)
        steps, stepped = _whole(step)
        keys = np.array([places.setdefault(one, len(places)) for one in key])
        kept = sound & stepped
        lost += int(len(kept) - kept.sum())
        stored.append(_Stored(*(column[kept] for column in (keys, number, steps, _whole(time)[0], np.array(row)))))
    all_of = _Stored(*(np.concatenate(column) for column in zip(*stored, strict=True)))
    # Copied and migrated stores are filled key by key; only the times tell the order then.
    order = np.lexsort((all_of.row, all_of.time))
    names = [text_of(one) for one in places]
    warnings = (f"{counted(lost, 'value')} that are no numbers or have no step: left out",) if lost else ()
    return Values(names, all_of.key[order], all_of.step[order], all_of.value[order].astype(np.float64)), warnings


def _numbers(values: Sequence[object], is_nan: Sequence[object]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Convert stored values; the second result tells which are numbers at all."""
    sound = np.ones(len(values), dtype=np.bool_)
    if not set(map(type, values)) <= _NUMBERS:
        # A null was how NaN was stored once.
        sound = np.array([value is None or type(value) in _NUMBERS for value in values])
        values = [value if type(value) in _NUMBERS else None for value in values]
    numbers = np.array(values, dtype=np.float64)
    infinite = np.abs(numbers) == _INFINITY
    numbers[infinite] = np.sign(numbers[infinite]) * np.inf
    if any(is_nan):
        numbers[[bool(flag) for flag in is_nan]] = np.nan
    return numbers, sound


def _whole(values: Sequence[object]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Convert steps or times; a null is 0, as before there were steps; the second result tells what is usable."""
    if set(map(type, values)) <= {int}:
        return np.array(values, dtype=np.int64), np.ones(len(values), dtype=np.bool_)
    usable = np.array([value is None or type(value) is int for value in values])
    return np.array([value if type(value) is int else 0 for value in values], dtype=np.int64), usable
