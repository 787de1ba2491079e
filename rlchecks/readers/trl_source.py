"""Where a TRL run keeps its log: which ``trainer_state.json`` of an output directory is read."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rlchecks.errors import InputError, NotARunError
from rlchecks.readers.fingerprint import SETTLED_NS, mark_of
from rlchecks.readers.json_document import JsonDocument
from rlchecks.readers.rows import Rows
from rlchecks.readers.steps import MAX_STEP
from rlchecks.readers.text import listing, place
from rlchecks.readers.trl_prefix import is_beginning
from rlchecks.readers.values import to_count
from rlchecks.run import InputFile

STATE = "trainer_state.json"
"""The file into which transformers writes everything that was logged, at each checkpoint and perhaps at the end."""

_CHECKPOINT = re.compile(r"checkpoint-(\d{1,12})")
_TODO = f"name the {STATE} that is meant, or move the directories of other attempts away"


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
    """Read the state of an output directory that has the whole run: the one at the top, unless a checkpoint goes on.

    States of one run begin with each other's rows. What does not is of another attempt in the same directory. The
    state at the top then stands for the run, and a warning names the others; but if one of those was written after
    it, or there is none at the top, nothing tells which attempt is meant.

    Raises:
        InputError: none of the states can be read, or they are of different attempts.
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
            return _with_top(state, files[position + 1 :])
        planned = to_count(state.fields.get("max_steps"), MAX_STEP)
        progress = f"; {state.step} of {planned} planned steps" if planned else ""
        above = "none at the top can be read" if files[0][0] is None else f"no {STATE} at the top"
        warnings.append(f"read from checkpoint-{number}: {above}{progress}")
        others = _compared(state, files[position + 1 :]).others
        if others:
            told = f"checkpoint-{number} does not continue {listing(other.parent.name for other in others)}"
            raise InputError(f"the checkpoints are of different attempts: {told}", path=place(directory), todo=_TODO)
        return Choice(state, (state.source,), (*warnings, *state.warnings))
    raise failure or NotARunError(f"no {STATE} in it", path=place(directory))


class _Compared(NamedTuple):
    """Checkpoints beside a state: the last one that goes on, those of other attempts, and what to tell."""

    later: State | None
    others: list[Path]
    warnings: list[str]


def _with_top(top: State, checkpoints: Sequence[tuple[int | None, Path]]) -> Choice:
    later, others, warnings = _compared(top, checkpoints)
    written = mark_of((later or top).path).newest
    newer = [path.parent.name for path in others if mark_of(path).newest > written + SETTLED_NS]
    if newer:
        problem = f"{listing(newer)} does not continue the {STATE} at the top and was written after it"
        raise InputError(f"{problem}, so it is of another attempt", path=place(top.path.parent), todo=_TODO)
    if others:
        names = listing(path.parent.name for path in others)
        warnings.append(f"{names} was passed over: it does not fit the {STATE} at the top, so it is of another attempt")
    if later is None:
        return Choice(top, (top.source,), (*top.warnings, *warnings))
    told = f"read from {later.path.parent.name}: the {STATE} at the top ends at step {top.step}"
    return Choice(later, (later.source, top.source), (*later.warnings, told, *warnings))


def _compared(state: State, checkpoints: Sequence[tuple[int | None, Path]]) -> _Compared:
    """Compare a state with checkpoints, the latest first."""
    later: State | None = None
    others: list[Path] = []
    warnings: list[str] = []
    for number, path in checkpoints:
        longest = later or state
        if is_beginning(path, longest.path):
            continue
        try:
            one = load_state(path)
        except InputError as error:
            # What ends earlier says nothing new, and an empty log fits any other.
            if (number or 0) > state.step and not isinstance(error, NotARunError):
                warnings.append(f"{path.parent.name} was passed over: {error.problem}")
            continue
        if _continues(one.rows, longest.rows):
            continue
        if later is None and one.step > state.step and _continues(state.rows, one.rows):
            later = one
        else:
            others.append(path)
    return _Compared(later, others, warnings)


def _continues(earlier: Rows, later: Rows) -> bool:
    # A checkpoint is written before the closing row is logged. As text, since a NaN does not equal itself.
    one, other = ((json.dumps(row) for row in rows if "train_runtime" not in row) for rows in (earlier, later))
    return all(row == next(other, None) for row in one)
