"""Metrics that a framework does not log but that follow from what it logs, and those it logs while they are off."""

from __future__ import annotations

from functools import reduce

import numpy as np

from rlchecks.readers.columns import Columns, Notes
from rlchecks.readers.formulas import Formula, values_at
from rlchecks.readers.frameworks import Framework
from rlchecks.readers.maps import Series
from rlchecks.readers.ranges import are_strays, limits, outside
from rlchecks.readers.text import clean, counted, listing, shown

PROOF = 5
"""Fewest training rows whose zeros show that a metric is off: the divergence of the first step is 0 by definition, and
a learning rate that warms up from 0 keeps it there for a step or two."""

# What is 0 throughout only where it is not measured: a policy that learns moves, and is never quite certain.
_SWITCHABLE = ("kl", "kl_sampler", "entropy")


def derive(split: str, columns: Columns, framework: Framework, count: int, notes: Notes) -> None:
    """Complete the columns of one split in place.

    Args:
        split: ``train``, ``eval`` or ``summary``; the training rows come first.
        columns: the columns as gathered.
        framework: whose keys they are.
        count: number of rows.
        notes: gets what is noticed.
    """
    if not count:
        return
    _switch_off(split, columns, notes)
    if split == "eval":
        _validation_reward(columns, framework, notes)
    if framework.derived:
        bare = framework.eval_bare if split == "eval" else framework.bare
        keys = {bare(key): key for key in columns.extra}
        for metric, formulas in framework.derived.items():
            if metric not in columns.metrics:
                _complete(split, metric, formulas, keys, columns, notes)


def _switch_off(split: str, columns: Columns, notes: Notes) -> None:
    for metric in _SWITCHABLE:
        series = columns.metrics.get(metric)
        if series is None or (series.numbers != 0.0).any():
            continue
        if split == "train" and len(series.rows) >= PROOF:
            notes.switched_off[metric] = next(iter(notes.mapped[metric])), len(series.rows)
        if metric in notes.switched_off:
            del columns.metrics[metric]
            key = clean(notes.switched_off[metric][0])
            rest = columns.extra.get(key)
            columns.extra[key] = series if rest is None else _joined(series, rest)


def _validation_reward(columns: Columns, framework: Framework, notes: Notes) -> None:
    """Make the reward on all validation sets of the rewards on each, where no key has it."""
    names = sorted(framework.datasets & columns.functions.keys())
    if "reward" in columns.metrics or not names:
        return
    sets = [columns.functions[name] for name in names]
    rows = reduce(np.intersect1d, [one.rows for one in sets])
    if not len(rows):
        notes.doubts.append(f"the validation sets {listing(names)} were never evaluated together: no mean of them")
        return
    with np.errstate(all="ignore"):
        columns.metrics["reward"] = Series(rows, np.mean([values_at(one, rows) for one in sets], axis=0))
    if len(names) > 1:
        notes.derived["validation reward"] = f"mean of {', '.join(names)}"


def _complete(
    split: str, metric: str, formulas: tuple[Formula, ...], keys: dict[str, str], columns: Columns, notes: Notes
) -> None:
    parts: list[str] = []
    for formula in formulas:
        choices = formula.choices(keys)
        if len(choices) == 1:
            operands = [keys[operand] for operand in choices[0]]
            if series := _computed(metric, formula, operands, columns, notes):
                columns.metrics[metric] = series
                if split == "train":
                    condition = " (rewards of 0 and 1)" if formula.binary else ""
                    notes.derived[metric] = formula.text(operands) + condition
            return
        parts = parts or [keys[operand] for choice in choices for operand in choice]
    if parts:
        notes.doubts.append(f"{listing(parts)} are each for a part of the run, none for all: {metric} is not computed")


def _computed(metric: str, formula: Formula, operands: list[str], columns: Columns, notes: Notes) -> Series | None:
    """Compute a metric, unless its values show that they are none of it."""
    series = formula.compute([columns.extra[operand] for operand in operands])
    text = shown(formula.text(operands), 200)
    if formula.binary and not _binary(columns):
        notes.doubts.append(f"{metric} is not {text}, which holds for rewards of 0 and 1 only")
        return None
    wrong = outside(metric, series)
    if wrong.any():
        strays = are_strays(wrong)
        values = counted(int(wrong.sum()), "value")
        fate = "taken as missing" if strays else "not used"
        notes.doubts.append(f"{metric} as {text} has {values} {limits(metric)}: {fate}")
        kept = ~wrong & strays
        series = Series(series.rows[kept], series.numbers[kept])
    return series if len(series.rows) else None


def _binary(columns: Columns) -> bool:
    """Whether the rewards may be 0 or 1: their means are from 0 to 1."""
    series = columns.metrics.get("reward")
    return series is None or not ((series.numbers < 0) | (series.numbers > 1)).any()


def _joined(one: Series, other: Series) -> Series:
    return Series(np.concatenate([one.rows, other.rows]), np.concatenate([one.numbers, other.numbers]))
