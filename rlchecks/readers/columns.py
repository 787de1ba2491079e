"""Rows of a log to the columns of the ``steps`` table, built column by column."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rlchecks.metrics import METRICS
from rlchecks.readers.aliases import Framework, Target
from rlchecks.readers.cells import Cells
from rlchecks.readers.maps import Series, Texts, constant, dense, joined_texts, number_map, text_map
from rlchecks.readers.ranges import STRAYS, are_strays, outside
from rlchecks.readers.text import clean
from rlchecks.readers.values import doubles
from rlchecks.schema import STEPS


@dataclass
class Notes:
    """What was noticed while columns were built; one for all splits of a run.

    Attributes:
        mapped: canonical name to the keys whose values it has.
        unmapped: keys without a canonical name; other counters of steps than the one that is used are none.
        quoted: numbers that were logged as text.
        texts: key of a metric to how many of its values are no numbers.
        differing: key of a metric to the key that was used in its place, since both were logged and differ.
        outside: key to the canonical metric whose range its values leave, so that it is not used.
        written: key of a metric whose values have more in them than a number, such as ``97%``, to one of them; it is
            not used.
        strays: key of a metric to its name, and how many of its values leave the range and were taken as missing.
        unreadable: canonical metrics that the training rows lack since every key of theirs is ``outside`` or
            ``written``.
        derived: canonical metric to how it was computed from what is logged.
        switched_off: canonical metric that is 0 in every training row, hence not measured, to the key and how many.
        doubts: other sentences about what could not be derived.
    """

    mapped: dict[str, dict[str, None]] = field(default_factory=dict)
    unmapped: dict[str, None] = field(default_factory=dict)
    quoted: int = 0
    texts: dict[str, int] = field(default_factory=dict)
    differing: dict[str, str] = field(default_factory=dict)
    outside: dict[str, str] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    strays: dict[str, tuple[str, int]] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)
    derived: dict[str, str] = field(default_factory=dict)
    switched_off: dict[str, tuple[str, int]] = field(default_factory=dict)
    doubts: list[str] = field(default_factory=list)


@dataclass
class Columns:
    """The columns of one split.

    Attributes:
        metrics: canonical name (and ``epoch``) to its values.
        functions: ``reward/<function>`` and ``reward_std/<function>`` to their values.
        extra: other numbers by logged key.
        texts: what is no number, by logged key.
    """

    metrics: dict[str, Series] = field(default_factory=dict)
    functions: dict[str, Series] = field(default_factory=dict)
    extra: dict[str, Series] = field(default_factory=dict)
    texts: dict[str, Texts] = field(default_factory=dict)


def gather(
    split: str,
    count: int,
    values: Iterable[tuple[str, Sequence[Cells]]],
    framework: Framework,
    notes: Notes,
    *,
    leave_out: Collection[str],
) -> Columns:
    """Sort the values of a split into columns.

    Finite values outside of a metric's range are taken as missing; a key with more than
    :data:`rlchecks.readers.ranges.STRAYS` of them holds another quantity, such as per cent, and is not mapped. Nor is
    one with more than that of texts that go on behind a number, such as ``97%``.

    Args:
        split: ``train``, ``eval`` or ``summary``.
        count: number of rows, one per step.
        values: keys and their values by row.
        framework: whose keys they are.
        notes: gets what is noticed.
        leave_out: keys that are used otherwise, such as the step.
    """
    columns = Columns()
    candidates: dict[str, list[tuple[int, str, Series]]] = {}
    refused: set[str] = set()
    for key, parts in values:
        if key in leave_out:
            continue
        series, texts, quoted = _series(parts)
        notes.quoted += quoted
        target = _target(split, key, framework)
        if target is not None and target.name in METRICS and (text := _with_a_unit(series, texts)) is not None:
            notes.written[key] = text
            refused.add(target.name)
            target = None
        if target is not None and (wrong := outside(target.name, series)).any():
            if are_strays(wrong):
                notes.strays[key] = target.name, notes.strays.get(key, ("", 0))[1] + int(wrong.sum())
                _keep(key, Series(series.rows[wrong], series.numbers[wrong]), columns)
                series = Series(series.rows[~wrong], series.numbers[~wrong])
            else:
                notes.outside[key] = target.name
                refused.add(target.name)
                target = None
        if len(texts.rows):
            columns.texts[clean(key)] = texts
            if target is not None:
                notes.texts[key] = notes.texts.get(key, 0) + len(texts.rows)
        if target is None:
            if key not in framework.step:
                notes.unmapped[key] = None
            _keep(key, series, columns)
        else:
            candidates.setdefault(target.name, []).append((target.rank, key, series))
    if split == "train":
        notes.unreadable |= refused - candidates.keys()
    for name, found in candidates.items():
        _coalesce(name, sorted(found, key=lambda candidate: candidate[0]), count, columns, notes)
    return columns


def named_bytes(columns: Columns) -> int:
    """Bytes that the names of the values in ``extra`` and ``extra_text`` take: each value carries its name."""
    numbers = {**columns.extra, **columns.functions}
    counts = [(name, len(series.rows)) for name, series in numbers.items()]
    counts += [(name, len(texts.rows)) for name, texts in columns.texts.items()]
    return sum(len(name.encode()) * count for name, count in counts)


def to_table(run_id: str, split: str, steps: NDArray[np.int64], columns: Columns) -> pa.Table:
    """Build the rows of one split with :data:`rlchecks.schema.STEPS`."""
    count = len(steps)
    missing = pa.nulls(count, pa.float64())
    arrays: dict[str, pa.Array | pa.ChunkedArray] = {
        "run_id": constant(run_id, count),
        "split": constant(split, count),
        "step": pa.array(steps, pa.int64()),
        "extra": number_map(count, {**columns.extra, **columns.functions}),
        "extra_text": text_map(count, columns.texts),
    }
    for name in ("epoch", *METRICS):
        series = columns.metrics.get(name)
        arrays[name] = missing if series is None else dense(series, count)
    return pa.Table.from_arrays([arrays[name] for name in STEPS.names], schema=STEPS)


def _series(parts: Sequence[Cells]) -> tuple[Series, Texts, int]:
    """Tell the numbers of a key from what is none, and count those that were logged as text."""
    series: list[Series] = []
    texts: list[Texts] = []
    quoted = 0
    for cells in parts:
        numbers, present, others, in_text = doubles(cells)
        quoted += in_text
        if present.all():
            series.append(Series(cells.at, numbers))
        else:
            series.append(Series(cells.at[present], numbers[present]))
            texts.append(Texts(cells.at[~present], others))
    return _joined(series), joined_texts(texts), quoted


def _with_a_unit(series: Series, texts: Texts) -> str | None:
    """The first text that goes on behind a number, if the key has too many of them to do without; None otherwise.

    An integer that no double can hold is none: it is whole, and kept as text.
    """
    if not len(texts.rows):
        return None
    numeric = pc.match_substring_regex(texts.texts, r"^\s*[+-]?\d*\.?\d+[^\d]")
    if pc.sum(numeric).as_py() <= STRAYS * (len(series.rows) + len(texts.rows)):
        return None
    return str(texts.texts[pc.index(numeric, True).as_py()].as_py())


def _joined(parts: Sequence[Series]) -> Series:
    if len(parts) == 1:
        return parts[0]
    rows = np.concatenate([np.empty(0, dtype=np.int64), *(part.rows for part in parts)])
    order = np.argsort(rows, kind="stable")
    return Series(rows[order], np.concatenate([np.empty(0), *(part.numbers for part in parts)])[order])


def _target(split: str, key: str, framework: Framework) -> Target | None:
    if key in framework.epoch:
        return Target("epoch", framework.epoch.index(key))
    if split == "eval":
        return framework.eval_target(key)
    if split == "summary" and framework.sums_up(key):
        return None
    return framework.target(key)


def _keep(key: str, series: Series, columns: Columns) -> None:
    """Keep values that are in no metric under their logged key."""
    known = columns.extra.get(clean(key))
    columns.extra[clean(key)] = series if known is None else _joined([known, series])


def _coalesce(name: str, found: list[tuple[int, str, Series]], count: int, columns: Columns, notes: Notes) -> None:
    _, first, series = found[0]
    notes.mapped.setdefault(name, {}).update(dict.fromkeys(key for _, key, _ in found))
    if len(found) > 1:
        numbers = np.full(count, np.nan)
        taken = np.zeros(count, dtype=np.bool_)
        for _, key, series in found:
            free = ~taken[series.rows]
            numbers[series.rows[free]] = series.numbers[free]
            rest = Series(series.rows[~free], series.numbers[~free])
            taken[series.rows] = True
            if len(rest.rows):
                _keep(key, rest, columns)
                if not np.allclose(rest.numbers, numbers[rest.rows], rtol=1e-3, atol=1e-6, equal_nan=True):
                    notes.differing[key] = first
        where = np.flatnonzero(taken)
        series = Series(where, numbers[where])
    home = columns.metrics if name in METRICS or name == "epoch" else columns.functions
    home[clean(name)] = series
