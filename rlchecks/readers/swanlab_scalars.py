"""SwanLab's values: one record for each key at each step, put together to rows."""

from __future__ import annotations

from array import array
from pathlib import Path

import numpy as np

from rlchecks.errors import InputError
from rlchecks.readers.rows import MAX_KEYS, Rows
from rlchecks.readers.text import place

STEP = "_step"
"""Key that the step gets in the rows."""

SYSTEM = "__swanlab__."
"""Keys of the machine's statistics begin with it.

Source: SwanHubX/SwanLab swanlab/sdk/internal/pkg/helper/metric.py.
"""


class Scalars:
    """Collects the values of one log.

    Args:
        path: the log, for the error about one that is too large.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._names: dict[str, int] = {}
        self._steps, self._key, self._values = array("q"), array("q"), array("d")

    def add(self, key: str, step: int, value: float) -> None:
        """Add a value; those of the machine are passed over.

        Raises:
            InputError: there are more keys than any log has.
        """
        if key.startswith(SYSTEM):
            return
        self._key.append(self._names.setdefault(key, len(self._names)))
        self._steps.append(step)
        self._values.append(value)
        if len(self._names) > MAX_KEYS:
            raise InputError(f"more than {MAX_KEYS:,} different keys, the most of any log", path=place(self._path))

    def rows(self) -> Rows:
        """Return one row for each step, in the order in which the steps were first logged.

        A key that was logged twice at a step begins another row of that step.
        """
        steps, key, values = (np.asarray(column) for column in (self._steps, self._key, self._values))
        if not len(values):
            return Rows()
        _, rank = np.unique(steps, return_inverse=True)
        # How many values of the same key and step came before.
        order = np.lexsort((key, rank))
        new = np.r_[True, (np.diff(rank[order]) != 0) | (np.diff(key[order]) != 0)]
        places = np.arange(len(order))
        again = np.empty(len(order), dtype=np.int64)
        again[order] = places - np.maximum.accumulate(np.where(new, places, 0))
        _, first, row = np.unique(rank * (again.max() + 1) + again, return_index=True, return_inverse=True)
        in_order = np.argsort(first)
        row_of = np.empty(len(first), dtype=np.int64)
        row_of[in_order] = np.arange(len(first))
        return Rows.of_values(STEP, steps[first[in_order]], list(self._names), row_of[row], key, values)
