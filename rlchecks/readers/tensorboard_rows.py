"""Scalars of event files to rows: TensorBoard keeps each series by itself, a row has all of a step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rlchecks.readers.rows import Rows
from rlchecks.readers.steps import MAX_STEP
from rlchecks.readers.tensorboard_scalars import EventFile
from rlchecks.readers.text import counted, shown

STEP = "step"
"""Key under which rows have the step of their events."""


def to_rows(files: Sequence[EventFile]) -> tuple[Rows, tuple[str, ...]]:
    """Make rows of the scalars of one run, and say what was left out.

    Neighbouring scalars of one step are a row; a series that comes again begins another one. What is logged about a
    step later, or in another file, joins its row if that has none of its series yet: several writers may log at once.
    What repeats a step, as a resumed run does, is a row of its own.

    Args:
        files: the event files in the order in which they were begun.

    Raises:
        InputError: as :meth:`rlchecks.readers.rows.Rows.append`.
    """
    names: dict[str, int] = {}
    place_of = [np.array([names.setdefault(name, len(names)) for name in file.names], np.int64) for file in files]
    keys = np.concatenate([places[file.keys] for places, file in zip(place_of, files, strict=True)])
    steps = np.concatenate([file.steps for file in files])
    values = np.concatenate([file.values for file in files])
    file_of = np.repeat(np.arange(len(files), dtype=np.int32), [len(file.steps) for file in files])
    warnings: tuple[str, ...] = ()
    if STEP in names:
        place = names.pop(STEP)
        own = keys == place
        if not np.array_equal(values[own], steps[own]):
            warnings = (f"the series {shown(STEP)} differs from the step of its events: left out",)
        steps, values, file_of, keys = steps[~own], values[~own], file_of[~own], keys[~own]
        keys -= keys > place
    usable = (steps >= 0) & (steps <= MAX_STEP)
    if usable.any() and not usable.all():
        first = int(steps[~usable][0])
        warnings += (f"{counted(int((~usable).sum()), 'scalar')} of a step that is none (first: {first}) left out",)
        steps, values, file_of, keys = steps[usable], values[usable], file_of[usable], keys[usable]
    if not len(steps):
        return Rows(), warnings
    begins = (np.diff(steps, prepend=0) != 0) | (np.diff(file_of, prepend=0) != 0)
    begins[:1] = True
    _divide(begins, keys)
    at = np.cumsum(begins) - 1
    row_steps = steps[begins]
    row_of = _join(row_steps, at, keys)
    if row_of is not None:
        kept = np.unique(row_of)
        at, row_steps = np.searchsorted(kept, row_of)[at], row_steps[kept]
    return Rows.of_values(STEP, row_steps, list(names), at, keys, values), warnings


def _divide(begins: NDArray[np.bool_], keys: NDArray[np.int64]) -> None:
    """Let another row begin where a series comes again in a row."""
    at = np.cumsum(begins)
    # 16 bits, for which NumPy has a sort in linear time.
    narrow = np.uint16 if keys.max(initial=0) < 1 << 16 else np.int64
    order = np.argsort(keys.astype(narrow), kind="stable")
    again = (np.diff(keys[order]) == 0) & (np.diff(at[order]) == 0)
    for row in np.unique(at[order[1:][again]]).tolist():
        start, end = np.searchsorted(at, (row, row + 1))
        seen: set[int] = set()
        for place, key in enumerate(keys[start:end].tolist(), int(start)):
            if key in seen:
                begins[place] = True
                seen.clear()
            seen.add(key)


def _join(steps: NDArray[np.int64], at: NDArray[np.int64], keys: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Say which row each row joins, itself or an earlier one; None if there are no two rows of one step.

    Args:
        steps: the step of each row.
        at: row of each value, ascending.
        keys: its series.
    """
    if (np.diff(steps) > 0).all():
        return None
    _, group, counts = np.unique(steps, return_inverse=True, return_counts=True)
    shared = np.flatnonzero(counts[group] > 1)
    ends = np.searchsorted(at, shared, side="right").tolist()
    row_of = np.arange(len(steps))
    latest: dict[int, tuple[int, set[int]]] = {}
    for row, start, end in zip(shared.tolist(), np.searchsorted(at, shared).tolist(), ends, strict=True):
        series = set(keys[start:end].tolist())
        known = latest.get(int(steps[row]))
        if known is not None and known[1].isdisjoint(series):
            row_of[row] = known[0]
            known[1].update(series)
        else:
            latest[int(steps[row])] = row, series
    return row_of
