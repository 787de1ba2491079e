"""Single values with a time and a step, which is all that MLflow keeps, to logged rows.

One call of ``log_metrics`` writes the values of a row one by one, and nothing in the store tells which belong
together but their step and the order in which they were written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlchecks.readers.rows import Rows
from rlchecks.readers.text import counted, listing

# The user's own key of the first name is the better counter.
_COUNTERS = ("step", "_step")
# In no vocabulary, and no key that MLflow would take.
_UNUSED = "step!"
_Ints = NDArray[np.int64]


class Values(NamedTuple):
    """Logged values in the order in which they were logged.

    Attributes:
        names: the logged keys.
        key: the key of each value, a place in ``names``.
        step: its step as logged.
        value: the value.
    """

    names: Sequence[str]
    key: _Ints
    step: _Ints
    value: NDArray[np.float64]


class Arranged(NamedTuple):
    """Rows, and what to tell about them."""

    rows: Rows
    warnings: tuple[str, ...]


def arrange(values: Values, is_reward: Callable[[str], bool]) -> Arranged:
    """Make rows of values.

    Values of one step are a row. A step that is logged again after other steps, as by a resumed run, is a row of its
    own, after those. Of a key that is logged twice within a step the last value counts. Values whose step nobody
    gave, which MLflow stores as step 0, are numbered if they are all there is or if the reward is among them, and
    left out otherwise, since their place among the steps is not known.

    Args:
        values: the values.
        is_reward: whether a key holds the reward.
    """
    if not len(values.key):
        return Arranged(Rows(), ())
    values, warnings = _give_steps(values, is_reward)
    at, steps = _rows(values)
    order = np.argsort(at * len(values.names) + values.key, kind="stable")
    at, key = at[order], values.key[order]
    last = np.append((np.diff(at) != 0) | (np.diff(key) != 0), True)
    if again := int(len(last) - last.sum()):
        warnings.append(f"{counted(again, 'value')} logged again at once for the same step: the last is kept")
    taken = set(values.names)
    counter = next(name for name in (*_COUNTERS, _UNUSED) if name not in taken)
    rows = Rows.of_values(counter, steps, values.names, at[last], key[last], values.value[order][last])
    return Arranged(rows, tuple(warnings))


def _give_steps(values: Values, is_reward: Callable[[str], bool]) -> tuple[Values, list[str]]:
    count = len(values.names)
    moves = np.bincount(values.key, weights=values.step != 0, minlength=count) > 0
    stepless = ~moves & (np.bincount(values.key, minlength=count) > 1)
    if not stepless.any():
        # One value at step 0 may well belong there.
        return values, []
    if not moves.any():
        stepless = ~moves
    names = [values.names[place] for place in np.flatnonzero(stepless).tolist()]
    chosen = stepless[values.key]
    what = f"{counted(int(chosen.sum()), 'value')} logged without a step ({listing(names, 4)})"
    if moves.any() and not any(map(is_reward, names)):
        kept = Values(values.names, values.key[~chosen], values.step[~chosen], values.value[~chosen])
        return kept, [f"{what}: left out"]
    step = values.step.copy()
    step[chosen] = _number(values.key[chosen].tolist())
    return values._replace(step=step), [f"{what}: numbered in the order of logging"]


def _number(keys: Sequence[int]) -> list[int]:
    """Number rows that end where a key would come twice."""
    steps = []
    seen: set[int] = set()
    row = 1
    for key in keys:
        if key in seen:
            seen.clear()
            row += 1
        seen.add(key)
        steps.append(row)
    return steps


def _rows(values: Values) -> tuple[_Ints, _Ints]:
    """Find the row of each value, and the step of each row; rows are in the order of their first values."""
    begins = np.append(True, np.diff(values.step) != 0)
    first = np.flatnonzero(begins)
    home = _homes(values.step[first], np.split(values.key, first[1:]))
    own = home == np.arange(len(home))
    row = (np.cumsum(own) - 1)[home]
    return row[np.cumsum(begins) - 1], values.step[first[own]]


def _homes(steps: _Ints, keys: Sequence[_Ints]) -> _Ints:
    """Find for each stretch of values at one step the stretch that began its row.

    Args:
        steps: the step of each stretch.
        keys: its keys.
    """
    home = np.arange(len(steps))
    _, index, count = np.unique(steps, return_inverse=True, return_counts=True)
    begun: dict[int, tuple[int, set[int]]] = {}
    for stretch in np.flatnonzero(count[index] > 1).tolist():
        step = int(steps[stretch])
        present = set(keys[stretch].tolist())
        if step in begun and begun[step][1].isdisjoint(present):
            # Logged late: by another thread, or on a data set that took its time.
            home[stretch] = begun[step][0]
            begun[step][1].update(present)
        else:
            begun[step] = stretch, present
    return home
