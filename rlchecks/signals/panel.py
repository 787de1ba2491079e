"""Many runs side by side: the training rows of all of them as flat arrays, and their reduction to blocks.

Everything downstream is vectorised over runs. ``R`` is the number of runs, ``N`` the number of training rows of all
of them, ``B`` the number of blocks of a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rlchecks.signals.arrays import Flags, Floats, Integers, divide
from rlchecks.signals.trend import may_overflow, whole

BLOCKS = 40
"""Blocks a run is reduced to. Block means thin the noise of single steps and weaken their autocorrelation; 40 leave
enough points for a trend and for an onset to within 2.5 % of the run."""


@dataclass(frozen=True)
class Panel:
    """Training rows of ``R`` runs, sorted by run and step.

    Attributes:
        run_ids: the runs, in the order of the rows of every result.
        run: index of the run of each row, shape ``(N,)``, ascending.
        step: training step of each row, shape ``(N,)``.
        values: metric to values of shape ``(N,)``; NaN where null or not finite.
        broken: metric to the rows where a literal NaN or infinity was logged, shape ``(N,)``.
    """

    run_ids: tuple[str, ...]
    run: Integers
    step: Integers
    values: dict[str, Floats]
    broken: dict[str, Flags]

    @classmethod
    def from_steps(cls, steps: pa.Table, run_ids: Sequence[str], metrics: Sequence[str]) -> Panel:
        """Take the rows with split ``train`` of the given runs out of a ``steps`` table.

        Args:
            steps: rows of :data:`rlchecks.schema.STEPS`, in any order; other runs' rows are left out.
            run_ids: the runs wanted; one without rows stays, with no rows.
            metrics: the metric columns wanted; a column that the table lacks is all missing.
        """
        chosen = steps.filter(pc.equal(steps["split"], "train"))
        index = pc.index_in(chosen["run_id"], pa.array(run_ids, pa.string()))
        known = pc.is_valid(index)
        chosen, index = chosen.filter(known), index.filter(known)
        run = index.to_numpy().astype(np.int64)
        step = chosen["step"].to_numpy().astype(np.int64)
        order = np.lexsort((step, run))
        values: dict[str, Floats] = {}
        broken: dict[str, Flags] = {}
        for metric in metrics:
            if metric not in chosen.column_names:
                values[metric] = np.full(len(order), np.nan)
                broken[metric] = np.zeros(len(order), dtype=bool)
                continue
            column = chosen[metric]
            raw = column.to_numpy().astype(np.float64)[order]
            logged = pc.is_valid(column).to_numpy()[order]
            finite = np.isfinite(raw)
            values[metric] = np.where(finite, raw, np.nan)
            broken[metric] = logged & ~finite
        return cls(tuple(run_ids), run[order], step[order], values, broken)

    @cached_property
    def size(self) -> Integers:
        """Number of rows of each run, shape ``(R,)``."""
        return np.bincount(self.run, minlength=len(self.run_ids)).astype(np.int64)

    @cached_property
    def start(self) -> Integers:
        """Index of the first row of each run, shape ``(R,)``."""
        return np.concatenate([[0], np.cumsum(self.size)[:-1]]).astype(np.int64)

    @cached_property
    def position(self) -> Integers:
        """Position of each row within its run, from 0, shape ``(N,)``."""
        return np.arange(len(self.run), dtype=np.int64) - self.start[self.run]

    @cached_property
    def block(self) -> Integers:
        """Block of each row within its run, from 0; one row a block in runs of up to :data:`BLOCKS` rows."""
        size = self.size[self.run]
        return np.asarray(self.position * np.minimum(size, BLOCKS) // np.maximum(size, 1))

    def keep(self, rows: Flags) -> Panel:
        """Return the same runs with only the given rows, shape ``(N,)``."""
        return Panel(
            self.run_ids,
            self.run[rows],
            self.step[rows],
            {name: values[rows] for name, values in self.values.items()},
            {name: flags[rows] for name, flags in self.broken.items()},
        )

    @may_overflow()
    def block_means(self, metric: str) -> Floats:
        """Mean of the finite values in each block, shape ``(R, B)``; NaN for a block without any.

        A run in which a mean overflows has none.
        """
        values = self.values[metric]
        finite = np.isfinite(values)
        cell = (self.run * BLOCKS + self.block)[finite]
        length = len(self.run_ids) * BLOCKS
        count = np.bincount(cell, minlength=length)
        total = np.bincount(cell, weights=values[finite], minlength=length)
        return whole(divide(total, count).reshape(-1, BLOCKS))

    def block_medians(self, metric: str) -> Floats:
        """Median of the finite values in each block, shape ``(R, B)``: for metrics with wild single values."""
        values = self.values[metric]
        finite = np.isfinite(values)
        cell, value = (self.run * BLOCKS + self.block)[finite], values[finite]
        order = np.lexsort((value, cell))
        cell, value = cell[order], value[order]
        length = len(self.run_ids) * BLOCKS
        count = np.bincount(cell, minlength=length)
        first = np.concatenate([[0], np.cumsum(count)[:-1]])
        result = np.full(length, np.nan)
        filled = count > 0
        low, high = first + (count - 1) // 2, first + count // 2
        # Halved before they are added, since the sum of two doubles may be none.
        result[filled] = value[low[filled]] / 2 + value[high[filled]] / 2
        return result.reshape(-1, BLOCKS)

    def block_steps(self) -> Integers:
        """Step of the first row of each block, shape ``(R, B)``; -1 for a block without rows."""
        result = np.full(len(self.run_ids) * BLOCKS, -1, dtype=np.int64)
        cell = self.run * BLOCKS + self.block
        # Rows are in order, so that writing backwards leaves the first row of each block.
        result[cell[::-1]] = self.step[::-1]
        return result.reshape(-1, BLOCKS)

    def windows(self, metric: str, share: float) -> tuple[Floats, Floats]:
        """Early and late level of a metric: means over the first and last ``share`` of its finite rows.

        Returns:
            two arrays of shape ``(R,)``; NaN for a run without a finite value, or whose mean overflows. At least one
            row each.
        """
        finite = np.isfinite(self.values[metric])
        values, run = self.values[metric][finite], self.run[finite]
        runs = len(self.run_ids)
        size = np.bincount(run, minlength=runs)
        start = np.concatenate([[0], np.cumsum(size)[:-1]])
        width = np.maximum(1, np.rint(size * share)).astype(np.int64)
        place = np.arange(len(run)) - start[run]
        early = _mean_per_run(values, run, place < width[run], runs)
        late = _mean_per_run(values, run, place >= (size - width)[run], runs)
        return early, late

    def per_run(self, metric: str, reduce: np.ufunc, empty: float = np.nan) -> Floats:
        """Reduce the finite values of each run, for example by ``np.fmax``; ``empty`` for a run without any."""
        result = np.full(len(self.run_ids), np.nan)
        values = self.values[metric]
        filled = self.size > 0
        if len(values):
            result[filled] = reduce.reduceat(values, self.start[filled])
        return np.where(np.isnan(result), empty, result)

    def count(self, rows: Flags) -> Integers:
        """Number of the given rows in each run, shape ``(R,)``."""
        return np.bincount(self.run[rows], minlength=len(self.run_ids)).astype(np.int64)


@may_overflow()
def _mean_per_run(values: Floats, run: Integers, rows: Flags, runs: int) -> Floats:
    count = np.bincount(run[rows], minlength=runs)
    total = np.bincount(run[rows], weights=values[rows], minlength=runs)
    mean = divide(total, count)
    return np.where(np.isfinite(mean), mean, np.nan)
