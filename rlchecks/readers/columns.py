"""Rows of a log to the columns of the ``steps`` table, built column by column."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rlchecks.metrics import METRICS
from rlchecks.readers.aliases import Framework, Target
from rlchecks.readers.maps import Series, dense, number_map, text_map
from rlchecks.readers.ranges import are_strays, outside
from rlchecks.readers.splits import is_summary_key
from rlchecks.readers.steps import Row
from rlchecks.readers.text import clean
from rlchecks.readers.values import to_numbers
from rlchecks.schema import STEPS

_Piece = tuple[Sequence[int] | NDArray[np.int64], tuple[object, ...]]
# From here on an array is worth its making.
_MANY = 100


@dataclass
class Notes:
    """What was noticed while columns were built; one for all splits of a run.

    Attributes:
        mapped: canonical name to the keys whose values it has.
        unmapped: keys without a canonical name.
        quoted: numbers that were logged as text.
        texts: key of a metric to how many of its values are no numbers.
        differing: key of a metric to the key that was used in its place, since both were logged and differ.
        outside: key to the canonical metric whose range its values leave, so that it is not used.
        strays: key of a metric to its name, and how many of its values leave the range and were taken as missing.
        unreadable: canonical metrics that the training rows lack since every key of theirs is ``outside``.
    """

    mapped: dict[str, dict[str, None]] = field(default_factory=dict)
    unmapped: dict[str, None] = field(default_factory=dict)
    quoted: int = 0
    texts: dict[str, int] = field(default_factory=dict)
    differing: dict[str, str] = field(default_factory=dict)
    outside: dict[str, str] = field(default_factory=dict)
    strays: dict[str, tuple[str, int]] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)


@dataclass
class Columns:
    """The columns of one split.

    Attributes:
        metrics: canonical name (and ``epoch``) to its values.
        functions: ``reward/<function>`` and ``reward_std/<function>`` to their values.
        extra: other numbers by logged key.
        texts: what is no number by logged key: rows and texts.
    """

    metrics: dict[str, Series] = field(default_factory=dict)
    functions: dict[str, Series] = field(default_factory=dict)
    extra: dict[str, Series] = field(default_factory=dict)
    texts: dict[str, list[tuple[int, str]]] = field(default_factory=dict)


def gather(
    split: str, rows: Sequence[Row], framework: Framework, notes: Notes, *, leave_out: Collection[str], guard: bool
) -> Columns:
    """Sort the values of rows into columns.

    Args:
        split: ``train``, ``eval`` or ``summary``.
        rows: the rows, one per step.
        framework: whose keys they are.
        notes: gets what is noticed.
        leave_out: keys that are used otherwise, such as the step.
        guard: take finite values outside of the metric's range as missing, and refuse the mapping of a key with
            more than :data:`rlchecks.readers.ranges.STRAYS` of them; for names that may mean another thing.
    """
    columns = Columns()
    candidates: dict[str, list[tuple[int, str, Series]]] = {}
    refused: set[str] = set()
    for key, pieces in _transpose(rows).items():
        if key in leave_out:
            continue
        series, texts, quoted = _series(pieces)
        notes.quoted += quoted
        target = _target(split, key, framework)
        if target is not None and guard and (wrong := outside(target.name, series)).any():
            if are_strays(wrong):
                notes.strays[key] = target.name, notes.strays.get(key, ("", 0))[1] + int(wrong.sum())
                _keep(key, Series(series.rows[wrong], series.numbers[wrong]), columns)
                series = Series(series.rows[~wrong], series.numbers[~wrong])
            else:
                notes.outside[key] = target.name
                refused.add(target.name)
                target = None
        if texts:
            columns.texts[clean(key)] = texts
            if target is not None:
                notes.texts[key] = notes.texts.get(key, 0) + len(texts)
        if target is None:
            notes.unmapped[key] = None
            _keep(key, series, columns)
        else:
            candidates.setdefault(target.name, []).append((target.rank, key, series))
    if split == "train":
        notes.unreadable |= refused - candidates.keys()
    for name, found in candidates.items():
        _coalesce(name, sorted(found, key=lambda candidate: candidate[0]), len(rows), columns, notes)
    return columns


def to_table(run_id: str, split: str, steps: Sequence[int], columns: Columns) -> pa.Table:
    """Build the rows of one split with :data:`rlchecks.schema.STEPS`."""
    count = len(steps)
    arrays: dict[str, pa.Array] = {
        "run_id": pa.repeat(run_id, count),
        "split": pa.repeat(split, count),
        "step": pa.array(steps, pa.int64()),
        "extra": number_map(count, {**columns.extra, **columns.functions}),
        "extra_text": text_map(count, columns.texts),
    }
    for name in ("epoch", *METRICS):
        series = columns.metrics.get(name)
        arrays[name] = pa.nulls(count, pa.float64()) if series is None else dense(series, count)
    return pa.Table.from_arrays([arrays[name] for name in STEPS.names], schema=STEPS)


def _transpose(rows: Sequence[Row]) -> dict[str, list[_Piece]]:
    # Rows with the same keys are transposed together; the work is proportional to the number of values even if
    # every row has keys of its own.
    alike: dict[tuple[str, ...], list[int]] = {}
    for index, row in enumerate(rows):
        alike.setdefault(tuple(row), []).append(index)
    columns: dict[str, list[_Piece]] = {}
    for keys, members in alike.items():
        at = np.array(members) if len(members) >= _MANY else members
        values = zip(*(rows[index].values() for index in members), strict=True)
        for key, column in zip(keys, values, strict=True):
            columns.setdefault(key, []).append((at, column))
    return columns


def _series(pieces: list[_Piece]) -> tuple[Series, list[tuple[int, str]], int]:
    if len(pieces) == 1:
        at, values = np.asarray(pieces[0][0], dtype=np.int64), pieces[0][1]
    else:
        at = np.fromiter(chain.from_iterable(members for members, _ in pieces), dtype=np.int64)
        values = tuple(chain.from_iterable(some for _, some in pieces))
    numbers = to_numbers(values)
    series = Series(at[numbers.present], numbers.numbers[numbers.present])
    return series, [(int(at[position]), text) for position, text in numbers.texts], numbers.quoted


def _target(split: str, key: str, framework: Framework) -> Target | None:
    if key in framework.epoch:
        return Target("epoch", framework.epoch.index(key))
    if split == "eval":
        return framework.eval_target(key)
    if split == "summary" and is_summary_key(key, framework):
        return None
    return framework.target(key)


def _keep(key: str, series: Series, columns: Columns) -> None:
    """Keep values that are in no metric under their logged key."""
    known = columns.extra.get(clean(key), Series(np.empty(0, dtype=np.int64), np.empty(0)))
    columns.extra[clean(key)] = Series(*(np.concatenate(parts) for parts in zip(known, series, strict=True)))


def _coalesce(name: str, found: list[tuple[int, str, Series]], count: int, columns: Columns, notes: Notes) -> None:
    numbers = np.full(count, np.nan)
    taken = np.zeros(count, dtype=np.bool_)
    first = found[0][1]
    for _, key, series in found:
        free = ~taken[series.rows]
        numbers[series.rows[free]] = series.numbers[free]
        rest = Series(series.rows[~free], series.numbers[~free])
        taken[series.rows] = True
        notes.mapped.setdefault(name, {})[key] = None
        if len(rest.rows):
            _keep(key, rest, columns)
            if not np.allclose(rest.numbers, numbers[rest.rows], rtol=1e-3, atol=1e-6, equal_nan=True):
                notes.differing[key] = first
    where = np.flatnonzero(taken)
    home = columns.metrics if name in METRICS or name == "epoch" else columns.functions
    home[clean(name)] = Series(where, numbers[where])
