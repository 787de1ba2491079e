"""Rows of trackers that count calls, not steps: several rows belong to one training step.

Trainers log to Weights & Biases in several calls a step: their metrics in one, timings, tables and evaluations in
others, all with the step that was logged last (``define_metric(..., step_sync=True)``, which transformers' callback
asks for).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from rlchecks.readers.aliases import Framework, recognise
from rlchecks.readers.rows import Rows
from rlchecks.readers.steps import MAX_STEP, Row
from rlchecks.readers.text import counted, listing
from rlchecks.readers.values import to_count
from rlchecks.readers.wandb_history import STEP

CLOCKS = frozenset({"_timestamp", "_runtime"})
"""Keys of seconds since the epoch and since the start, in every row."""


class United(NamedTuple):
    """Rows of which each holds metrics, and what to tell about the others."""

    rows: Rows
    warnings: tuple[str, ...]


def framework_of(keys: Iterable[str], columns: Mapping[str, str], step_metric: str | None = None) -> Framework:
    """Tell the framework from the logged keys; the counter of calls is its last resort for the step.

    Args:
        keys: all logged keys.
        columns: the user's own names.
        step_metric: the key that the run itself declared to be the step.
    """
    known = recognise(keys, "table")
    own = [key for key, name in columns.items() if name == "step"]
    others = [key for key in known.step if key != STEP]
    declared = [step_metric] if step_metric and step_metric not in others else []
    return replace(known, step=(*own, *others, *declared, STEP))


def counter_of(legs: Iterable[Sequence[Row]], framework: Framework) -> str | None:
    """Return the best key of a step counter that moves, or else the best that is logged."""
    seen: dict[str, set[int]] = {key: set() for key in framework.step}
    for rows in legs:
        for row in rows:
            for key, steps in seen.items():
                # Two are enough to see it move.
                if len(steps) < 2 and (step := to_count(row.get(key), MAX_STEP)) is not None:
                    steps.add(step)
    moving = [key for key, steps in seen.items() if len(steps) > 1]
    return next(iter([*moving, *(key for key, steps in seen.items() if steps)]), None)


def unite(legs: Sequence[Sequence[Row]], framework: Framework, columns: Mapping[str, str]) -> United:
    """Make one row of neighbours with one step, unless they differ in a metric: that is a step logged again.

    Rows without any metric are left out where no row with metrics has their step; what they alone logged is told.

    Args:
        legs: the rows of each log of the run, in the order of logging.
        framework: whose keys they have.
        columns: the user's own names.
    """
    kinds = _Kinds(framework, columns)
    counter = counter_of(legs, framework) or STEP
    out = Rows()
    kept: set[str] = set()
    alone: set[str] = set()
    left_out = 0
    for rows in legs:
        current: dict[str, object] = {}
        for row in rows:
            present = {key: value for key, value in row.items() if value is not None}
            metrics = kinds.metrics(present)
            step = present.get(counter)
            if not metrics and current and step in (None, current.get(counter)):
                kinds.add(current, present)
            elif not metrics:
                left_out += 1
                alone |= present.keys()
            elif current and step is not None and step == current.get(counter) and not metrics & current.keys():
                kinds.add(current, present)
            else:
                kept |= _close(current, kinds, out)
                current = present
        kept |= _close(current, kinds, out)
    lost = sorted(alone - kept - kinds.shared)
    told = f"{counted(left_out, 'row')} without any metric left out, and with them {listing(lost)}"
    return United(out, (told,) if lost else ())


class _Kinds:
    """Which keys are metrics of training, which of evaluation."""

    def __init__(self, framework: Framework, columns: Mapping[str, str]) -> None:
        self._framework = framework.with_columns(columns)
        self.shared = CLOCKS | {*self._framework.step, *self._framework.epoch, *self._framework.split}
        self._known: dict[str, str | None] = {}

    def metrics(self, keys: Iterable[str]) -> set[str]:
        """Return the keys that are metrics of training or evaluation."""
        return {key for key in keys if self.kind(key) is not None}

    def kind(self, key: str) -> str | None:
        """Return ``train``, ``eval``, or None for everything else."""
        if key not in self._known:
            name = "eval" if self._framework.is_eval(key) else "train" if self._framework.target(key) else None
            self._known[key] = None if key in self.shared else name
        return self._known[key]

    def add(self, row: dict[str, object], more: Mapping[str, object]) -> None:
        """Add to a row what was logged at its step after it; its own step and time stay."""
        for key, value in more.items():
            if key not in self.shared or key not in row:
                row[key] = value


def _close(row: dict[str, object], kinds: _Kinds, out: Rows) -> set[str]:
    """Append a finished row, and return its keys."""
    kind_of = {key: kinds.kind(key) for key in row}
    if "train" not in kind_of.values():
        # Times and whatever else would make a training row of it.
        row = {key: row[key] for key, kind in kind_of.items() if kind or key in kinds.shared - CLOCKS}
    if row:
        out.append(row)
    return set(row)
