"""A metric file of MLflow's file store.

A line for each value: time in milliseconds, value, step; before 1.0 no step; of a value that was measured on a data
set also the set's name and digest. MLflow itself takes the step of the last form for 0. Source:
mlflow/store/tracking/file_store.py of mlflow/mlflow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlchecks.errors import InputError
from rlchecks.readers.files import regular_size
from rlchecks.readers.stream import Line, Stream
from rlchecks.readers.text import clean, counted, place, shown
from rlchecks.run import InputFile

# Fields of a line.
_OLD, _USUAL, _MEASURED = 2, 3, 5
_DAMAGED = 0
_FORMS = (_OLD, _USUAL, _MEASURED)
_AT_A_TIME = 10_000
_LONGEST = 4096
_MAX_INTEGER = 2**63

_Ints = NDArray[np.int64]


class Series(NamedTuple):
    """The values of a metric in the order of logging.

    Attributes:
        key: the logged key.
        time: milliseconds since 1970.
        step: 0 where there is none.
        value: the values.
        source: what was read.
        warnings: what was noticed.
    """

    key: str
    time: _Ints
    step: _Ints
    value: NDArray[np.float64]
    source: InputFile
    warnings: tuple[str, ...]


class _Block(NamedTuple):
    """Some lines; ``form`` is the number of fields that each has, or :data:`_DAMAGED`."""

    time: _Ints
    value: NDArray[np.float64]
    step: _Ints
    form: _Ints


def read_series(path: Path, key: str) -> Series:
    """Read a metric file; damaged lines are left out and counted.

    Args:
        path: the file.
        key: the logged key.

    Raises:
        InputError: the file cannot be read, or no line of it.
    """
    if not regular_size(path):
        nothing = np.empty(0, np.int64)
        source = InputFile(clean(str(path)), sha256().hexdigest(), 0)
        return Series(key, nothing, nothing, np.empty(0), source, (f"{shown(key)}: the file is empty",))
    stream = Stream(path)
    warnings: list[str] = []
    # One line of each form, for the message about it.
    seen: dict[int, Line] = {}
    blocks = list(_blocks(stream, key, seen, warnings))
    parts = [np.concatenate([block[field] for block in blocks] or [np.empty(0, np.int64)]) for field in range(4)]
    time, value, step, form = parts
    counts = [int(np.sum(form == one)) for one in _FORMS]
    # MLflow appends whole lines, so that a shorter line among longer ones is damaged, whatever it seems to say.
    accepted = (_OLD,) if counts[0] > sum(counts[1:]) else (_USUAL, _MEASURED)
    kept = np.isin(form, accepted)
    if lost := int(len(kept) - kept.sum()):
        first = min((line for one, line in seen.items() if one not in accepted), key=lambda line: line.number)
        where = f"line {first.number}"
        what = shown(first.data.decode("utf-8", "backslashreplace"), 40)
        if not kept.any():
            raise InputError(f"{what}, expected time, value and step", path=place(path), where=where)
        warnings.append(f"{shown(key)}: {counted(lost, 'line')} damaged (first: {where}, {what}): left out")
    numbers = value[kept].astype(np.float64)
    return Series(key, time[kept], step[kept], numbers, stream.source, tuple(warnings))


def _blocks(stream: Stream, key: str, seen: dict[int, Line], warnings: list[str]) -> Iterator[_Block]:
    lines = stream.lines(_LONGEST)
    while some := list(islice(lines, _AT_A_TIME)):
        if not some[-1].ended:
            line = some.pop()
            warnings.append(f"{shown(key)}: line {line.number} was not written to its end: left out")
        rows = [line.data.split(b" ") for line in some]
        block = _usual(rows) or _any([line.data.split() if line.whole else [] for line in some])
        for form in set(block.form.tolist()) - seen.keys():
            seen[form] = some[int(np.argmax(block.form == form))]
        yield block


def _usual(rows: Sequence[Sequence[bytes]]) -> _Block | None:
    """Parse lines of three fields at once; None if some line is another."""
    if set(map(len, rows)) != {_USUAL}:
        return None
    time, value, step = zip(*rows, strict=True)
    try:
        times, steps = (np.array(list(map(int, column)), np.int64) for column in (time, step))
        return _Block(times, np.array(list(map(float, value))), steps, np.full(len(rows), _USUAL))
    except (ValueError, OverflowError):
        return None


def _any(rows: Sequence[Sequence[bytes]]) -> _Block:
    parsed = [_parse(row) or (0, 0.0, 0, _DAMAGED) for row in rows]
    time, value, step, form = zip(*parsed, strict=True) if parsed else ((), (), (), ())
    return _Block(np.array(time, np.int64), np.array(value, np.float64), np.array(step, np.int64), np.array(form, int))


def _parse(fields: Sequence[bytes]) -> tuple[int, float, int, int] | None:
    if len(fields) not in _FORMS:
        return None
    try:
        time, value, step = int(fields[0]), float(fields[1]), int(fields[2]) if len(fields) > _OLD else 0
    except ValueError:
        return None
    return (time, value, step, len(fields)) if max(abs(time), abs(step)) < _MAX_INTEGER else None
