"""The steps of logged rows: numbers, order, repeats."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from rlchecks.readers.text import counted, listing, shown
from rlchecks.readers.values import to_count

MAX_STEP = 10**12
"""Largest step that is believed: no run has more, while counters of tokens or nanoseconds do."""

Row = Mapping[str, object]
"""One logged row: key to value as the log has it."""

_CLOCKS = frozenset({"_timestamp", "_runtime", "timestamp", "time", "elapsed_time"})


class Numbered(NamedTuple):
    """The step of each logged row.

    Attributes:
        key: the counter that was used, None if there is none.
        steps: None for rows that have to be left out.
        warnings: what to tell about it.
    """

    key: str | None
    steps: list[int | None]
    warnings: list[str]


class Settled(NamedTuple):
    """Rows with one row per step, in the order of the steps.

    Attributes:
        steps: strictly increasing.
        rows: the row of each step.
        repeated: rows that were superseded by a later row of the same step.
        united: rows that were made one with the row before although both have some key.
        went_back: how often the log went back to an earlier step.
        left_over: last steps that only an earlier attempt reached: first and last of them.
    """

    steps: list[int]
    rows: list[Row]
    repeated: int
    united: int
    went_back: int
    left_over: tuple[int, int] | None


def number(rows: Sequence[Row], keys: Sequence[str], metrics: Sequence[bool]) -> Numbered:
    """Give each row its step.

    The step comes from the best key that is logged; one that never moves yields to one that does. Without any such
    key the number of the row counts. A row that lacks it gets its own number if that fits between its neighbours,
    and is left out otherwise; rows without training metrics take the step before them.

    Args:
        rows: logged rows, in the order of the log.
        keys: keys of step counters, best first.
        metrics: which rows hold training metrics.
    """
    key, steps = _best_counter(rows, keys)
    if key is None:
        return Numbered(None, _row_numbers(metrics), [f"{_without_steps(rows, keys)}: rows are numbered"])
    unusable = [index for index, step in enumerate(steps) if step is None and metrics[index]]
    _fill(steps, metrics)
    warnings = []
    if unusable:
        value = rows[unusable[0]].get(key)
        seen = "none" if value is None else shown(str(value))
        lost = sum(steps[index] is None for index in unusable)
        fate = f"{lost} of them left out" if lost else "the number of the row is used"
        place = f"first: row {unusable[0] + 1}, {seen}"
        warnings.append(f"{counted(len(unusable), 'row')} without a usable {shown(key)} ({place}): {fate}")
    return Numbered(key, steps, warnings)


def settle(steps: Sequence[int], rows: Sequence[Row], counters: Collection[str], *, unite: bool = False) -> Settled:
    """Keep one row per step, the last.

    Neighbouring rows of one step that have no value in common are one row, logged in parts.

    Args:
        steps: the step of each row.
        rows: the rows, in the order of the log.
        counters: keys that all rows may have in common, such as those of step and epoch.
        unite: also make one row of neighbours that do have values in common but not all the same keys.
    """
    if all(before < after for before, after in pairwise(steps)):
        return Settled(list(steps), list(rows), 0, 0, 0, None)
    kept: dict[int, Row] = {}
    attempt_of: dict[int, int] = {}
    repeated = united = went_back = attempt = 0
    before = -1
    for step, row in zip(steps, rows, strict=True):
        known = kept.get(step)
        clash = known is not None and not complement(known, row, counters)
        if known is not None and step == before and (not clash or (unite and known.keys() != row.keys())):
            united += clash
            kept[step] = {**known, **{key: value for key, value in row.items() if value is not None}}
        else:
            went_back += step < before
            attempt += step < before and known is not None
            repeated += known is not None
            kept[step] = row
        attempt_of[step] = attempt
        before = step
    order = sorted(kept)
    newest = max(step for step in order if attempt_of[step] == attempt)
    stale = [step for step in order if step > newest]
    left_over = (stale[0], stale[-1]) if stale else None
    return Settled(order, [kept[step] for step in order], repeated, united, went_back, left_over)


def tell(settled: Settled) -> list[str]:
    """Say in sentences what :func:`settle` found."""
    sentences = []
    if settled.repeated and settled.went_back:
        times = counted(settled.went_back, "time")
        rows = counted(settled.repeated, "row")
        sentences.append(f"the log goes back to an earlier step {times}: of {rows} logged again, the last is kept")
    elif settled.repeated:
        rows = counted(settled.repeated, "row")
        sentences.append(
            f"{rows} with the same step as another: the last of each step is kept (several rows a step cannot be told"
            " from a resumed run)"
        )
    elif settled.went_back:
        sentences.append("the rows are not in the order of their steps: sorted")
    if settled.left_over:
        first, last = settled.left_over
        sentences.append(f"steps {first} to {last} come from an attempt before the latest one")
    return sentences


def complement(one: Row, other: Row, counters: Collection[str]) -> bool:
    """Whether two rows have no value in common but counters and clocks: parts of one row."""
    return not any(
        value is not None and one.get(key) is not None and key not in counters and key not in _CLOCKS
        for key, value in other.items()
    )


def _best_counter(rows: Sequence[Row], keys: Sequence[str]) -> tuple[str | None, list[int | None]]:
    first: tuple[str | None, list[int | None]] = (None, [])
    for key in keys:
        steps = [to_count(row.get(key), MAX_STEP) for row in rows]
        distinct = set(steps) - {None}
        if len(distinct) > 1:
            return key, steps
        if distinct and first[0] is None:
            first = (key, steps)
    return first


def _without_steps(rows: Sequence[Row], keys: Sequence[str]) -> str:
    for key in keys:
        for index, row in enumerate(rows):
            if row.get(key) is not None:
                first = f"first: row {index + 1}, {shown(str(row[key]))}"
                expected = f"expected whole numbers from 0 to {MAX_STEP:,}"
                return f"no row has a usable {shown(key)} ({first}; {expected})"
    return f"no row has a step ({listing(keys, 4)})"


def _row_numbers(metrics: Sequence[bool]) -> list[int | None]:
    numbers: list[int | None] = []
    count = 0
    for holds_metrics in metrics:
        count += holds_metrics
        numbers.append(count)
    return numbers


def _fill(steps: list[int | None], metrics: Sequence[bool]) -> None:
    following = [MAX_STEP] * len(steps)
    for index in range(len(steps) - 2, -1, -1):
        after = steps[index + 1]
        following[index] = following[index + 1] if after is None else after
    before = 0
    count = 0
    for index, step in enumerate(steps):
        count += metrics[index]
        if step is None and not metrics[index]:
            steps[index] = before
        elif step is None and before < count < following[index]:
            steps[index] = count
        step = steps[index]
        before = before if step is None else step
