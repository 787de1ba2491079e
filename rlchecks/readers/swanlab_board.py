"""SwanLab's local mode up to 0.5: a database ``runs.swanlab`` with names of runs and keys, and text files with values.

``<run directory>/logs/<folder>/<n>.log`` has up to 1,000 lines ``{"index": step, "data": value, "create_time"}`` of
one key; the table ``tag`` says which key a folder belongs to, ``experiment`` which run a directory. NaN is the text
``NaN``, both infinities are ``INF``. Later versions write a log of records beside them. Source: SwanHubX/SwanLab at
v0.5.9 and its package swanboard 0.1.8.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rlchecks.errors import InputError
from rlchecks.readers.json_lines import JsonLines
from rlchecks.readers.sqlite import recall
from rlchecks.readers.sqlite_database import Database, text_of
from rlchecks.readers.swanlab_records import INFINITE, SwanLog, sign_lost
from rlchecks.readers.swanlab_scalars import Scalars
from rlchecks.readers.text import counted, place, shown
from rlchecks.readers.values import to_count, to_number
from rlchecks.run import InputFile

DATABASE = "runs.swanlab"
"""Name of the database, in the folder of the run directories."""

LOGS = "logs"
"""Name of the directory with the values, in a run directory."""

_STATES = {1: "finished", -1: "crashed"}
_LINE = ".log"
_MAX_STEP = 10**15


class _Experiment(NamedTuple):
    name: str
    state: str | None
    keys: dict[str, str]


def read_board(database: Path, directory: Path) -> SwanLog:
    """Read what local mode wrote about a run.

    Args:
        database: the file :data:`DATABASE`.
        directory: the run's directory.

    Raises:
        InputError: a file cannot be read, or the database does not know the run.
    """
    inputs, experiments = recall(database, "SwanLab's experiments", _experiments)
    known = experiments.get(directory.name)
    if known is None:
        raise InputError(f"it does not know the run {shown(directory.name)}", path=place(database))
    log = SwanLog(Scalars(directory), name=known.name, facts={"state": known.state} if known.state else {})
    read = list(inputs)
    warnings: list[str] = []
    strange = unsigned = 0
    for folder, file in _value_files(directory / LOGS):
        key = known.keys.get(folder)
        if key is None:
            continue
        lines = JsonLines(file)
        for _, line in lines:
            step, value = to_count(line.get("index"), _MAX_STEP), to_number(line.get("data"))
            if step is None or value is None:
                strange += 1
            else:
                unsigned += line.get("data") == INFINITE
                log.scalars.add(key, step, value)
        read.append(lines.source)
        warnings += [f"{folder}/{file.name}: {warning}" for warning in lines.warnings]
    if strange:
        warnings.append(f"{counted(strange, 'value')} left out: not numeric")
    log.inputs, log.warnings = tuple(read), (*warnings, *sign_lost(unsigned))
    return log


def _experiments(database: Database) -> tuple[tuple[InputFile, ...], dict[str, _Experiment]]:
    database.require("experiment", ("id", "run_id", "name", "status"))
    database.require("tag", ("experiment_id", "name", "folder", "type"))
    keys: dict[object, dict[str, str]] = {}
    for chunk in database.select("tag", ("experiment_id", "name", "folder", "type")):
        for experiment, name, folder, kind in chunk:
            if text_of(kind) == "line":
                keys.setdefault(experiment, {})[text_of(folder)] = text_of(name)
    found = {
        text_of(run): _Experiment(text_of(name), _STATES.get(status), keys.get(one, {}))
        for chunk in database.select("experiment", ("id", "run_id", "name", "status"))
        for one, run, name, status in chunk
    }
    return database.inputs, found


def _value_files(logs: Path) -> Iterator[tuple[str, Path]]:
    """Yield folder and file, the files of a folder in the order of their values."""
    for folder in _names(logs):
        if (logs / folder).is_symlink() or not (logs / folder).is_dir():
            continue
        numbered = [name for name in _names(logs / folder) if name.endswith(_LINE) and name[: -len(_LINE)].isdecimal()]
        for name in sorted(numbered, key=lambda name: int(name[: -len(_LINE)])):
            if not (logs / folder / name).is_symlink():
                yield folder, logs / folder / name


def _names(directory: Path) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except OSError as error:
        raise InputError(f"cannot be listed ({error.strerror})", path=place(directory)) from error
