"""TensorBoard: event files, the directories of runs, and directories of several starts."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path

from rlchecks.errors import InputError, NotARunError
from rlchecks.readers.aliases import recognise
from rlchecks.readers.assemble import Logged, assemble
from rlchecks.readers.files import read_head
from rlchecks.readers.identity import run_name
from rlchecks.readers.registry import ReadOptions, reader_of
from rlchecks.readers.settings import SINCE_0_27, settings
from rlchecks.readers.source import choose
from rlchecks.readers.tensorboard_records import is_event_file
from rlchecks.readers.tensorboard_rows import to_rows
from rlchecks.readers.tensorboard_runs import (
    PREFIX,
    START,
    Read,
    TensorBoardRun,
    event_files,
    glance,
    holds_settings,
    read_place,
    runs_in,
    start_directories,
)
from rlchecks.readers.tensorboard_scalars import EventFile, read_scalars
from rlchecks.readers.text import clean, place
from rlchecks.readers.trl_rules import apply
from rlchecks.readers.wanted_files import readers_for
from rlchecks.run import RunLog

_ARGUMENTS, _MODEL, _VERSION = "args/text_summary", "model_config/text_summary", "transformers_version"
_NOTHING = "event files without scalars"


class TensorBoardReader:
    """Reads the scalars of TensorBoard's event files, whoever wrote them."""

    name = "tensorboard"
    looks_for = f"an event file of TensorBoard ({PREFIX}*), or a directory with such files"

    def named(self, name: str) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`; a search finds the directories of event files instead."""
        return False

    def holds(self, names: Collection[str]) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return (
            any(name.startswith(PREFIX) for name in names)
            or sum(START.fullmatch(name) is not None for name in names) > 1
        )

    def detect(self, path: Path, head: bytes) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`.

        A directory with another log beside the event files counts only if these hold a reward, one of several starts
        only if there is no other log in it: they would hide it.
        """
        if not path.is_dir():
            return path.name.startswith(PREFIX) or is_event_file(head)
        files = event_files(path)
        if not files and not start_directories(path):
            return False
        others = [one for one in sorted(path.iterdir()) if not one.name.startswith((".", PREFIX)) and one.is_file()]
        return not any(map(_is_a_log, others)) or any(map(_is_rewarded, files))

    def files(self, path: Path) -> list[Path]:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return [file for one in (path, *start_directories(path)) for file in event_files(one)]

    def belongs(self, directory: Path) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`; a start belongs to the directory of several."""
        return holds_settings(directory) or directory in start_directories(directory.parent)

    def parts(self, path: Path) -> list[str]:
        """See :class:`rlchecks.readers.registry.Reader`; the first starts of the runs in a directory of several."""
        return [run.part for run in runs_in(path, read_place)[0]] if _holds_starts(path) else []

    def opening(self, path: Path, part: str | None = None) -> str | None:
        """See :class:`rlchecks.readers.registry.Reader`; the first row.

        Raises:
            InputError: none of the files can be read; NotARunError: there are no scalars in them.
        """
        failure: InputError = NotARunError(_NOTHING, path=place(path))
        for where in _choose(path, part, read_place)[0].places:
            for file in event_files(where) if where.is_dir() else [where]:
                try:
                    rows, _ = to_rows([read_scalars(file, beginning=True)])
                except InputError as error:
                    failure = error
                    continue
                if len(rows):
                    return json.dumps(rows[0], sort_keys=True)
        raise failure

    def read(self, path: Path, options: ReadOptions) -> RunLog:
        """See :class:`rlchecks.readers.registry.Reader`."""
        read = cache(read_place)
        run, name, warnings = _choose(path, options.part, read)
        starts = [read(where) for where in run.places]
        files = [file for start in starts for file in start.files]
        if not any(len(file.steps) for file in files):
            raise NotARunError(_NOTHING, path=place(path))
        rows, left_out = to_rows(files)
        known = recognise(rows.keys, "table")
        config = _config(files)
        told = settings(config)
        logged = Logged(
            path=path,
            name=name,
            framework=known,
            rows=rows,
            inputs=tuple(file.source for file in files),
            planned_steps=told.planned_steps,
            facts={**told.facts, **_attempts(run)},
            warnings=(*warnings, *(warning for start in starts for warning in start.warnings), *left_out),
        )
        # What is asked for is whether the version is that of the files of completions, or the one before, at least.
        return apply(assemble(logged, options), frozenset(rows.keys), logs_completions=SINCE_0_27 in config)


def _choose(path: Path, part: str | None, read: Read) -> tuple[TensorBoardRun, str, tuple[str, ...]]:
    """Find the run that is meant, its name, and what to tell about its neighbours."""
    if not _holds_starts(path):
        if part is not None:
            choose(path, [], part)
        return TensorBoardRun("", (path,)), run_name(path), ()
    runs, warnings = runs_in(path, read)
    names = [run.part for run in runs]
    position = names.index(choose(path, names, part))
    # The first one has the name that it had while it was the only one.
    return runs[position], run_name(path) + (f" {names[position]}" if position else ""), warnings


def _holds_starts(path: Path) -> bool:
    return path.is_dir() and not event_files(path) and bool(start_directories(path))


def _config(files: Sequence[EventFile]) -> dict[str, object]:
    """Read the settings that transformers wrote at the starts; the latest count."""
    config: dict[str, object] = {}
    for file in files:
        config |= _object(file.texts.get(_ARGUMENTS))
        config |= {key: value for key, value in _object(file.texts.get(_MODEL)).items() if key == _VERSION}
    return config


def _object(text: str | None) -> dict[str, object]:
    try:
        document = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _attempts(run: TensorBoardRun) -> dict[str, str]:
    names = [clean(where.name) for where in run.places]
    return {"attempts": f"{', '.join(names)} (inferred)"} if len(names) > 1 else {}


def _is_rewarded(where: Path) -> bool:
    names = glance(where, read_place).names
    known = recognise(names, "table")
    return any(map(known.is_reward, names))


def _is_a_log(path: Path) -> bool:
    """Whether another reader would read a file."""
    asked = readers_for(path.name)
    try:
        return bool(asked) and reader_of(path, read_head(path), asked) is not None
    except InputError:
        return False
