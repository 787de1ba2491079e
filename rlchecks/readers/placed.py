"""The values of one split, each in the row of its step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlchecks.readers.cells import Cells
from rlchecks.readers.settle import Settled
from rlchecks.readers.splits import Division, Kind


class _Pick(NamedTuple):
    """Which of some values are used, and in which rows, ascending; None for all of them."""

    places: NDArray[np.int64]
    picked: NDArray[np.int64] | None


def placed(division: Division, split: str, settled: Settled) -> Iterator[tuple[str, Sequence[Cells]]]:
    """Yield the keys of a split and their values by the rows of the settled steps (int64, ascending).

    The keys come in the order in which they first appear in these rows, those without any value too. Of several values
    of a key in rows that are one row now, the last is taken.
    """
    # Columns with the same rows share the array that says so, and what becomes of it.
    picks: dict[tuple[int, Kind], _Pick] = {}

    def pick(key: str, cells: Cells) -> _Pick:
        same = id(cells.at), division.kinds[key]
        if same not in picks:
            picks[same] = _pick(settled.row_of[cells.at], division.belong(split, key, cells.at))
        return picks[same]

    first = _logged(division, settled)
    for key in division.kinds:
        for cells in division.rows.column(key):
            if len(places := pick(key, cells).places):
                first[key] = min(int(places[0]), first.get(key, len(settled.steps)))
    single = np.count_nonzero(settled.row_of >= 0) == len(settled.steps)
    order = {key: number for number, key in enumerate(division.kinds)}
    for key in sorted(first, key=lambda key: (first[key], order[key])):
        parts: list[Cells] = []
        logged: list[NDArray[np.integer]] = []
        for cells in division.rows.column(key):
            places, picked = pick(key, cells)
            if len(places):
                parts.append(Cells(places, cells.values if picked is None else cells.values.take(picked)))
                logged.append(cells.at if picked is None else cells.at[picked])
        yield key, parts if single or len(parts) < 2 else _last(parts, logged)


def _logged(division: Division, settled: Settled) -> dict[str, int]:
    """Find the keys that rows had, with a value or without: the first row of each."""
    used = np.flatnonzero(settled.row_of >= 0)
    if len(used) > len(settled.steps):
        # What another row adds to a row are its values alone.
        used = used[np.unique(settled.row_of[used], return_index=True)[1]]
    used = used[division.whole[used]]
    shapes, of = np.unique(division.rows.shape_of[used], return_inverse=True)
    firsts = np.full(len(shapes), len(settled.steps))
    np.minimum.at(firsts, of, settled.row_of[used])
    found: dict[str, int] = {}
    for shape, first in zip(shapes.tolist(), firsts.tolist(), strict=True):
        for key in division.rows.shapes[shape]:
            found[key] = min(first, found.get(key, first))
    return found


def _pick(row_of: NDArray[np.int32], belong: NDArray[np.bool_]) -> _Pick:
    mine = belong & (row_of >= 0)
    places = row_of.astype(np.int64)
    if mine.all() and np.all(places[1:] > places[:-1]):
        return _Pick(places, None)
    picked = np.flatnonzero(mine)
    picked = picked[np.argsort(places[picked], kind="stable")]
    places = places[picked]
    last = np.append(places[1:] != places[:-1], True)[: len(places)]
    return _Pick(places[last], picked[last])


def _last(parts: Sequence[Cells], logged: Sequence[NDArray[np.integer]]) -> list[Cells]:
    """Leave of values of several kinds in one row the one that was logged last."""
    places = np.concatenate([part.at for part in parts])
    order = np.lexsort((np.concatenate(logged), places))
    kept = np.zeros(len(places), dtype=np.bool_)
    kept[order[np.append(np.diff(places[order]) > 0, True)]] = True
    ends = np.cumsum([len(part.at) for part in parts])[:-1]
    return [part.where(mask) for part, mask in zip(parts, np.split(kept, ends), strict=True) if mask.any()]
