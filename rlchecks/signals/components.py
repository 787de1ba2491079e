"""Signals of the reward functions: which of several the total follows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rlchecks.metrics import REWARD_FUNCTION
from rlchecks.signals.arrays import Floats, Integers
from rlchecks.signals.catalogue import WINDOW
from rlchecks.signals.panel import BLOCKS
from rlchecks.signals.reward import Scale
from rlchecks.signals.trend import may_overflow, ordering

_EXPLAINED = 0.98
"""Share of the total's variance that a weighted sum of the functions must explain: a total that holds more than the
logged functions, such as a penalty, cannot be divided among them."""


class _Run(NamedTuple):
    """Functions of one run: names, their values ``(rows, functions)`` and the total ``(rows,)``, in order of steps."""

    names: list[str]
    values: Floats
    total: Floats


class _Cells(NamedTuple):
    """Logged values of reward functions: row of the table, code of the name, value; and the names by code."""

    row: Integers
    name: Integers
    value: Floats
    names: list[str]


def signals(steps: pa.Table, run_ids: tuple[str, ...], limits: Scale) -> dict[str, list[float | int | str | None]]:
    """Divide the gain of the total among the reward functions that are logged.

    The weights are those of the least-squares fit of the total on the functions. The gain that a function brings is
    its weight times its own late minus early mean.

    Args:
        steps: rows of :data:`rlchecks.schema.STEPS`; without the column ``extra`` nothing is known.
        run_ids: the runs wanted.
        limits: their scales.

    Returns:
        signal name to a list with one value a run; None where fewer than two functions are logged, or the total is
        no weighted sum of them.
    """
    results: dict[str, list[float | int | str | None]] = {name: [None] * len(run_ids) for name in _NAMES}
    for index, run in _functions(steps, run_ids):
        for name, value in _one(run, float(limits.width[index])).items():
            results[name][index] = value
    return results


@may_overflow()
def _one(run: _Run, width: float) -> dict[str, float | int | str | None]:
    result: dict[str, float | int | str | None] = {"reward_functions": len(run.names)}
    whole = np.isfinite(run.values).all(axis=1) & np.isfinite(run.total)
    values, total = run.values[whole], run.total[whole]
    if len(run.names) < 2 or len(total) < 2 * (len(run.names) + 1) or not np.isfinite(width):
        return result
    design = values - values.mean(axis=0)
    target = total - total.mean()
    weights, _, rank, _ = np.linalg.lstsq(design, target, rcond=None)
    squares = float((target**2).sum())
    rest = float(((target - design @ weights) ** 2).sum())
    if rank == 0 or not np.isfinite(squares) or squares == 0 or rest > (1 - _EXPLAINED) * squares:
        return result
    n = max(1, round(WINDOW * len(total)))
    gains = weights * (values[-n:].mean(axis=0) - values[:n].mean(axis=0)) / width
    if not np.isfinite(gains).all():
        return result
    top = int(np.argmax(gains))
    others = np.delete(gains, top)
    brings = design * weights / width
    rises = ordering(_blocks(np.delete(brings, top, axis=1)), WINDOW)
    return result | {
        "top_function": run.names[top].removeprefix(REWARD_FUNCTION),
        "top_function_gain": float(gains[top]),
        "other_functions_gain": float(others.sum()),
        "other_functions_best": float(others.max()),
        "other_functions_ordering": float(np.nanmax(rises)) if np.isfinite(rises).any() else None,
    }


def _blocks(series: Floats) -> Floats:
    """Means of each series, given as columns, over up to 40 stretches: shape ``(series, blocks)``."""
    count = min(BLOCKS, len(series))
    first = np.arange(count) * len(series) // count
    size = np.diff(np.append(first, len(series)))
    return np.asarray((np.add.reduceat(series, first, axis=0) / size[:, None]).T)


def _functions(steps: pa.Table, run_ids: tuple[str, ...]) -> Iterator[tuple[int, _Run]]:
    """Yield the runs that log reward functions, by their place in ``run_ids``."""
    if "extra" not in steps.column_names:
        return
    train = steps.filter(pc.equal(steps["split"], "train"))
    place = pc.fill_null(pc.index_in(train["run_id"], pa.array(run_ids, pa.string())), -1).to_numpy()
    step, total = train["step"].to_numpy(), train["reward"].to_numpy().astype(np.float64)
    cells = _cells(train["extra"])
    if cells is None:
        return
    # By name and not by appearance, which depends on the order of the rows.
    names = sorted(cells.names)
    rank = {each: at for at, each in enumerate(names)}
    row, name, value = cells.row, np.array([rank[each] for each in cells.names])[cells.name], cells.value
    run = place[row]
    order = np.lexsort((step[row], run))
    row, name, value, run = row[order], name[order], value[order], run[order]
    for index in np.unique(run[run >= 0]):
        mine = slice(*np.searchsorted(run, [index, index + 1]))
        known, column = np.unique(name[mine], return_inverse=True)
        rows, at = np.unique(row[mine], return_inverse=True)
        values = np.full((len(rows), len(known)), np.nan)
        values[at, column] = value[mine]
        by_step = np.argsort(step[rows], kind="stable")
        yield int(index), _Run([names[code] for code in known], values[by_step], total[rows][by_step])


def _cells(extra: pa.ChunkedArray) -> _Cells | None:
    """Flatten the map column to the cells of reward functions; None if there are none."""
    rows: list[Integers] = []
    codes: list[Integers] = []
    values: list[Floats] = []
    known: dict[str, int] = {}
    before = 0
    for chunk in extra.chunks:
        keys = chunk.keys.dictionary_encode()
        names = keys.dictionary.to_pylist()
        ours = [key.startswith(REWARD_FUNCTION) for key in names]
        code_of = np.array(
            [known.setdefault(key, len(known)) if is_ours else -1 for key, is_ours in zip(names, ours, strict=True)]
        )
        offsets = chunk.offsets.to_numpy()
        span = slice(offsets[0], offsets[-1])
        if (code_of >= 0).any():
            code = code_of[keys.indices.to_numpy()[span]]
            mine = code >= 0
            rows.append((np.repeat(np.arange(len(chunk)), np.diff(offsets)) + before)[mine])
            codes.append(code[mine])
            values.append(chunk.items.to_numpy()[span][mine])
        before += len(chunk)
    if not rows:
        return None
    return _Cells(np.concatenate(rows), np.concatenate(codes), np.concatenate(values), list(known))


_NAMES = (
    "reward_functions",
    "top_function",
    "top_function_gain",
    "other_functions_gain",
    "other_functions_best",
    "other_functions_ordering",
)
