"""MLflow's file store: a directory for each run.

``meta.yaml``, ``metrics/<key>`` (a slash in the key makes directories), ``params/<name>``, ``tags/<name>``. Source:
mlflow/store/tracking/file_store.py of mlflow/mlflow, to 3.17.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from rlchecks.errors import InputError
from rlchecks.readers.files import side_text, unreadable
from rlchecks.readers.mlflow_lines import Series, read_series
from rlchecks.readers.mlflow_meta import parse_meta
from rlchecks.readers.mlflow_run import DELETED, NAME_TAG, SOURCE_TAG, TrackedRun, deleted, without_system
from rlchecks.readers.mlflow_values import Values
from rlchecks.readers.rows import MAX_KEYS, MAX_VALUES
from rlchecks.readers.settings import NAMES
from rlchecks.readers.source import choose
from rlchecks.readers.text import clean, place, shown
from rlchecks.run import InputFile

META, METRICS = "meta.yaml", "metrics"
"""What every run's directory holds."""

# A parameter may have 6,000 characters, the description of a run is a few hundred bytes.
_SMALL = 1 << 16
# Of mlflow.entities.RunStatus.
_STATUS = {"1": "RUNNING", "2": "SCHEDULED", "3": "FINISHED", "4": "FAILED", "5": "KILLED"}


def is_run(directory: Path) -> bool:
    """Whether a directory is that of a run; that of an experiment or a logged model is not."""
    holds = (directory / METRICS).is_dir() and (directory / META).is_file()
    return holds and "model_id" not in _meta(directory, [])


def run_id_of(directory: Path) -> str:
    """Return the id of the run in a directory, which has its name."""
    return _run_id(_meta(directory, []), directory)


def metric_files(directory: Path) -> list[tuple[str, Path]]:
    """List the logged keys of a run and their files.

    Raises:
        InputError: a link leads elsewhere, there are too many, or a directory cannot be listed.
    """
    top = directory / METRICS
    found: list[tuple[str, Path]] = []
    waiting = [top]
    while waiting:
        for entry in _entries(waiting.pop()):
            path = Path(entry.path)
            _refuse_link(entry, directory)
            if entry.is_dir(follow_symlinks=False):
                waiting.append(path)
            else:
                found.append((path.relative_to(top).as_posix(), path))
            if len(found) + len(waiting) > MAX_KEYS:
                raise InputError(f"more than {MAX_KEYS:,} keys, the most of any log", path=place(directory))
    return sorted(found)


def read_directory(directory: Path, part: str | None) -> TrackedRun:
    """Read a run.

    Args:
        directory: its directory.
        part: its id, or None.

    Raises:
        InputError: it cannot be read; NotARunError: it was deleted, or has another id.
    """
    inputs: list[InputFile] = []
    meta = _meta(directory, inputs)
    choose(directory, [_run_id(meta, directory)], part)
    if meta.get("lifecycle_stage") == DELETED:
        raise deleted(directory)
    tags = _texts(directory / "tags", (NAME_TAG, SOURCE_TAG), inputs)
    params = _texts(directory / "params", NAMES, inputs)
    warnings: list[str] = []
    files = metric_files(directory)
    series = []
    count = 0
    for key, path in files:
        read = read_series(path, key)
        series.append(read)
        inputs.append(read.source)
        warnings += read.warnings
        count += len(read.value)
        if count > MAX_VALUES:
            raise InputError(f"more than {MAX_VALUES:,} values, the most that are read", path=place(directory))
    return TrackedRun(
        run_id=_run_id(meta, directory),
        name=tags.get(NAME_TAG) or meta.get("run_name") or meta.get("name", ""),
        status=_STATUS.get(meta.get("status", ""), meta.get("status", "")),
        source=tags.get(SOURCE_TAG) or meta.get("source_name", ""),
        params=params,
        values=without_system(_merge(series)),
        inputs=tuple(inputs),
        warnings=tuple(warnings),
    )


def _merge(series: Sequence[Series]) -> Values:
    names = [one.key for one in series]
    key = np.repeat(np.arange(len(series)), [len(one.time) for one in series])
    if not len(key):
        return Values(names, key, key, np.empty(0))
    time, step = np.concatenate([one.time for one in series]), np.concatenate([one.step for one in series])
    order = np.lexsort((step, time))
    return Values(names, key[order], step[order], np.concatenate([one.value for one in series])[order])


def _run_id(meta: Mapping[str, str], directory: Path) -> str:
    return meta.get("run_id") or meta.get("run_uuid") or clean(directory.name)


def _meta(directory: Path, inputs: list[InputFile]) -> dict[str, str]:
    return parse_meta(_text(directory / META, inputs))


def _texts(directory: Path, names: Sequence[str], inputs: list[InputFile]) -> dict[str, str]:
    found = {name: _text(directory / name, inputs) for name in names}
    return {name: text for name, text in found.items() if text}


def _text(path: Path, inputs: list[InputFile]) -> str:
    return "" if path.is_symlink() else side_text(path, inputs, _SMALL).strip()


def _entries(directory: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as scan:
            return list(scan)
    except OSError as error:
        raise unreadable(directory, error) from error


def _refuse_link(entry: os.DirEntry[str], directory: Path) -> None:
    if not entry.is_symlink():
        return
    target = os.path.realpath(entry.path)
    if entry.is_dir() or not Path(target).is_relative_to(os.path.realpath(directory)):
        raise InputError(f"{shown(entry.name)} is a link out of the run", path=place(directory))
