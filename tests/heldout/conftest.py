"""Held-out rows made by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyarrow as pa
import pytest

from rlchecks.heldout import HeldoutRows
from rlchecks.schema import EVALUATIONS

MakeRows = Callable[..., HeldoutRows]


def _rows(*groups: Iterable[dict[str, Any]]) -> HeldoutRows:
    records = [{"run_id": "", **row} for group in groups for row in group]
    return HeldoutRows(pa.Table.from_pylist(records, schema=EVALUATIONS))


def _answers(
    checkpoint: str,
    scores: Sequence[float | None] | Sequence[Sequence[float | None]],
    *,
    judge: str = "exact",
    decoding: str | None = "greedy",
    prefix: str = "q",
    **fields: Any,
) -> list[dict[str, Any]]:
    """One row per score; a list of scores stands for the repeats of one question."""
    rows = []
    for number, entry in enumerate(scores):
        repeats = entry if isinstance(entry, list | tuple) else [entry]
        for epoch, score in enumerate(repeats):
            row = {
                "question_id": f"{prefix}{number:04}",
                "checkpoint": checkpoint,
                "judge": judge,
                "score": score,
                "decoding": decoding,
                "epoch": epoch,
                "prompt": f"prompt {number}",
                "answer": f"{checkpoint} says {number} {epoch}",
            }
            rows.append(row | {name: value(number) if callable(value) else value for name, value in fields.items()})
    return rows


@pytest.fixture(scope="session")
def make_rows() -> MakeRows:
    """``make_rows(answers(...), answers(...))``: rows from groups of dictionaries."""
    return _rows


@pytest.fixture(scope="session")
def answers() -> Callable[..., list[dict[str, Any]]]:
    """``answers("base", [0, 1, None])``: the answers of one checkpoint, a score a question."""
    return _answers
