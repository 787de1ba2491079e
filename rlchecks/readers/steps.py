"""The steps of logged rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlchecks.readers.rows import Row as Row
from rlchecks.readers.rows import Rows
from rlchecks.readers.text import counted, listing, shown
from rlchecks.readers.values import doubles

MAX_STEP = 10**12
"""Largest step that is believed: no run has more, while counters of tokens or nanoseconds do."""

NO_STEP = -1
"""Stands for the step of a row that has none."""


# Counters of one run differ by one where a part of a step is still to come.
_FASTER = 1.8


class Numbered(NamedTuple):
    """The step of each logged row.

    Attributes:
        keys: the counters that were used.
        steps: int64; :data:`NO_STEP` for rows that have to be left out.
        warnings: what to tell about it.
    """

    keys: tuple[str, ...]
    steps: NDArray[np.int64]
    warnings: list[str]


def number(rows: Rows, keys: Sequence[str], metrics: NDArray[np.bool_], *, each_row: bool = False) -> Numbered:
    """Give each row its step.

    The step comes from the best key that is logged; one that never moves yields to one that does. Without any such
    key the number of the row counts. A row that lacks it gets its own number if that fits between its neighbours,
    and is left out otherwise; rows without training metrics take the step before them.

    Args:
        rows: logged rows, in the order of the log.
        keys: keys of step counters, best first.
        metrics: which rows hold training metrics.
        each_row: the best key of each row counts, since rows of several kinds have counters of their own.
    """
    used, steps = (_counter_of_each if each_row else _best_counter)(rows, keys)
    if not used:
        return Numbered((), np.cumsum(metrics), [f"{_without_steps(rows, keys)}: rows are numbered"])
    warnings = _paces(rows, used) if each_row else []
    unusable = np.flatnonzero((steps == NO_STEP) & metrics)
    steps = _filled(steps, metrics)
    if len(unusable):
        first = int(unusable[0])
        row = rows[first]
        value = next((row[key] for key in used if row.get(key) is not None), None)
        seen = "none" if value is None else shown(str(value))
        lost = int(np.sum(steps[unusable] == NO_STEP))
        fate = f"{lost} of them left out" if lost else "the number of the row is used"
        place = f"first: row {first + 1}, {seen}"
        counters = " or ".join(map(shown, used))
        warnings.append(f"{counted(len(unusable), 'row')} without a usable {counters} ({place}): {fate}")
    return Numbered(used, steps, warnings)


def _best_counter(rows: Rows, keys: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    first: tuple[tuple[str, ...], NDArray[np.int64]] = (), np.empty(0, dtype=np.int64)
    for key in keys:
        steps = _counts(rows, key)
        usable = steps[steps != NO_STEP]
        if len(usable) and usable.min() < usable.max():
            return (key,), steps
        if len(usable) and not first[0]:
            first = (key,), steps
    return first


def _counter_of_each(rows: Rows, keys: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    steps = np.full(len(rows), NO_STEP, dtype=np.int64)
    used = []
    for key in keys:
        counts = _counts(rows, key)
        both = (steps != NO_STEP) & (counts != NO_STEP)
        if (steps[both] != counts[both]).any():
            # It counts something else, as a tracker's own counter does.
            continue
        taken = (steps == NO_STEP) & (counts != NO_STEP)
        if taken.any():
            steps[taken] = counts[taken]
            used.append(key)
    return tuple(used), steps


def _paces(rows: Rows, keys: Sequence[str]) -> list[str]:
    """Say which counters run more than once as fast as the first: several updates of the policy in a step of it."""
    first, *others = (int(_counts(rows, key).max()) + 1 for key in keys)
    return [
        f"{shown(key)} counts to {last}, {shown(keys[0])} to {first}: rows of one step may not belong together"
        for key, last in zip(keys[1:], others, strict=True)
        if last >= _FASTER * first and last - first > 1
    ]


def _counts(rows: Rows, key: str) -> NDArray[np.int64]:
    counts = np.full(len(rows), NO_STEP, dtype=np.int64)
    for cells in rows.column(key):
        numbers = doubles(cells).numbers
        usable = (numbers >= 0) & (numbers <= MAX_STEP) & (numbers == np.floor(numbers))
        counts[cells.at[usable]] = numbers[usable].astype(np.int64)
    return counts


def _without_steps(rows: Rows, keys: Sequence[str]) -> str:
    for key in keys:
        if len(at := rows.present(key)):
            index = int(at[0])
            first = f"first: row {index + 1}, {shown(str(rows[index][key]))}"
            expected = f"expected whole numbers from 0 to {MAX_STEP:,}"
            return f"no row has a usable {shown(key)} ({first}; {expected})"
    return f"no row has a step ({listing(keys, 4)})"


def _filled(steps: NDArray[np.int64], metrics: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Give the rows without a step their number, where it fits, or the step before them."""
    if not (steps == NO_STEP).any():
        return steps
    numbers = np.cumsum(metrics)
    before = _last(steps, 0)
    after = _last(steps[::-1], MAX_STEP)[::-1]
    fits = (steps == NO_STEP) & metrics & (before < numbers) & (numbers < after)
    filled = np.where(fits, numbers, steps)
    return np.where((filled == NO_STEP) & ~metrics, _last(filled, 0), filled)


def _last(steps: NDArray[np.int64], start: int) -> NDArray[np.int64]:
    """Carry each step on to the rows after it that have none."""
    known = np.maximum.accumulate(np.where(steps == NO_STEP, -1, np.arange(len(steps))))
    return np.where(known < 0, start, steps[known])
