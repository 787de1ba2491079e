"""Which checkpoint is the baseline and which the candidate."""

from __future__ import annotations

import re
from datetime import datetime
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from rlchecks.errors import InputError, UsageError
from rlchecks.heldout.names import listed, shown

_STEP_NAMES = frozenset({"checkpoint", "ckpt", "step", "global_step", "iter", "iteration"})
_ENDING_NUMBER = re.compile(r"(\d{1,18})$", re.ASCII)
_ENDING_DATE = re.compile(r"(?<!\d)(\d{4})[-_.](\d{2})[-_.](\d{2})$", re.ASCII)


class Checkpoints(NamedTuple):
    """The two checkpoints of a comparison.

    Attributes:
        baseline: the starting model.
        candidate: the model to be promoted.
        candidate_step: its training step, if its rows or its name tell it.
    """

    baseline: str
    candidate: str
    candidate_step: int | None


def choose_checkpoints(table: pa.Table, baseline: str | None, candidate: str | None) -> Checkpoints:
    """Baseline and candidate: as named, else the earliest and the latest.

    A checkpoint's place is its ``step``, else the number that ends its name, if that is where trainers write the step
    or all names differ in it only: the 2024 of ``qwen-base-2024`` is no step, and a date never is. With two
    checkpoints, one of them named, the other role goes to the other.

    Args:
        table: held-out rows.
        baseline: name given by the user, or None.
        candidate: name given by the user, or None.

    Raises:
        UsageError: a name is not in the rows, one checkpoint has several steps, or the order cannot be told; the
            sentence lists the names to choose from.
        InputError: there are no rows.
    """
    if not len(table):
        raise InputError("there are no held-out rows", todo="give rows of a baseline and a candidate")
    steps = _steps(table)
    for role, name in (("baseline", baseline), ("candidate", candidate)):
        if name is not None and name not in steps:
            raise UsageError(f"There is no checkpoint {shown(name)} for the {role}; the rows have {listed(steps)}.")
    if (baseline is None) != (candidate is None) and len(steps) == 2:
        other = next(name for name in steps if name not in (baseline, candidate))
        baseline, candidate = baseline or other, candidate or other
    if baseline is None or candidate is None:
        earliest, latest = _extremes(steps, _named_alike(table))
        baseline, candidate = baseline or earliest, candidate or latest
    return Checkpoints(baseline, candidate, placed(table, baseline).get(candidate))


def placed(table: pa.Table, baseline: str) -> dict[str, int | None]:
    """The checkpoints that have a place in the training, earliest first, each with its step.

    A baseline without a step is the starting model, and comes first.

    Args:
        table: held-out rows.
        baseline: name of the baseline.

    Raises:
        UsageError: one checkpoint has several steps.
    """
    given = table.filter(pc.is_valid(table["step"]))["checkpoint"].unique().to_pylist()
    alike = _named_alike(table)
    known = {name: step for name, step in _steps(table).items() if alike or name in given or _stem(name) in _STEP_NAMES}
    first = {} if known.get(baseline) is not None else {baseline: None}
    others = sorted((step, name) for name, step in known.items() if step is not None)
    return first | {name: step for step, name in others}


def _steps(table: pa.Table) -> dict[str, int | None]:
    grouped = table.group_by("checkpoint").aggregate([("step", "min"), ("step", "max")])
    steps: dict[str, int | None] = {}
    for row in sorted(grouped.to_pylist(), key=lambda row: str(row["checkpoint"])):
        name, low, high = row["checkpoint"], row["step_min"], row["step_max"]
        if low != high:
            raise UsageError(
                f"The rows of checkpoint {shown(name)} name several steps ({low}, {high}); give each its own."
            )
        number = _ENDING_NUMBER.search(name)
        steps[name] = low if low is not None else int(number[1]) if number and not _dated(name, number[1]) else None
    return steps


def _dated(name: str, number: str) -> bool:
    """Whether the number that ends a model's name is its date: ``claude-3-5-sonnet-20240620``, ``gpt-4o-2024-08-06``.

    A number behind a word with which trainers count is a step, whatever it looks like.
    """
    if _stem(name) in _STEP_NAMES:
        return False
    ending = _ENDING_DATE.search(name)
    written = "".join(ending.groups()) if ending else number
    if len(written) != 8 or not 1990 <= int(written[:4]) < 2100:
        return False
    try:
        datetime.strptime(written, "%Y%m%d")
    except ValueError:
        return False
    return True


def _named_alike(table: pa.Table) -> bool:
    """Whether the numbers that end names are places on one scale.

    They are where trainers write the step (``checkpoint-40``), or where no row gives a step and the names differ in
    their last number only.
    """
    names = table["checkpoint"].unique().to_pylist()
    unplaced = table.filter(pc.is_null(table["step"]))["checkpoint"].unique().to_pylist()
    stems = set(map(_stem, unplaced))
    return stems <= _STEP_NAMES or (len(stems) == 1 and len(unplaced) == len(names))


def _stem(name: str) -> str:
    return _ENDING_NUMBER.sub("", name).rstrip("-_").lower()


def _extremes(steps: dict[str, int | None], alike: bool) -> tuple[str, str]:
    if len(steps) == 1:
        only = next(iter(steps))
        return only, only
    placed = sorted((step, name) for name, step in steps.items() if step is not None)
    ties = len(placed) > 1 and (placed[0][0] == placed[1][0] or placed[-1][0] == placed[-2][0])
    if len(placed) < len(steps) or ties or not alike:
        why = "have the same step" if ties else "have neither a step nor names that differ in their last number only"
        raise UsageError(
            f"Which checkpoint is the baseline and which the candidate cannot be told, since some {why}; "
            f"name them with --baseline and --candidate (the rows have {listed(steps)})."
        )
    return placed[0][1], placed[-1][1]
