"""Logged rows to a run log: the part that all readers share.

A reader finds the rows of its format, as mappings from logged key to logged value, and the facts around them; what
the rows mean is decided here, by the framework's aliases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from rlchecks.errors import InputError, NotARunError, UsageError
from rlchecks.metrics import REWARD_FUNCTION
from rlchecks.readers.aliases import Framework
from rlchecks.readers.columns import Columns, Notes, gather, to_table
from rlchecks.readers.derive import derive
from rlchecks.readers.identity import run_id
from rlchecks.readers.registry import ReadOptions
from rlchecks.readers.remarks import remarks
from rlchecks.readers.splits import Division, divide
from rlchecks.readers.steps import Numbered, Row, Settled, complement, number, settle, tell
from rlchecks.readers.text import clean, counted, listing, place
from rlchecks.run import InputFile, RunLog
from rlchecks.schema import VALIDATION

MAX_KEYS = 20_000
"""Most different keys of a log; with statistics of every layer logs have some thousands."""


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
        guard: refuse keys whose values leave the range of their metric.
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
    guard: bool = False


def keys_of(rows: Sequence[Row]) -> frozenset[str]:
    """Collect all logged keys."""
    return frozenset(key for shape in {tuple(row) for row in rows} for key in shape)


def assemble(logged: Logged, options: ReadOptions) -> RunLog:
    """Make a run log of logged rows.

    Args:
        logged: the rows and what is known about them.
        options: what the user said about the run.

    Raises:
        InputError: there are more than :data:`MAX_KEYS` keys.
        NotARunError: no row has a reward.
        UsageError: a column that the user named does not exist, or neither does its canonical name.
    """
    keys = keys_of(logged.rows)
    if len(keys) > MAX_KEYS:
        raise InputError(
            f"{len(keys):,} different keys, more than the {MAX_KEYS:,} of any log", path=place(logged.path)
        )
    framework = logged.framework.with_columns(options.columns)
    missing = sorted(options.columns.keys() - keys)
    if missing:
        raise UsageError(f"{place(logged.path)} has no column {listing(missing)}; it has {listing(sorted(keys))}.")
    if not any(framework.is_reward(key) for key in keys):
        raise NotARunError(
            f"{counted(len(logged.rows), 'logged row')}, none with a reward (keys: {listing(sorted(keys))})",
            path=place(logged.path),
            todo="a column with another name can be declared to be the reward",
        )
    division = divide(logged.rows, framework)
    training = {*division.train.at, *division.closing.at}
    numbered = number(logged.rows, framework.step, [index in training for index in range(len(logged.rows))])
    settled, warnings = _settle(division, numbered, framework)
    first = min(training, default=0)
    identity = run_id(options.run_id, logged.name, framework.name, logged.rows[first])

    notes = Notes()
    used = {*framework.split, *([numbered.key] if numbered.key else [])}
    columns = {
        split: gather(split, part.rows, framework, notes, leave_out=used, guard=logged.guard)
        for split, part in settled.items()
    }
    for split, part in settled.items():
        derive(columns[split], framework, len(part.steps), notes)
    tables = [to_table(identity, split, part.steps, columns[split]) for split, part in settled.items()]
    functions = {name for part in columns.values() for name in part.functions if name.startswith(REWARD_FUNCTION)}
    return RunLog(
        run_id=identity,
        name=logged.name,
        source=clean(str(logged.path)),
        framework=framework.name,
        framework_version=logged.framework_version,
        steps=pa.concat_tables(tables).combine_chunks(),
        validation=_validation(identity, settled["eval"].steps, columns["eval"]),
        planned_steps=logged.planned_steps,
        repeated_steps=settled["train"].repeated,
        graders=tuple(sorted(name.removeprefix(REWARD_FUNCTION) for name in functions)),
        facts=_facts(logged, notes),
        inputs=logged.inputs,
        unmapped=tuple(sorted(clean(key) for key in notes.unmapped)),
        warnings=(*logged.warnings, *warnings, *remarks(notes, framework, quoted=not logged.untyped)),
    )


def _settle(division: Division, numbered: Numbered, framework: Framework) -> tuple[dict[str, Settled], tuple[str, ...]]:
    counters = {*framework.step, *framework.epoch, *framework.split}

    def placed(at: Sequence[int], rows: Sequence[Row]) -> tuple[list[int], list[Row]]:
        kept = [(step, row) for index, row in zip(at, rows, strict=True) if (step := numbered.steps[index]) is not None]
        return [step for step, _ in kept], [row for _, row in kept]

    steps, rows = placed(division.train.at, division.train.rows)
    closing_steps, closing_rows = placed(division.closing.at, division.closing.rows)
    summary_steps, summary_rows = placed(division.summary.at, division.summary.rows)
    last_at = {step: position for position, step in enumerate(steps)}
    for step, row in zip(closing_steps, closing_rows, strict=True):
        last = last_at.get(step)
        if last is None:
            steps.append(step)
            rows.append(row)
        elif complement(rows[last], row, counters):
            rows[last] = {**rows[last], **row}
        else:
            # The step was logged already; what the closing row says about it stays there.
            summary_steps.append(step)
            summary_rows.append(row)
    train = settle(steps, rows, counters)
    evaluations = settle(*placed(division.eval.at, division.eval.rows), counters, unite=True)
    warnings = [*numbered.warnings, *tell(train)]
    if evaluations.repeated:
        rows_again = counted(evaluations.repeated, "evaluation row")
        warnings.append(f"{rows_again} for a step evaluated before: the last of each step is kept")
    if evaluations.united:
        warnings.append("several evaluation sets at one step: of a metric that they share, the last value is kept")
    summary = settle(summary_steps, summary_rows, counters, unite=True)
    return {"train": train, "eval": evaluations, "summary": summary}, tuple(warnings)


def _validation(identity: str, steps: Sequence[int], columns: Columns) -> pa.Table:
    step_of = np.asarray(steps, dtype=np.int64)
    checks = [(None, columns.metrics["reward"])] if "reward" in columns.metrics else []
    named = sorted(name for name in columns.functions if name.startswith(REWARD_FUNCTION))
    graders = [*checks, *((name.removeprefix(REWARD_FUNCTION), columns.functions[name]) for name in named)]
    tables = [
        pa.Table.from_arrays(
            [
                pa.repeat(identity, len(series.rows)),
                pa.array(step_of[series.rows]),
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


def _facts(logged: Logged, notes: Notes) -> dict[str, str]:
    facts = dict(logged.facts)
    if notes.unreadable:
        facts["metrics_unreadable"] = ",".join(sorted(notes.unreadable))
    spread = next(iter(notes.mapped.get("reward_std", ())), None)
    if spread is not None:
        facts.setdefault("reward_std_semantics", logged.framework.semantics.get(spread, "unknown"))
    return facts
