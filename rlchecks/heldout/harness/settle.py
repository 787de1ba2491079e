"""Evaluation logs together as raw rows: checkpoints named, implied rows kept once, doubled logs refused."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from rlchecks.errors import UsageError
from rlchecks.heldout.harness.given import Given
from rlchecks.heldout.harness.log import Answer, EvalLog, JudgeFacts
from rlchecks.heldout.harness.places import names_for, step_of
from rlchecks.heldout.names import listed, shown
from rlchecks.heldout.rawrows import RawRows

_COPIED = (
    "question_id",
    "judge",
    "score",
    "epoch",
    "decoding",
    "answer",
    "prompt",
    "target",
    "category",
    "cluster",
)

ALIKE = pa.schema([(name, pa.string()) for name in ("checkpoint", "judge", "question_id", "same")])
"""What tells whether a question of two checkpoints is the same: :attr:`rlchecks.heldout.rows.HeldoutRows.alike`."""


class Settled(NamedTuple):
    """Raw rows of evaluation logs.

    Attributes:
        rows: one for each log, in their order.
        alike: :data:`ALIKE`.
        judges: what the logs tell of the judges.
    """

    rows: list[RawRows]
    alike: pa.Table
    judges: tuple[JudgeFacts, ...]


def settle(logs: list[tuple[Given, EvalLog]]) -> Settled:
    """Name the checkpoints of logs and put their answers into rows.

    Raises:
        UsageError: a log of several models was declared as one checkpoint, or two logs hold the same answers.
    """
    names = names_for([(given.path, log.model) for given, log in logs])
    seen: dict[tuple[object, ...], tuple[Path, float | None, bool]] = {}
    alike: list[pa.Table] = []
    rows = []
    for (given, log), name in zip(logs, names, strict=True):
        kept, checkpoints = [], []
        renamed = _renaming(given, log)
        for answer in log.answers:
            checkpoint = renamed.get(answer.checkpoint or "", answer.checkpoint) or given.checkpoint or name
            key = (answer.question_id, checkpoint, answer.judge, answer.epoch, answer.decoding)
            earlier = seen.get(key)
            if earlier is None:
                seen[key] = (given.path, answer.score, answer.implied)
            elif earlier[2] and answer.implied and earlier[1] == answer.score:
                continue
            elif earlier[0] != given.path:
                raise _doubled(earlier[0], given.path, checkpoint, answer)
            kept.append(answer)
            checkpoints.append(checkpoint)
        rows.append(_raw(kept, checkpoints))
        alike.append(_alike(kept, checkpoints))
    table = pa.concat_tables([ALIKE.empty_table(), *alike])
    return Settled(rows, table, _judges(log for _, log in logs))


def _alike(kept: list[Answer], checkpoints: list[str]) -> pa.Table:
    told = [
        (checkpoint, answer.judge, answer.question_id, answer.same)
        for checkpoint, answer in zip(checkpoints, kept, strict=True)
        if answer.same is not None
    ]
    columns = zip(*told, strict=True) if told else [()] * len(ALIKE)
    table = pa.table([_texts(list(column)) for column in columns], schema=ALIKE)
    # Repeats of a question say the same again.
    return table.group_by(ALIKE.names).aggregate([])


def _renaming(given: Given, log: EvalLog) -> dict[str, str]:
    """What a declared name is put in the place of."""
    if given.checkpoint is None:
        return {}
    models = sorted({answer.checkpoint for answer in log.answers if answer.checkpoint and not answer.implied})
    if len(models) > 1:
        raise UsageError(
            f"{given.path} holds answers of several models ({listed(models)}), so it cannot all be the checkpoint "
            f"{shown(given.checkpoint)}; give the path alone, and choose with --baseline and --candidate."
        )
    return dict.fromkeys(models, given.checkpoint)


def _doubled(one: Path, other: Path, checkpoint: str, answer: Answer) -> UsageError:
    return UsageError(
        f"{one} and {other} both hold answers of {shown(checkpoint)} to question {shown(answer.question_id)} that "
        f"{shown(answer.judge)} scored; give one of them, or say which checkpoint each is of with --heldout NAME=PATH."
    )


def _raw(answers: list[Answer], checkpoints: list[str]) -> RawRows:
    told = {name: step_of(name) for name in set(checkpoints)}
    steps = [
        told[name] if answer.step is None else answer.step for name, answer in zip(checkpoints, answers, strict=True)
    ]
    columns: dict[str, pa.ChunkedArray | Sequence[object]] = {"checkpoint": _column(checkpoints), "step": steps}
    for field in _COPIED:
        columns[field] = _column([getattr(answer, field) for answer in answers])
    return RawRows(columns, (), len(answers), lambda index: answers[index].where)


def _column(values: list[Any]) -> pa.ChunkedArray | Sequence[object]:
    """Texts as an Arrow column, which takes a fraction of the time; anything else value by value."""
    try:
        return pa.chunked_array([pa.array(values, pa.string())])
    except (pa.ArrowException, UnicodeEncodeError):
        return [value if isinstance(value, str | list | dict | int | float) else None for value in values]


def _texts(values: list[str]) -> pa.Array:
    try:
        return pa.array(values, pa.string())
    except UnicodeEncodeError:
        return pa.array([value.encode("utf-8", "replace").decode() for value in values], pa.string())


def _judges(logs: Iterable[EvalLog]) -> tuple[JudgeFacts, ...]:
    found: dict[str, JudgeFacts] = {}
    for log in logs:
        for facts in log.judges:
            found[facts.name] = found[facts.name].merged(facts) if facts.name in found else facts
    return tuple(found.values())
