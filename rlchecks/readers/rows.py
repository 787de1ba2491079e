"""Logged rows, as readers collect them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from rlchecks.readers.steps import Row


class Rows(Sequence[Row]):
    """Logged rows in the order of the log."""

    def __init__(self) -> None:
        self._rows: list[Row] = []

    def append(self, row: Row) -> None:
        """Add a row."""
        self._rows.append(row)

    def __len__(self) -> int:
        """Number of rows."""
        return len(self._rows)

    def __getitem__(self, index: int) -> Row:  # type: ignore[override]
        """Return a row."""
        return self._rows[index]

    def __iter__(self) -> Iterator[Row]:
        """Yield the rows."""
        return iter(self._rows)

    @classmethod
    def of_values(
        cls,
        counter: str,
        steps: NDArray[np.int64],
        names: Sequence[str],
        at: NDArray[np.int64],
        key: NDArray[np.int64],
        values: NDArray[np.float64],
    ) -> Rows:
        """Build rows from single values, as trackers store them.

        Args:
            counter: key of the step.
            steps: the step of each row, in the order of the log.
            names: logged keys.
            at: row of each value.
            key: its key, a place in ``names``.
            values: the values; no row has two of one key.
        """
        rows: list[dict[str, object]] = [{counter: step} for step in steps.tolist()]
        for row, name, value in zip(at.tolist(), key.tolist(), values.tolist(), strict=True):
            rows[row][names[name]] = value
        made = cls()
        made._rows = list(rows)
        return made
