"""Which ``.wandb`` files are one run: each start of a process writes a file of its own, in a directory of its own.

The directory is ``run-<date>_<time>-<id>`` or, for what was logged offline, ``offline-run-...``, in a folder ``wandb``;
the file is ``run-<id>.wandb``. A run that is resumed by its id keeps it; one that is only trained further gets another.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from rlchecks.errors import InputError
from rlchecks.readers.aliases import recognise
from rlchecks.readers.assemble import keys_of
from rlchecks.readers.attempts import Attempt, interval_of, join
from rlchecks.readers.files import stamp
from rlchecks.readers.steps import MAX_STEP, Row
from rlchecks.readers.text import clean, place
from rlchecks.readers.values import to_count
from rlchecks.readers.wandb_history import STEP
from rlchecks.readers.wandb_records import KIN, read_log
from rlchecks.readers.wandb_rows import counter_of, framework_of

DIRECTORY = re.compile(r"(?:offline-)?run-\d{8}_\d{6}-.+")
"""Names of the directories of runs."""

SUFFIX = ".wandb"
"""Extension of the logs."""

_FILE = re.compile(r"run-(.+)\.wandb")
# Rows that are looked at to find the first with a reward.
_MOST_ROWS = 2000


class WandbRun(NamedTuple):
    """The logs of one run in the order in which they were begun.

    Attributes:
        part: the id of the first of them.
        files: the logs.
        inferred: the ids, if it was inferred from steps and settings that they are one run.
    """

    part: str
    files: tuple[Path, ...]
    inferred: tuple[str, ...] = ()


class Beginning(NamedTuple):
    """What the first rows of a log tell.

    Attributes:
        opening: the first row as text; None if there is none.
        step: the training step of the first row with a reward; None if only calls are counted.
        kin: what a continuation of the run would have in common with it; None if too little is known.
    """

    opening: str | None
    step: int | None
    kin: str | None


def log_files(path: Path) -> list[Path]:
    """List the logs of a run directory or of a folder of them, in the order of their directories' names.

    Raises:
        InputError: a directory cannot be listed.
    """
    if DIRECTORY.fullmatch(path.absolute().name):
        return _logs_in(path)
    try:
        with os.scandir(path) as entries:
            # Links are passed over: latest-run leads to one of the others.
            found = [one.name for one in entries if DIRECTORY.fullmatch(one.name) and one.is_dir(follow_symlinks=False)]
    except OSError as error:
        raise InputError(f"cannot be listed ({error.strerror})", path=place(path)) from error
    # Offline runs and others may stand side by side; the time is what orders them.
    found.sort(key=lambda name: (name.removeprefix("offline-"), name))
    return [file for name in found for file in _logs_in(path / name)]


def wandb_runs(path: Path) -> list[WandbRun]:
    """Group the logs of a run directory or of a folder of them to runs, in the order in which these were begun.

    Raises:
        InputError: a directory cannot be listed.
    """
    by_id: dict[str, list[Path]] = {}
    for file in log_files(path):
        by_id.setdefault(id_of(file), []).append(file)
    kin: dict[str, list[str]] = {}
    steps: dict[str, int | None] = {}
    for one, files in by_id.items():
        begun = _begun(files[0])
        steps[one] = begun.step
        kin.setdefault(begun.kin or f"only {one}", []).append(one)
    groups = [group for ids in kin.values() for group in _join(ids, [steps[one] for one in ids], by_id)]
    order = {one: position for position, one in enumerate(by_id)}
    groups.sort(key=lambda ids: order[ids[0]])
    return [
        WandbRun(ids[0], tuple(file for one in ids for file in by_id[one]), tuple(ids) if len(ids) > 1 else ())
        for ids in groups
    ]


def beginning(file: Path) -> Beginning:
    """Read the first rows of a log.

    Raises:
        InputError: the log cannot be read.
    """
    return _beginning(file, *stamp(file))


def id_of(file: Path) -> str:
    """Return the id that the name of a log holds."""
    found = _FILE.fullmatch(file.name)
    return clean(found[1] if found else file.stem)


def _begun(file: Path) -> Beginning:
    try:
        return beginning(file)
    except InputError:
        return Beginning(None, None, None)


def _join(ids: list[str], steps: list[int | None], by_id: Mapping[str, list[Path]]) -> list[list[str]]:
    known = [step for step in steps if step is not None]
    if len(ids) == 1 or len(known) < len(ids) or max(known) == min(known):
        # Nothing begins where something else may have ended.
        return [[one] for one in ids]
    attempts = [_attempt(tuple(by_id[one]), tuple(map(stamp, by_id[one]))) for one in ids]
    return [[ids[position] for position in group] for group in join(attempts)]


@lru_cache(maxsize=4096)
def _beginning(file: Path, size: int, modified: int) -> Beginning:
    rows: list[Row] = []

    def enough(row: Row) -> bool:
        rows.append(row)
        known = recognise(row, "table")
        return len(rows) >= _MOST_ROWS or any(known.is_reward(key) for key in row)

    log = read_log(file, enough)
    if not rows:
        return Beginning(None, None, None)
    framework = framework_of(rows[-1], {}, log.step_metric)
    counts = (to_count(rows[-1].get(key), MAX_STEP) for key in framework.step if key != STEP)
    step = next((count for count in counts if count is not None), None)
    settings = [log.config.get(key) for key in KIN]
    named = log.name or log.config.get("output_dir")
    kin = json.dumps([log.project, log.name, settings], default=str) if named else None
    return Beginning(json.dumps(rows[0], sort_keys=True, default=str), step, kin)


@lru_cache(maxsize=1024)
def _attempt(files: tuple[Path, ...], stamps: tuple[tuple[int, int], ...]) -> Attempt:
    """Read which training steps the logs of one id reach."""
    logs = [read_log(file) for file in files]
    legs = [log.rows for log in logs]
    keys = frozenset(key for rows in legs for key in keys_of(rows))
    framework = framework_of(keys, {}, logs[-1].step_metric)
    counter = counter_of(legs, framework)
    rows = (row for leg in legs for row in leg if any(framework.is_reward(key) for key in row))
    steps = [step for row in rows if (step := to_count(row.get(counter or STEP), MAX_STEP)) is not None]
    if counter in (None, STEP) or not steps:
        # Calls are counted from 0 in each log, so they tell nothing.
        return Attempt(0, 0, keys)
    return Attempt(min(steps), max(steps), keys, interval_of(steps))


def _logs_in(directory: Path) -> list[Path]:
    try:
        return [directory / name for name in sorted(os.listdir(directory)) if name.endswith(SUFFIX)]
    except OSError as error:
        raise InputError(f"cannot be listed ({error.strerror})", path=place(directory)) from error
