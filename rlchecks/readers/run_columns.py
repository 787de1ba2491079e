"""Several runs in one table, told apart by a column such as ``seed``: each value of it is a run of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rlchecks.errors import InputError
from rlchecks.readers.frameworks import Framework
from rlchecks.readers.key_patterns import plain_spelling
from rlchecks.readers.rows import Rows
from rlchecks.readers.steps import NO_STEP, number
from rlchecks.readers.text import clean, place, shown
from rlchecks.readers.values import to_text

MOST_RUNS = 200
"""Most runs that are read from one table: each reading goes through all of it."""

# Of these a value that comes back after another is a second run; the others may be drawn anew for each step.
_NAMES = frozenset({"run", "run_id", "run_name", "experiment"})
_COLUMNS = _NAMES | {"seed", "trial"}
_NONE = -1


def may_hold_several(keys: Iterable[str]) -> bool:
    """Whether a table with these columns has one that may tell runs apart."""
    return any(plain_spelling(key) in _COLUMNS for key in keys)


def runs_in(rows: Rows, known: Framework, path: Path, declared: Collection[str] = ()) -> dict[str, NDArray[np.int64]]:
    """Find the runs of a table.

    A column tells runs apart if its value changes where the step repeats or goes back, and one of its values is there
    at more than one step: a seed that is drawn anew for each step names no run. Where the value changes while the
    step goes on, it is one run that was resumed under another name; unless a name comes back after another one. In a
    table without steps, the values have two rows on average.

    Args:
        rows: all rows of the table.
        known: whose keys they have.
        path: the table, for errors.
        declared: columns of which the user said what they are.

    Returns:
        The name of each run, such as ``seed=0``, and its rows, in the order of their first rows; empty if there is
        one run.

    Raises:
        InputError: a row does not say to which of several runs it belongs, or there are more than :data:`MOST_RUNS`.
    """
    keys = [key for key in rows.keys if plain_spelling(key) in _COLUMNS and key not in {*known.step, *declared}]
    if not keys:
        return {}
    counted = number(rows, known.step, np.ones(len(rows), dtype=np.bool_), each_row=known.step_each_row)
    steps = counted.steps if counted.keys else None
    telling = []
    for key in keys:
        codes, names = _codes(rows, key)
        if len(names) > 1 and _separates(codes, steps, comes_back=plain_spelling(key) in _NAMES):
            telling.append((key, codes, names))
    if not telling:
        return {}
    for key, codes, _ in telling:
        if (codes == _NONE).any():
            raise InputError(
                f"no {shown(key)}, which tells the runs of this table apart",
                path=place(path),
                where=f"row {int((codes == _NONE).argmax()) + 1}",
                todo="fill it in, or write one file for each run",
            )
    return _divided(telling, path)


def _codes(rows: Rows, key: str) -> tuple[NDArray[np.int64], list[str]]:
    """The value of a column in each row, as a place in the list of values."""
    codes = np.full(len(rows), _NONE, dtype=np.int64)
    place_of: dict[str, int] = {}
    for cells in rows.column(key):
        texts = [clean(to_text(value)).strip() for value in cells.tolist()]
        codes[cells.at] = [place_of.setdefault(text, len(place_of)) if text else _NONE for text in texts]
    return codes, list(place_of)


def _separates(codes: NDArray[np.int64], steps: NDArray[np.int64] | None, *, comes_back: bool) -> bool:
    told = codes != _NONE
    if steps is None:
        codes = codes[told]
        return len(codes) >= 2 * len(np.unique(codes))
    told &= steps != NO_STEP
    codes, steps = codes[told], steps[told]
    changes = codes[1:] != codes[:-1]
    pairs = np.unique(np.stack([codes, steps]), axis=1)
    if not (np.bincount(pairs[0]) > 1).any():
        return False
    back = bool((changes & (steps[1:] <= steps[:-1])).any())
    return back or (comes_back and int(changes.sum()) >= len(np.unique(codes)))


def _divided(telling: Collection[tuple[str, NDArray[np.int64], list[str]]], path: Path) -> dict[str, NDArray[np.int64]]:
    together = np.stack([codes for _, codes, _ in telling], axis=1)
    values, first, which = np.unique(together, axis=0, return_index=True, return_inverse=True)
    if len(values) > MOST_RUNS:
        names = " and ".join(shown(key) for key, _, _ in telling)
        problem = f"{len(values)} runs told apart by {names}, more than the {MOST_RUNS} that are read from one table"
        raise InputError(problem, path=place(path), todo="write one file for each run")
    which = which.reshape(-1)
    found: dict[str, NDArray[np.int64]] = {}
    for run in np.argsort(first).tolist():
        named = zip(telling, values[run].tolist(), strict=True)
        found[",".join(f"{clean(key)}={names[code]}" for (key, _, names), code in named)] = np.flatnonzero(which == run)
    return found
