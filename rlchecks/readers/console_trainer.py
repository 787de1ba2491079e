"""Rows of Hugging Face's trainers, which are printed without their step: where runs begin, and what step each row is.

The epoch tells when a log goes back; progress bars beside the rows tell the step, if they agree with the epochs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from rlchecks.readers.console_rows import Entry

# An epoch may be rounded to two decimals.
_ROUNDED = 0.0051


ROW = "number of the row"
"""How a step is known that nothing tells."""


class Numbered(NamedTuple):
    """The steps of the rows of a run.

    Attributes:
        steps: the step of each row.
        how: how it was found, for a fact.
        planned: steps planned, if bars or rows tell them.
        estimated: whether some were only estimated.
    """

    steps: list[int]
    how: str
    planned: int | None
    estimated: bool


def without_doubles(entries: Sequence[Entry]) -> tuple[list[Entry], int]:
    """Leave out second prints, where a program prints each row twice.

    Returns:
        The rows, and how many were left out.
    """
    again = [number for number in range(1, len(entries)) if _doubles(entries[number - 1], entries[number])]
    # Rows of a training that stands still may all be equal; those that are printed twice are so in pairs.
    in_pairs = all(later - earlier > 1 for earlier, later in pairwise(again))
    if len(again) < 2 or len(again) < 0.4 * len(entries) or not in_pairs:
        return list(entries), 0
    left_out = set(again)
    return [entry for number, entry in enumerate(entries) if number not in left_out], len(again)


def split_trainer(entries: Sequence[Entry]) -> list[list[Entry]]:
    """Divide rows into runs; see :mod:`rlchecks.readers.console_runs`."""
    runs: list[list[Entry]] = []
    at: list[float] = _positions(entries)
    last, closed, first, interval = 0, False, 0.0, 0.0
    for number, entry in enumerate(entries):
        ahead = at[number] - at[last]
        if not runs:
            begins = True
        elif not entry.trains:
            # An evaluation before the first step may be the first row of a run; a closing row never is.
            begins = not entry.closes and ahead < 0 and at[number] <= first
        elif closed:
            begins = not 0 < ahead <= 1.5 * interval
        else:
            back = ahead < 0 or (ahead == 0 and _bar_went_back(entries[last], entry))
            begins = back and (at[number] <= max(first, 1.5 * interval) or _replanned(entries[last], entry))
        if begins:
            runs.append([])
            first, interval, closed = at[number], 0.0, False
        elif entry.trains and ahead > 0:
            interval = min(interval or ahead, ahead)
        runs[-1].append(entry)
        closed = entry.closes or (closed and not entry.trains)
        last = number
    return runs


def number(entries: Sequence[Entry]) -> Numbered:
    """Give each row of a run its step."""
    if all(entry.step is not None for entry in entries if entry.trains and not entry.closes):
        planned = next((entry.planned for entry in reversed(entries) if entry.planned), None)
        return Numbered(_filled([entry.step for entry in entries], entries), "", planned, False)
    return _by_bars(entries) or _by_epochs(entries)


def _positions(entries: Sequence[Entry]) -> list[float]:
    """Tell where in its run each row is: its step if all have one, else its epoch."""
    if any(entry.step is None for entry in entries if entry.trains and not entry.closes):
        return [entry.epoch for entry in entries]
    return [float(step) for step in _filled([entry.step for entry in entries], entries)]


def _filled(steps: Sequence[int | None], entries: Sequence[Entry]) -> list[int]:
    """Give rows without a step that of the row before; a closing row with metrics of its own comes one later."""
    filled: list[int] = []
    for step, entry in zip(steps, entries, strict=True):
        before = filled[-1] if filled else 0
        filled.append(before + (entry.trains and bool(filled)) if step is None else step)
    return filled


def _by_bars(entries: Sequence[Entry]) -> Numbered | None:
    training = [entry for entry in entries if entry.trains]
    totals = Counter(bar.total for entry in training for bar in entry.bars)
    if not totals:
        return None
    total = totals.most_common(1)[0][0]
    steps = [next((bar.done for bar in reversed(entry.bars) if bar.total == total), None) for entry in entries]
    of_training = [(step, entry.epoch) for step, entry in zip(steps, entries, strict=True) if entry.trains]
    if any(step is None or step > total for step, _ in of_training):
        return None
    known = [(step, epoch) for step, epoch in of_training if step is not None]
    for (step, epoch), (next_step, next_epoch) in pairwise(known):
        if (next_step > step) != (next_epoch >= epoch):
            return None
    most, latest = max(known)
    for step, epoch in known:
        share = step / most if most else 0.0
        if latest and abs(epoch - latest * share) > 0.01 * epoch + _ROUNDED * (1 + share):
            return None
    return Numbered(_filled(steps, entries), "progress bar", total, False)


def _by_epochs(entries: Sequence[Entry]) -> Numbered:
    """Count the rows; where the epochs go back, as after a resume, count on from the row that had the same epoch."""
    steps: list[int] = []
    history: list[tuple[float, int]] = []
    count, last, estimated = 0, 0.0, False
    for entry in entries:
        epoch = entry.epoch
        if entry.trains:
            count += 1
            if epoch < last:
                same = [step for earlier, step in history if earlier == epoch]
                before = [step for earlier, step in history if earlier < epoch]
                count = same[0] if same else max(before, default=0) + 1
                estimated = estimated or len(same) != 1
            history.append((epoch, count))
            last = epoch
        steps.append(count)
    return Numbered(steps, ROW, None, estimated)


def _doubles(one: Entry, other: Entry) -> bool:
    return other.again and not (one.bars and other.bars and one.bars[-1] != other.bars[-1])


def _bar_went_back(one: Entry, other: Entry) -> bool:
    if not one.bars or not other.bars:
        return False
    return one.bars[-1].total == other.bars[-1].total and other.bars[-1].done < one.bars[-1].done


def _replanned(one: Entry, other: Entry) -> bool:
    return bool(one.bars and other.bars) and one.bars[-1].total != other.bars[-1].total
