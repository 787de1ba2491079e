"""The training metrics in a closing row: those of the last steps, which the trainer flushes into it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rlchecks.readers.splits import Division, Way
from rlchecks.readers.steps import NO_STEP

_Ints = NDArray[np.int64]


def flush(division: Division, steps: _Ints) -> tuple[_Ints, _Ints]:
    """Decide where the training metrics of closing rows belong, and mark their rows in ``division.ways``.

    They complete the row of their step, or make one if it was not logged. What they say about values that were logged
    already stays in the summary.

    Args:
        division: the log.
        steps: the step of each row.

    Returns:
        The training rows and the summary rows, each in the order in which they count.
    """
    known = steps != NO_STEP
    train = np.flatnonzero(division.train & known)
    closing = np.flatnonzero(division.closing & known)
    summary = division.summary & known
    if not len(closing):
        return train, np.flatnonzero(summary)
    place = _last_place(steps[train], steps[closing])
    division.ways[closing] = Way.FLUSHED
    clash = _clash(division, train, closing, place, steps)
    division.ways[closing[clash]] = Way.CLOSING
    summary[closing[clash]] = True
    # A closing row counts right after the row that it completes.
    order = np.argsort(np.concatenate([np.arange(len(train)), place[~clash]]), kind="stable")
    return np.concatenate([train, closing[~clash]])[order], np.flatnonzero(summary)


def _last_place(steps: _Ints, wanted: _Ints) -> _Ints:
    """Find where each wanted step stands for the last time; ``len(steps)`` if nowhere."""
    order = np.argsort(steps, kind="stable")
    found = np.searchsorted(steps[order], wanted, side="right") - 1
    # What is not found below the first one takes the last entry.
    here = np.append(steps[order], NO_STEP)[found] == wanted
    return np.where(here, np.append(order, len(steps))[found], len(steps))


def _clash(division: Division, train: _Ints, closing: _Ints, place: _Ints, steps: _Ints) -> NDArray[np.bool_]:
    """Tell which closing rows have a value that the stay at their step has, or that one before it adds."""
    stay = np.append(np.cumsum(np.diff(steps[train], prepend=NO_STEP) != 0), 0)
    number = np.full(len(steps), len(train))
    number[train] = np.arange(len(train))
    own = np.full(len(steps), -1)
    own[closing] = np.arange(len(closing))
    clash = np.zeros(len(closing), dtype=np.bool_)
    for at in division.metrics("train"):
        taken = np.zeros(len(train) + 1, dtype=np.bool_)
        taken[stay[number[at]]] = True
        mine = own[at][own[at] >= 0]
        stays = stay[place[mine]]
        first = np.zeros(len(mine), dtype=np.bool_)
        first[np.unique(stays, return_index=True)[1]] = True
        clash[mine] |= (stays > 0) & (taken[stays] | ~first)
    return clash
