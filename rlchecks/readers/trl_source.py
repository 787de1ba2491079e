"""Where a TRL run keeps its log: which ``trainer_state.json`` of an output directory is read."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rlchecks.errors import InputError, NotARunError
from rlchecks.readers.json_document import JsonDocument
from rlchecks.readers.rows import Rows
from rlchecks.readers.steps import MAX_STEP
from rlchecks.readers.text import listing, place
from rlchecks.readers.values import to_count
from rlchecks.run import InputFile

STATE = "trainer_state.json"
"""The file into which transformers writes everything that was logged, at each checkpoint and perhaps at the end."""

_CHECKPOINT = re.compile(r"checkpoint-(\d{1,12})")


class State(NamedTuple):
    """A ``trainer_state.json``: its fields, its logged rows, and the record of having read it."""

    path: Path
    fields: dict[str, Any]
    rows: Rows
    source: InputFile
    warnings: tuple[str, ...]

    @property
    def step(self) -> int:
        """The optimiser step at which it was written, 0 if it does not say."""
        return to_count(self.fields.get("global_step"), MAX_STEP) or 0


class Choice(NamedTuple):
    """The state to read for a run, all files that were read to find it, and what to tell about it."""

    state: State
    inputs: tuple[InputFile, ...]
    warnings: tuple[str, ...]


def is_checkpoint(name: str) -> bool:
    """Whether a directory of this name is a checkpoint."""
    return _CHECKPOINT.fullmatch(name) is not None


def state_files(directory: Path) -> list[tuple[int | None, Path]]:
    """List the states of an output directory: the one at the top (None), then checkpoints, the latest first.

    Raises:
        InputError: the directory cannot be listed.
    """
    try:
        numbered = [
            (int(found[1]), entry / STATE)
            for entry in directory.iterdir()
            if (found := _CHECKPOINT.fullmatch(entry.name)) and (entry / STATE).is_file()
        ]
        top = directory / STATE
        first: list[tuple[int | None, Path]] = [(None, top)] if top.is_file() else []
    except OSError as error:
        raise InputError(f"cannot be listed ({error.strerror})", path=place(directory)) from error
    return [*first, *sorted(numbered, reverse=True)]


def load_state(path: Path) -> State:
    """Read a ``trainer_state.json``.

    Raises:
        InputError: it cannot be read or a logged row is no object.
        NotARunError: it has no ``log_history``, or an empty one.
    """
    document = JsonDocument(path)
    name = place(path)
    if document.opens() not in ("{", ""):
        raise NotARunError("no object, expected one with log_history", path=name)
    fields: dict[str, Any] = {}
    rows: Rows | None = None
    for key in document.members():
        if key == "log_history" and document.opens() == "[":
            rows = document.rows(key, "an object of logged values")
        else:
            fields[key] = document.value()
    document.close()
    if rows is None:
        raise NotARunError(f"no list log_history (keys: {listing(sorted(fields))})", path=name)
    if not rows:
        raise NotARunError("log_history is empty: nothing was logged yet", path=name)
    return State(path, fields, rows, document.source, document.warnings)


def choose(directory: Path) -> Choice:
    """Read the best state of an output directory: the one at the top, unless a checkpoint continues it.

    Raises:
        InputError: none of the states can be read.
        NotARunError: as :func:`load_state`.
    """
    files = state_files(directory)
    warnings: list[str] = []
    failure: InputError | None = None
    for position, (number, path) in enumerate(files):
        try:
            state = load_state(path)
        except NotARunError:
            raise
        except InputError as error:
            failure = failure or error
            warnings.append(f"{path.relative_to(directory)} was passed over: {error.problem}")
            continue
        if number is None:
            return _newer(state, files[position + 1 :])
        planned = to_count(state.fields.get("max_steps"), MAX_STEP)
        progress = f"; {state.step} of {planned} planned steps" if planned else ""
        above = "none at the top can be read" if files[0][0] is None else f"no {STATE} at the top"
        warnings.append(f"read from checkpoint-{number}: {above}{progress}")
        return Choice(state, (state.source,), (*warnings, *state.warnings))
    raise failure or NotARunError(f"no {STATE} in it", path=place(directory))


def _newer(top: State, checkpoints: Sequence[tuple[int | None, Path]]) -> Choice:
    number, path = checkpoints[0] if checkpoints else (None, top.path)
    if number is None or number <= top.step:
        return Choice(top, (top.source,), top.warnings)
    label = f"checkpoint-{number}"
    try:
        later = load_state(path)
    except InputError as error:
        return Choice(top, (top.source,), (*top.warnings, f"{label} was passed over: {error.problem}"))
    inputs = (later.source, top.source)
    if _continues(top.rows, later.rows):
        told = f"read from {label}: the {STATE} at the top ends at step {top.step}"
        return Choice(later, inputs, (*later.warnings, told))
    told = f"{label} was passed over: it does not continue the {STATE} at the top, so it is of another attempt"
    return Choice(top, inputs, (*top.warnings, told))


def _continues(earlier: Rows, later: Rows) -> bool:
    # A checkpoint is written before the closing row is logged. As text, since a NaN does not equal itself.
    one, other = ((json.dumps(row) for row in rows if "train_runtime" not in row) for rows in (earlier, later))
    return all(row == next(other, None) for row in one)
