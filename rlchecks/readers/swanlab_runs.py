"""Where SwanLab keeps runs: a directory for each start, ``run-<date>_<time>-<id>``, in a folder ``swanlog``."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import NamedTuple

from rlchecks.errors import InputError
from rlchecks.readers.files import side_text
from rlchecks.readers.settings import NAMES, Settings, settings
from rlchecks.readers.swanlab_board import DATABASE, LOGS
from rlchecks.readers.text import clean, place
from rlchecks.run import InputFile

SUFFIX = ".swanlab"
"""Extension of the logs and of the database."""

DIRECTORY = re.compile(r"run-\d{8}_\d{6}-(.+)")
"""Names of the directories of runs."""

_LOG = re.compile(r"run-.+\.swanlab|backup\.swanlab")
# Settings and a list of what the machine is are far smaller.
_VALUE = re.compile(r" +value: +(.+)")


class SwanRun(NamedTuple):
    """One run.

    Attributes:
        part: its id.
        logs: its logs of records, or the directories that local mode wrote, in the order in which they were begun.
        database: local mode's database; None for logs of records.
    """

    part: str
    logs: tuple[Path, ...]
    database: Path | None = None

    @property
    def directories(self) -> list[Path]:
        """Its directories, in the same order."""
        return list(self.logs) if self.database else [log.parent for log in self.logs]


class Around(NamedTuple):
    """What the files beside a log tell."""

    facts: dict[str, str]
    settings: Settings
    inputs: tuple[InputFile, ...]


def swanlab_runs(path: Path) -> list[SwanRun]:
    """List the runs in a folder or in a run's directory; or the one of a log; or those of a database.

    Raises:
        InputError: a directory cannot be listed.
    """
    if path.is_file() and path.name != DATABASE:
        found = DIRECTORY.fullmatch(path.absolute().parent.name)
        return [SwanRun(clean(found[1] if found else path.stem.removeprefix("run-")), (path,))]
    folder = path if path.is_dir() else path.absolute().parent
    by_id: dict[str, list[Path]] = {}
    boards: dict[str, list[Path]] = {}
    for directory in _run_directories(folder):
        logs = [directory / name for name in _names(directory) if _LOG.fullmatch(name)]
        one = clean(directory.absolute().name.split("-", 2)[2])
        if logs and path.is_dir():
            by_id.setdefault(one, []).extend(logs)
        elif not logs and (directory / LOGS).is_dir() and (directory.absolute().parent / DATABASE).is_file():
            boards.setdefault(one, []).append(directory)
    local = [SwanRun(one, tuple(found), found[0].absolute().parent / DATABASE) for one, found in boards.items()]
    return [*(SwanRun(one, tuple(logs)) for one, logs in by_id.items()), *local]


def settings_beside(directory: Path) -> list[Path]:
    """List the files that :func:`look_beside` reads, there or not."""
    return [directory / "files" / name for name in ("config.yaml", "swanlab-metadata.json")]


def look_beside(directory: Path) -> Around:
    """Read the settings and the version of SwanLab from ``files`` in a run's directory, if they are there."""
    inputs: list[InputFile] = []
    config_file, metadata_file = settings_beside(directory)
    config: dict[str, object] = dict(_config(side_text(config_file, inputs)))
    try:
        metadata = json.loads(side_text(metadata_file, inputs) or "{}")
    except (ValueError, RecursionError):
        metadata = {}
    section = metadata.get("swanlab") if isinstance(metadata, dict) else None
    version = section.get("version") if isinstance(section, dict) else None
    facts = {"swanlab_version": clean(version)} if isinstance(version, str) else {}
    return Around(facts, settings(config), tuple(inputs))


def _config(text: str) -> dict[str, str]:
    """Read the settings that are used out of ``config.yaml``, which has three indented lines for each."""
    found: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        if line[:1] not in (" ", ""):
            name = line.rstrip().removesuffix(":")
        elif name in NAMES and (value := _VALUE.fullmatch(line.rstrip())):
            found.setdefault(name, value[1].strip("'\""))
    return {name: value for name, value in found.items() if value not in ("null", "~")}


def _run_directories(path: Path) -> list[Path]:
    if DIRECTORY.fullmatch(path.absolute().name):
        return [path]
    named = [path / name for name in _names(path) if DIRECTORY.fullmatch(name)]
    return [directory for directory in named if directory.is_dir() and not directory.is_symlink()]


def _names(directory: Path) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except OSError as error:
        raise InputError(f"cannot be listed ({error.strerror})", path=place(directory)) from error
