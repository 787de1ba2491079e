"""Logged rows to a run log: the part that all readers share.

A reader finds the rows of its format, as mappings from logged key to logged value, and the facts around them; what
the rows mean is decided here, by the framework's aliases.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rlchecks.errors import InputError, NotARunError, UsageError
from rlchecks.metrics import REWARD_FUNCTION
from rlchecks.readers.aliases import Framework
from rlchecks.readers.closing import flush
from rlchecks.readers.columns import Columns, Notes, gather, named_bytes, to_table
from rlchecks.readers.derive import derive
from rlchecks.readers.framework_facts import framework_facts
from rlchecks.readers.identity import run_id
from rlchecks.readers.maps import BLOCK
from rlchecks.readers.placed import placed
from rlchecks.readers.registry import ReadOptions
from rlchecks.readers.remarks import remarks
from rlchecks.readers.rows import Row, Rows
from rlchecks.readers.settle import Settled, settle, tell
from rlchecks.readers.splits import Division, Kind, divide
from rlchecks.readers.steps import NO_STEP, Numbered, number
from rlchecks.readers.text import clean, counted, listing, place
from rlchecks.run import InputFile, RunLog
from rlchecks.schema import VALIDATION

MAX_NAMES = (1 << 31) - 1
"""Most bytes of names in one table: Arrow counts those of a column with 32 bits."""


@dataclass(frozen=True)
class Logged:
    """What a reader found.

    Attributes:
        path: what was read, for the user.
        name: the run's name.
        framework: whose keys the rows have.
        rows: the logged rows in the order of the log.
        inputs: the files that were read.
        planned_steps: steps the run was configured for, if known.
        framework_version: if known.
        facts: other facts.
        warnings: what was noticed so far.
        untyped: the format knows only text, so that numbers in text need no mention.
    """

    path: Path
    name: str
    framework: Framework
    rows: Sequence[Row]
    inputs: tuple[InputFile, ...]
    planned_steps: int | None = None
    framework_version: str | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    untyped: bool = False


def keys_of(rows: Sequence[Row]) -> frozenset[str]:
    """Collect all logged keys."""
    if isinstance(rows, Rows):
        return frozenset(rows.keys)
    return frozenset(key for shape in {tuple(row) for row in rows} for key in shape)


def assemble(logged: Logged, options: ReadOptions) -> RunLog:
    """Make a run log of logged rows.

    Args:
        logged: the rows and what is known about them.
        options: what the user said about the run.

    Raises:
        InputError: there are more keys or values than are kept (see :mod:`rlchecks.readers.budget`), or more names.
        NotARunError: no row has a reward.
        UsageError: a column that the user named does not exist, or neither does its canonical name.
    """
    rows = Rows.of(logged.rows, logged.path)
    keys = keys_of(rows)
    framework = logged.framework.among(keys).with_columns(options.columns)
    missing = sorted(options.columns.keys() - keys)
    if missing:
        raise UsageError(f"{place(logged.path)} has no column {listing(missing)}; it has {listing(sorted(keys))}.")
    if not any(framework.is_reward(key) for key in keys):
        raise NotARunError(
            f"{counted(len(rows), 'logged row')}, none with {framework.sought_reward(keys)}",
            path=place(logged.path),
            todo="if a column with another name is the reward, say so: --column OWN=reward",
        )
    division = divide(rows, framework)
    training = division.train | division.closing
    numbered = number(rows, framework.step, training, each_row=framework.step_each_row)
    settled, warnings = _settle(division, numbered, framework)
    identity = run_id(options.run_id, logged.name, framework.name, rows[int(training.argmax())])

    notes = Notes()
    used = {*framework.split, *numbered.keys}
    columns: dict[str, Columns] = {}
    for split, part in settled.items():
        values = placed(division, split, part)
        columns[split] = gather(split, len(part.steps), values, framework, notes, leave_out=used)
    for split, part in settled.items():
        derive(split, columns[split], framework, len(part.steps), notes)
    if (names := sum(map(named_bytes, columns.values()))) > MAX_NAMES:
        problem = f"{names:,} bytes of names for the values without a metric, more than the {MAX_NAMES:,} that are kept"
        raise InputError(problem, path=place(logged.path))
    steps = _concatenated(to_table(identity, split, part.steps, columns[split]) for split, part in settled.items())
    functions = {name for part in columns.values() for name in part.functions if name.startswith(REWARD_FUNCTION)}
    functions -= framework.datasets - columns["train"].functions.keys()
    return RunLog(
        run_id=identity,
        name=logged.name,
        source=clean(str(logged.path)),
        framework=framework.name,
        framework_version=logged.framework_version,
        steps=steps,
        validation=_validation(identity, settled["eval"].steps, columns["eval"]),
        planned_steps=logged.planned_steps,
        repeated_steps=settled["train"].repeated,
        graders=tuple(sorted(name.removeprefix(REWARD_FUNCTION) for name in functions)),
        facts={**framework_facts(framework, notes, steps), **logged.facts},
        inputs=logged.inputs,
        unmapped=tuple(sorted(clean(key) for key in notes.unmapped)),
        warnings=(*logged.warnings, *warnings, *remarks(notes, framework, quoted=not logged.untyped)),
    )


def _settle(division: Division, numbered: Numbered, framework: Framework) -> tuple[dict[str, Settled], tuple[str, ...]]:
    train_at, summary_at = flush(division, numbered.steps)
    eval_at = np.flatnonzero(division.eval & (numbered.steps != NO_STEP))

    named = [framework.target(key) is not None for key, kind in division.kinds.items() if kind is not Kind.SHARED]

    def settled(split: str, at: NDArray[np.int64]) -> Settled:
        return settle(
            len(division.rows),
            at,
            numbered.steps[at],
            partial(division.metrics, split),
            named=named if split == "train" else (),
            unite=None if split == "train" else partial(division.keys, split),
            scattered=framework.merge_steps,
        )

    train, evaluations = settled("train", train_at), settled("eval", eval_at)
    warnings = [*numbered.warnings, *tell(train)]
    if evaluations.repeated:
        rows_again = counted(evaluations.repeated, "evaluation row")
        warnings.append(f"{rows_again} for a step evaluated before: the last of each step is kept")
    if evaluations.united:
        warnings.append("several evaluation sets at one step: of a metric that they share, the last value is kept")
    return {"train": train, "eval": evaluations, "summary": settled("summary", summary_at)}, tuple(warnings)


def _concatenated(tables: Iterable[pa.Table]) -> pa.Table:
    steps = pa.concat_tables(tables)
    # Of a long log the blocks stay: they share what they have in common.
    return steps.combine_chunks() if len(steps) <= BLOCK else steps


def _validation(identity: str, steps: NDArray[np.int64], columns: Columns) -> pa.Table:
    checks = [(None, columns.metrics["reward"])] if "reward" in columns.metrics else []
    named = sorted(name for name in columns.functions if name.startswith(REWARD_FUNCTION))
    graders = [*checks, *((name.removeprefix(REWARD_FUNCTION), columns.functions[name]) for name in named)]
    tables = [
        pa.Table.from_arrays(
            [
                pa.repeat(identity, len(series.rows)),
                pa.array(steps[series.rows]),
                pa.nulls(len(series.rows), pa.string()),
                pa.array([grader] * len(series.rows), pa.string()),
                pa.array(series.numbers),
            ],
            schema=VALIDATION,
        )
        for grader, series in graders
    ]
    if not tables:
        return VALIDATION.empty_table()
    return pa.concat_tables(tables).sort_by([("step", "ascending")]).combine_chunks()
