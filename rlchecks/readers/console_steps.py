"""The steps of one run's rows, and what else the way they were printed tells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rlchecks.readers.console_rows import INITIAL, OPTIMISER, Entry
from rlchecks.readers.console_trainer import ROW, number


class Stepped(NamedTuple):
    """The rows of a run with their steps.

    Attributes:
        steps: places of the rows that make one, and its step; None if nothing tells it.
        planned: steps planned, if known.
        facts: how it is known, and how numbers were rounded.
        warnings: what was noticed.
    """

    steps: list[tuple[list[int], int | None]]
    planned: int | None
    facts: dict[str, str]
    warnings: list[str]


def stepped(entries: Sequence[Entry]) -> Stepped:
    """Find the step of each row of a run."""
    facts: dict[str, str] = {}
    rounded = {entry.rounded for entry in entries if entry.name != INITIAL}
    if len(rounded) == 1 and (how := rounded.pop()):
        facts["printed_numbers"] = f"rounded to {how} (inferred)"
    kind = entries[0].kind
    if kind == "trainer":
        return _trainer(entries, facts)
    if kind == "slime":
        return _slime(entries, facts)
    planned = next((entry.planned for entry in reversed(entries) if entry.planned), None)
    return Stepped([([entry.at], entry.step) for entry in _without_initial(entries)], planned, facts, [])


def _trainer(entries: Sequence[Entry], facts: dict[str, str]) -> Stepped:
    numbered = number(entries)
    warnings: list[str] = []
    if numbered.how:
        facts["step"] = f"{numbered.how} (inferred)"
    if numbered.how == ROW:
        warnings.append("the rows were printed without a step: they are numbered")
    if numbered.estimated:
        warnings.append("the log goes back and its epochs are rounded: the steps from there on are estimated")
    steps = [([entry.at], step) for step, entry in zip(numbered.steps, entries, strict=True)]
    return Stepped(list(steps), numbered.planned, facts, warnings)


def _without_initial(entries: Sequence[Entry]) -> list[Entry]:
    """Leave out the validation before the first step where verl's step line says it again."""
    kept: list[Entry] = []
    for number_of_entry, entry in enumerate(entries):
        if entry.name == INITIAL:
            following = entries[number_of_entry + 1] if number_of_entry + 1 < len(entries) else None
            if following and set(entry.keys) <= set(following.keys):
                continue
            entry = entry._replace(step=following.step if following else 0)
        kept.append(entry)
    return kept


def _slime(entries: Sequence[Entry], facts: dict[str, str]) -> Stepped:
    """Make one row of all that slime prints of one rollout; optimiser steps have a counter of their own."""
    rollouts = [entry.step for entry in entries if entry.name not in OPTIMISER and entry.step is not None]
    updates = [entry.step for entry in entries if entry.name in OPTIMISER and entry.step is not None]
    each = -(-(max(updates) + 1) // (max(rollouts) + 1)) if rollouts and updates else 1
    if each > 1:
        facts["optimiser_steps_per_rollout"] = f"{each} (inferred)"
    attempts: list[dict[int, list[int]]] = [{}]
    last = -1
    for entry in entries:
        step = entry.step or 0
        if entry.name in OPTIMISER:
            step //= each
        else:
            if step < last:
                attempts.append({})
            last = step
        attempts[-1].setdefault(step, []).append(entry.at)
    return Stepped([(places, step) for attempt in attempts for step, places in attempt.items()], None, facts, [])
