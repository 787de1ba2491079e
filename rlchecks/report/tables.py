"""The numbers behind a chart, as a short table."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from rlchecks.report import format as fmt
from rlchecks.report.series import Series, block_means, block_starts

_MOST_ROWS = 30


class Table(NamedTuple):
    """Header and rows, as text."""

    header: list[str]
    rows: list[list[str]]


def of(named: Mapping[str, Series], percents: Collection[str] = ()) -> Table:
    """Tabulate series of the same steps; longer ones than 30 rows as means over equal stretches of steps.

    Args:
        named: column title to series; at least one.
        percents: the titles whose values are fractions.
    """
    steps = next(iter(named.values())).steps
    starts = block_starts(len(steps), _MOST_ROWS)
    if len(starts) == 0:
        return Table([], [])
    ends = np.append(starts[1:], len(steps)) - 1
    stretches = zip(steps[starts].tolist(), steps[ends].tolist(), strict=True)
    columns = [[f"{first:,.0f}" if first == last else f"{first:,.0f} to {last:,.0f}" for first, last in stretches]]
    for name, series in named.items():
        means = block_means(series.values, np.isfinite(series.values), starts).tolist()
        write = fmt.percent if name in percents else fmt.number
        columns.append(["–" if fmt.finite(mean) is None else write(mean) for mean in means])
    return Table(["steps", *named], [list(row) for row in zip(*columns, strict=True)])
