"""Which event files are one run.

All event files of a directory are one run. transformers and torch make a directory for each start of a process, named
after time and machine (``datetime.now().strftime("%b%d_%H-%M-%S") + "_" + socket.gethostname()``), so that a run that
was resumed has several. Sources: default_logdir in src/transformers/training_args.py of huggingface/transformers,
SummaryWriter in torch/utils/tensorboard/writer.py of pytorch/pytorch. The number in the name of an event file is the
second in which it was begun (tensorboard/summary/writer/event_file_writer.py of tensorflow/tensorboard).
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rlchecks.errors import InputError, NotARunError
from rlchecks.readers.aliases import recognise
from rlchecks.readers.attempts import Attempt, interval_of, join
from rlchecks.readers.files import read_head, stamp
from rlchecks.readers.several import read_all
from rlchecks.readers.steps import MAX_STEP
from rlchecks.readers.tensorboard_scalars import EventFile, read_scalars
from rlchecks.readers.text import clean, place

PREFIX = "events.out.tfevents."
"""What the names of event files begin with."""

TEXTS = frozenset({"args/text_summary", "model_config/text_summary"})
"""Texts that transformers writes at a start: the training arguments and the model's configuration, as JSON."""

START = re.compile(r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\d\d_\d\d-\d\d-\d\d_.+")
"""Names of the directories of single starts."""

_BEGUN = re.compile(re.escape(PREFIX) + r"(\d{9,11})(?:\.|$)")
# What add_hparams of torch makes: a directory named after the time, with an event file of its own.
_SETTINGS = re.compile(r"\d{9,11}\.\d+")
_OF_SETTINGS = b"_hparams_/"
_MOST_REMEMBERED = 4096


class Start(NamedTuple):
    """The event files of one directory, in the order in which they were begun, and what was wrong with them."""

    files: tuple[EventFile, ...]
    warnings: tuple[str, ...]


class Glance(NamedTuple):
    """What is remembered of event files.

    Attributes:
        attempt: the training steps they hold; None if they hold none.
        names: the names of all series.
        fault: why they cannot be read; None if they can.
    """

    attempt: Attempt | None
    names: frozenset[str]
    fault: str | None = None


class TensorBoardRun(NamedTuple):
    """The directories, or the event file, of one run.

    Attributes:
        part: name of its first directory.
        places: in the order in which they were begun.
    """

    part: str
    places: tuple[Path, ...]


Read = Callable[[Path], Start]

_glances: dict[tuple[tuple[Path, int, int], ...], Glance] = {}


def event_files(directory: Path) -> list[Path]:
    """List the event files directly in a directory, the oldest first.

    Raises:
        InputError: the directory cannot be listed.
    """
    return sorted((path for path in _entries(directory) if path.name.startswith(PREFIX) and path.is_file()), key=_begun)


def start_directories(directory: Path) -> list[Path]:
    """List the directories of single starts in a directory that holds at least two and no other directories.

    Raises:
        InputError: a directory cannot be listed.
    """
    inside = [path for path in _entries(directory) if path.is_dir()]
    if len(inside) < 2 or not all(START.fullmatch(path.name) and not path.is_symlink() for path in inside):
        return []
    files = {path: event_files(path) for path in inside}
    if not all(files.values()):
        return []
    return sorted(inside, key=lambda path: (_begun(files[path][0]), path))


def holds_settings(directory: Path) -> bool:
    """Whether a directory is one that ``add_hparams`` made inside a run's."""
    if not _SETTINGS.fullmatch(directory.name) or not event_files(directory.parent):
        return False
    return all(_OF_SETTINGS in read_head(path) for path in event_files(directory))


def read_place(path: Path) -> Start:
    """Read an event file, or all of a directory.

    Raises:
        InputError: none of them can be read.
    """
    paths = event_files(path) if path.is_dir() else [path]
    files, warnings = read_all(paths, lambda one: read_scalars(one, TEXTS))
    files.sort(key=lambda file: (min(_begun(file.path)[0], file.begun or math.inf) // 1, file.begun))
    return Start(tuple(files), tuple(warnings))


def runs_in(directory: Path, read: Read) -> tuple[list[TensorBoardRun], tuple[str, ...]]:
    """Group the starts in a directory to runs, in the order in which these were begun, and say what was left out.

    Args:
        directory: one with :func:`start_directories`.
        read: reads one of these; is not asked about those whose steps are known from before.

    Raises:
        NotARunError: none of the starts logged anything.
    """
    starts = start_directories(directory)
    glances = {start: glance(start, read) for start in starts}
    attempts = {start: seen.attempt for start, seen in glances.items() if seen.attempt is not None}
    faults = tuple(f"{clean(start.name)} passed over: {seen.fault}" for start, seen in glances.items() if seen.fault)
    if not attempts:
        problem = "; ".join([f"{len(starts)} starts, none of which logged scalars", *faults])
        raise NotARunError(problem, path=place(directory))
    found = list(attempts)
    groups = [tuple(found[position] for position in group) for group in join(list(attempts.values()))]
    return [TensorBoardRun(clean(group[0].name), group) for group in groups], faults


def glance(where: Path, read: Read) -> Glance:
    """Tell which training steps an event file or a directory of them holds; it is read only if it has changed.

    Raises:
        InputError: the directory cannot be listed.
    """
    stamps = tuple((path, *stamp(path)) for path in (event_files(where) if where.is_dir() else [where]))
    if stamps not in _glances:
        if len(_glances) >= _MOST_REMEMBERED:
            _glances.clear()
        try:
            files = read(where).files
            _glances[stamps] = Glance(attempt_of(files), frozenset(name for file in files for name in file.names))
        except InputError as error:
            _glances[stamps] = Glance(None, frozenset(), error.problem)
    return _glances[stamps]


def attempt_of(files: Sequence[EventFile]) -> Attempt | None:
    """Tell which training steps event files hold; None if they hold none."""
    names = frozenset(name for file in files for name in file.names)
    framework = recognise(names, "table")
    first, last, two = MAX_STEP + 1, -1, set[int]()
    for file in files:
        trains = [not framework.is_eval(name) for name in file.names]
        usable = (file.steps >= 0) & (file.steps <= MAX_STEP)
        steps = file.steps[usable & np.array(trains, dtype=np.bool_)[file.keys]] if trains else file.steps
        if len(steps):
            first, last = min(first, int(steps.min())), max(last, int(steps.max()))
            two = set(sorted(two | set(np.unique(steps)[:2].tolist()))[:2])
    return Attempt(first, last, names, interval_of(two)) if last >= 0 else None


def _begun(path: Path) -> tuple[float, str]:
    found = _BEGUN.match(path.name)
    return (int(found[1]) if found else math.inf), path.name


def _entries(directory: Path) -> list[Path]:
    """List what is in a directory and not hidden."""
    try:
        return sorted(directory / name for name in os.listdir(directory) if not name.startswith("."))
    except OSError as error:
        raise InputError(f"cannot be listed ({error.strerror})", path=place(directory)) from error
