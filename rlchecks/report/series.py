"""What a chart shows: the series of a run, with its gaps, thinned to what a chart can resolve."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rlchecks.metrics import REWARD_FUNCTION
from rlchecks.run import RunLog, rows_of

Numbers = NDArray[np.float64]

# Charts need no more, and half the largest double leaves room for differences.
_LARGEST = 1e300


class Series(NamedTuple):
    """One metric over the steps of one split.

    Attributes:
        steps: step of each row, float64, in the order of the log.
        values: value of each row; NaN where nothing finite was logged.
        flawed: steps at which a literal NaN or infinity was logged, as against nothing at all.
    """

    steps: Numbers
    values: Numbers
    flawed: Numbers

    @property
    def empty(self) -> bool:
        """Whether no finite value was logged."""
        return not bool(np.isfinite(self.values).any())


class Thinned(NamedTuple):
    """Block means of a series with the range of each block.

    Attributes:
        steps: mean step of the finite values of each block.
        mean: their mean.
        low: the smallest of them.
        high: the largest of them.
        reduced: whether a block holds more than one row.
    """

    steps: Numbers
    mean: Numbers
    low: Numbers
    high: Numbers
    reduced: bool


def metric(run: RunLog, name: str, split: str = "train") -> Series:
    """The series of a canonical metric."""
    return _series(_rows(run, split), name)


def reward_functions(run: RunLog, most: int) -> tuple[dict[str, Series], int]:
    """The mean of each reward function by name, and how many more there are than ``most``."""
    rows = _rows(run, "train")
    extra = rows.column("extra").combine_chunks()
    keys = sorted(key for key in _map_keys(extra) if key.startswith(REWARD_FUNCTION))
    steps = _floats(rows.column("step"))
    found = {
        key.removeprefix(REWARD_FUNCTION): _with_gaps(steps, pc.map_lookup(extra, pa.scalar(key), "last"))
        for key in keys[:most]
    }
    return found, max(len(keys) - most, 0)


def validation(run: RunLog) -> Series:
    """The validation reward of each check: its logged mean, else over its questions, else of the ``eval`` split."""
    table = run.validation
    for chosen in (pc.is_null(table["question_id"]), pc.is_valid(table["question_id"])):
        part = table.filter(chosen)
        total = part.filter(pc.is_null(part["grader"]))
        part = total if total.num_rows else part
        if part.num_rows:
            means = part.group_by("step").aggregate([("score", "mean")]).sort_by("step")
            return _with_gaps(_floats(means["step"]), means["score_mean"])
    return metric(run, "reward", "eval")


def thin(series: Series, most: int = 480) -> Thinned:
    """Reduce a series to at most ``most`` points, by means over blocks of equal numbers of rows.

    Blocks without a finite value are left out.
    """
    starts = block_starts(len(series.values), most)
    if len(starts) == 0:
        nothing = np.empty(0)
        return Thinned(nothing, nothing, nothing, nothing, False)
    good = np.isfinite(series.values)
    keep = np.logical_or.reduceat(good, starts)
    low = np.fmin.reduceat(series.values, starts)
    high = np.fmax.reduceat(series.values, starts)
    steps = block_means(series.steps, good, starts)
    means = block_means(series.values, good, starts)
    return Thinned(steps[keep], means[keep], low[keep], high[keep], len(starts) < len(good))


def block_starts(rows: int, most: int) -> NDArray[np.intp]:
    """First row of each block when ``rows`` rows are cut into at most ``most`` blocks of equal size."""
    return np.arange(0, rows, max(-(-rows // most), 1))


def block_means(values: Numbers, good: NDArray[np.bool_], starts: NDArray[np.intp]) -> Numbers:
    """Mean of the good values of each block; NaN where there are none."""
    counts = np.add.reduceat(good.astype(np.float64), starts)
    # Dividing before adding cannot overflow.
    shares = 1 / np.repeat(np.where(counts > 0, counts, np.nan), np.diff(np.append(starts, len(values))))
    return np.asarray(np.add.reduceat(np.where(good, values, 0.0) * shares, starts), dtype=np.float64)


def trend(values: Numbers) -> Numbers | None:
    """Centred moving mean over a twelfth of the points, at least five; None for fewer than 20 points."""
    points = len(values)
    if points < 20:
        return None
    half = max(points // 24, 2)
    sums = np.concatenate([[0.0], np.cumsum(values)])
    last = np.minimum(np.arange(points) + half + 1, points)
    first = np.maximum(np.arange(points) - half, 0)
    smooth = (sums[last] - sums[first]) / (last - first)
    # Cancellation in the cumulative sums must not leave the range of the data.
    within: Numbers = np.clip(smooth, values.min(), values.max())
    return within


def segments(steps: Numbers) -> list[slice]:
    """Stretches to join by a line: broken where two points lie more than 1.5 times the usual distance apart."""
    if len(steps) == 0:
        return []
    gaps = np.diff(steps)
    forward = gaps[gaps > 0]
    usual = float(np.median(forward)) if len(forward) else 0.0
    breaks = np.flatnonzero(gaps > 1.5 * usual) + 1
    edges = [0, *breaks.tolist(), len(steps)]
    return [slice(start, end) for start, end in pairwise(edges)]


def _rows(run: RunLog, split: str) -> pa.Table:
    return rows_of(run.steps, split)


def _series(rows: pa.Table, name: str) -> Series:
    return _with_gaps(_floats(rows.column("step")), rows.column(name))


def _with_gaps(steps: Numbers, column: pa.ChunkedArray | pa.Array) -> Series:
    values = _floats(column)
    logged = np.asarray(pc.is_valid(column).to_numpy(zero_copy_only=False), dtype=bool)
    good = np.isfinite(values)
    return Series(steps, np.where(good, np.clip(values, -_LARGEST, _LARGEST), np.nan), steps[logged & ~good])


def _floats(column: pa.ChunkedArray | pa.Array) -> Numbers:
    numbers = pc.cast(column, pa.float64(), safe=False)
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)


def _map_keys(extra: pa.Array | pa.ChunkedArray) -> list[str]:
    chunks = extra.chunks if isinstance(extra, pa.ChunkedArray) else [extra]
    return sorted({key for chunk in chunks for key in pc.unique(chunk.keys).to_pylist()})
