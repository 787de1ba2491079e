"""Logged answers as rows of the ``completions`` table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from rlchecks.readers.maps import Series, number_map, text_map
from rlchecks.readers.text import clean
from rlchecks.readers.values import to_numbers, to_text
from rlchecks.schema import COMPLETIONS

MAX_BYTES = 64 << 20
"""Most bytes of logged answers that are kept of one run; a reader takes evenly spaced steps of more."""


class Answer(NamedTuple):
    """One logged answer.

    Attributes:
        step: the step it was logged at.
        prompt: the prompt; None if it was not logged.
        completion: the answer.
        advantage: as logged; None if it was not.
        rewards: reward function to raw score, as logged.
        extra: other logged fields.
    """

    step: int
    prompt: object
    completion: object
    advantage: object
    rewards: Mapping[str, object]
    extra: Mapping[str, object]


def evenly(files: Sequence[tuple[int, Path]], most: int = MAX_BYTES) -> list[tuple[int, Path]]:
    """Choose evenly spaced files that are together of at most about ``most`` bytes.

    Args:
        files: step and file, in order.
        most: bytes.
    """
    sizes = []
    for _, path in files:
        try:
            sizes.append(path.stat().st_size)
        except OSError:
            sizes.append(0)
    stride = max(1, -(-sum(sizes) // most))
    # Counted from the end: the last answers matter most.
    return list(files[::-1][::stride][::-1])


def spaced(files: Sequence[tuple[int, Path]], most: int = MAX_BYTES) -> set[int]:
    """Choose the steps of :func:`evenly` spaced files."""
    return {step for step, _ in evenly(files, most)}


def to_table(run_id: str, split: Sequence[str], answers: Sequence[Answer]) -> pa.Table:
    """Build rows of :data:`rlchecks.schema.COMPLETIONS`; a score that is no number is kept as text.

    Args:
        run_id: id of the run.
        split: ``train`` or ``eval`` for each answer.
        answers: the answers, in the order of the log.
    """
    count = len(answers)
    rewards: dict[str, tuple[list[int], list[object]]] = {}
    texts: dict[str, list[tuple[int, str]]] = {}
    for row, answer in enumerate(answers):
        for name, value in answer.rewards.items():
            rows, values = rewards.setdefault(clean(name), ([], []))
            rows.append(row)
            values.append(value)
        for name, value in answer.extra.items():
            if value is not None:
                texts.setdefault(clean(name), []).append((row, to_text(value)))
    scores: dict[str, Series] = {}
    for name, (rows, values) in rewards.items():
        at = np.array(rows, dtype=np.int64)
        numbers = to_numbers(values)
        scores[name] = Series(at[numbers.present], numbers.numbers[numbers.present])
        if numbers.texts:
            texts.setdefault(name, []).extend((int(at[position]), text) for position, text in numbers.texts)
    advantage = to_numbers([answer.advantage for answer in answers])
    columns = [
        pa.repeat(run_id, count),
        pa.array(split, pa.string()),
        pa.array([answer.step for answer in answers], pa.int64()),
        pa.array([_text(answer.prompt) for answer in answers], pa.string()),
        pa.array([_text(answer.completion) for answer in answers], pa.string()),
        pa.array(advantage.numbers, pa.float64(), mask=~advantage.present),
        number_map(count, scores),
        text_map(count, texts),
    ]
    return pa.Table.from_arrays(columns, schema=COMPLETIONS)


def _text(value: object) -> str | None:
    return None if value is None else to_text(value)
