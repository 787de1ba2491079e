"""One row for each step: what was logged in parts is put together, what was logged again replaces what was before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlchecks.readers.lanes import lanes
from rlchecks.readers.text import counted

_Ints = NDArray[np.int64]
_Places = NDArray[np.int32]


class Settled(NamedTuple):
    """Rows with one row per step, in the order of the steps.

    Attributes:
        steps: int64, strictly increasing.
        row_of: int32, for each row of the log the place of its step; -1 if it is not used.
        repeated: rows that were superseded by a later row of the same step.
        united: rows that were made one with the row before although both have some key.
        went_back: how often the log went back to an earlier step.
        left_over: last steps that only an earlier attempt reached: first and last of them.
    """

    steps: _Ints
    row_of: NDArray[np.int32]
    repeated: int = 0
    united: int = 0
    went_back: int = 0
    left_over: tuple[int, int] | None = None


def settle(
    count: int,
    at: _Ints,
    steps: _Ints,
    metrics: Callable[[], Iterable[NDArray[np.int32]]],
    *,
    named: Sequence[bool] = (),
    unite: Callable[[int], AbstractSet[str]] | None = None,
    scattered: bool = False,
) -> Settled:
    """Keep one row per step, the last.

    Rows are parts of one row if no two of them have a value of the same key: neighbours of one step, and rows of one
    step anywhere that have no key in common by way of any other rows either.

    Args:
        count: number of rows of the log.
        at: the rows to be settled, in the order in which they count.
        steps: the step of each of them.
        metrics: yields for each key, but those that all rows may have in common, the rows of the log with a value.
        named: which of these keys are names of metrics; rows that have none of them, nor any key in common with those
            that do, are settled but not counted. Without any such key all rows are counted.
        unite: gives the keys of a row of the log; then neighbours that have values in common but not all the same
            keys are made one row too.
        scattered: parts of a row may stand apart.
    """
    row_of = np.full(count, -1, dtype=np.int32)
    row_of[at] = np.arange(len(at))
    if np.all(steps[1:] > steps[:-1]):
        return Settled(steps, row_of)
    places = row_of.copy()

    def placed() -> Iterable[_Places]:
        for rows in metrics():
            found = places[rows]
            yield found[found >= 0]

    lane, of_keys = lanes(len(at), placed())
    in_lanes = np.argsort(lane, kind="stable")
    # A visit is a stay of a lane at one step: neighbours, or all of its rows there if parts may stand apart.
    order = np.lexsort((steps, lane)) if scattered else in_lanes
    new = _changes(lane[order]) | _changes(steps[order])
    visit, start = np.cumsum(new) - 1, np.flatnonzero(new)
    before = _clashes(order, visit, placed()) if len(start) < len(at) else np.full(len(at), -1)
    begin, again, united = _replaced(at[order], visit, start, before, unite)
    first, last = _ends(lane[order][start], steps[order][start])

    # Of each lane and step the last visit counts, from where its row begins.
    kept = last[visit] & (np.arange(len(at)) >= begin[visit])
    distinct, which = np.unique(steps[order[kept]], return_inverse=True)
    row_of[at] = -1
    row_of[at[order[kept]]] = which

    seen = np.zeros(len(at), dtype=np.bool_)
    if scattered:
        seen[order[again]] = True
    else:
        seen[order] = ~first[visit]
    counts = np.isin(lane, of_keys[np.flatnonzero(named)]) if any(named) else np.ones(len(at), dtype=np.bool_)
    repeated = np.sum(counts[order[start[~last]]]) + np.sum(counts[order[again]])
    some = in_lanes[counts[in_lanes]]
    went_back, left_over = _attempts(lane[some], steps[some], seen[some], only_seen=scattered)
    return Settled(distinct, row_of, int(repeated), united, went_back, left_over)


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


def _changes(values: _Ints) -> NDArray[np.bool_]:
    """Tell where values differ from the one before; the first does."""
    return np.concatenate([[True], values[1:] != values[:-1]])[: len(values)]


def _ends(lane: _Ints, steps: _Ints) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tell which visits are the first of their step in their lane, and which the last."""
    order = np.lexsort((steps, lane))
    new = _changes(lane[order]) | _changes(steps[order])
    first, last = np.zeros((2, len(order)), dtype=np.bool_)
    first[order[new]] = True
    last[order[np.append(new[1:], True)]] = True
    return first, last


def _clashes(order: _Ints, visit: _Ints, metrics: Iterable[_Places]) -> _Ints:
    """Find for each row the last one before it in its visit that has a value of the same key; -1 if there is none."""
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    before = np.full(len(order), -1)
    for places in metrics:
        ranks = np.sort(rank[places])
        same = visit[ranks[1:]] == visit[ranks[:-1]]
        later = ranks[1:][same]
        before[later] = np.maximum(before[later], ranks[:-1][same])
    return before


def _replaced(
    at: _Ints, visit: _Ints, start: _Ints, before: _Ints, unite: Callable[[int], AbstractSet[str]] | None
) -> tuple[_Ints, list[int], int]:
    """Find in each visit, a stay at one step, where the row begins that counts.

    Returns:
        For each visit the first of its rows that count; the rows that replaced those before; how many were united.
    """
    begin = start.copy()
    again: list[int] = []
    united = 0
    # Of each visit the keys of the rows since it began, up to the row that is the next to be looked at.
    gathered: dict[int, tuple[int, set[str]]] = {}
    for row in np.flatnonzero(before >= 0).tolist():
        here = int(visit[row])
        if before[row] < begin[here]:
            continue
        if unite is not None:
            first, known = gathered.get(here, (int(begin[here]), set()))
            known.update(*(unite(int(at[one])) for one in range(first, row)))
            gathered[here] = row, known
            if known != unite(int(at[row])):
                united += 1
                continue
        gathered.pop(here, None)
        begin[here] = row
        again.append(row)
    return begin, again, united


def _attempts(
    lane: _Ints, steps: _Ints, seen: NDArray[np.bool_], *, only_seen: bool
) -> tuple[int, tuple[int, int] | None]:
    """Find out how often a lane goes back, and which steps only its earlier attempts reached.

    Args:
        lane: the lane of each row, ascending.
        steps: the step of each row.
        seen: whether its lane was at this step before.
        only_seen: a lane does not go back by a step that it never was at.
    """
    same = ~_changes(lane)
    back = same & np.append(False, steps[1:] < steps[:-1])
    if only_seen:
        back &= seen
    begun = np.zeros(int(lane.max(initial=0)) + 1, dtype=np.int64)
    restarts = np.flatnonzero(back & seen)
    begun[lane[restarts]] = restarts
    latest = np.arange(len(lane)) >= begun[lane]
    newest = np.full(len(begun), -1)
    np.maximum.at(newest, lane[latest], steps[latest])
    stale = steps[steps > newest[lane]]
    left_over = (int(stale.min()), int(stale.max())) if len(stale) else None
    return int(np.bincount(lane[back]).max(initial=0)), left_over
