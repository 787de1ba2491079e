"""Telling apart what a log mixes: training rows, evaluation rows and the closing summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rlchecks.readers.aliases import Framework
from rlchecks.readers.steps import Row

_EVAL_WORDS = frozenset({"eval", "evaluation", "val", "valid", "validation", "test"})


@dataclass
class Part:
    """Rows of one split and where in the log each came from."""

    rows: list[Row] = field(default_factory=list)
    at: list[int] = field(default_factory=list)

    def add(self, index: int, row: Row) -> None:
        """Append the row that stood at ``index`` in the log."""
        self.rows.append(row)
        self.at.append(index)


@dataclass
class Division:
    """A log by kind of row.

    Attributes:
        train: training metrics.
        eval: metrics of the run's own evaluation set.
        summary: what a closing row says about the whole run.
        closing: training metrics that a closing row holds: those of the last steps, flushed into it.
    """

    train: Part = field(default_factory=Part)
    eval: Part = field(default_factory=Part)
    summary: Part = field(default_factory=Part)
    closing: Part = field(default_factory=Part)


class _Plan(NamedTuple):
    """The kinds of the keys of all rows that have the same keys."""

    shared: tuple[str, ...]
    train: tuple[str, ...]
    eval: tuple[str, ...]
    closes: bool
    split: str | None


def divide(rows: Sequence[Row], framework: Framework) -> Division:
    """Divide logged rows by the names of their keys.

    A row may hold values of several kinds (a table has all columns in every row); each part then goes its way, with
    the step. ``eval_reward`` can thus never become a training reward.
    """
    division = Division()
    plans: dict[tuple[str, ...], _Plan] = {}
    for index, row in enumerate(rows):
        keys = tuple(row)
        plan = plans.get(keys)
        if plan is None:
            plan = plans[keys] = _plan(keys, framework)
        if plan.split is not None and str(row[plan.split]).lower() in _EVAL_WORDS:
            division.eval.add(index, row)
        elif not plan.closes and not plan.eval:
            if plan.train:
                division.train.add(index, row)
        elif not plan.closes and not plan.train:
            division.eval.add(index, row)
        else:
            _take_apart(index, row, plan, framework, division)
    return division


def is_summary_key(key: str, framework: Framework) -> bool:
    """Whether a key of a closing row sums up the run."""
    return key.startswith("train_") or key in framework.summary


def _plan(keys: tuple[str, ...], framework: Framework) -> _Plan:
    shared = {*framework.step, *framework.epoch, *framework.split}
    kinds: dict[str, list[str]] = {"shared": [], "train": [], "eval": []}
    for key in keys:
        kinds["shared" if key in shared else "eval" if framework.is_eval(key) else "train"].append(key)
    split = next((key for key in framework.split if key in keys), None)
    return _Plan(tuple(kinds["shared"]), tuple(kinds["train"]), tuple(kinds["eval"]), framework.marker in keys, split)


def _take_apart(index: int, row: Row, plan: _Plan, framework: Framework, division: Division) -> None:
    shared = {key: row[key] for key in plan.shared}
    closes = plan.closes and row[framework.marker] is not None
    parts: tuple[dict[str, object], dict[str, object], dict[str, object]] = ({}, {}, {})
    train, evaluation, summary = parts
    for key in plan.train:
        if row[key] is not None:
            (summary if closes and is_summary_key(key, framework) else train)[key] = row[key]
    for key in plan.eval:
        if row[key] is not None:
            evaluation[key] = row[key]
    if train:
        (division.closing if closes else division.train).add(index, {**shared, **train})
    if evaluation:
        division.eval.add(index, {**shared, **evaluation})
    if summary:
        division.summary.add(index, {**shared, **summary})
