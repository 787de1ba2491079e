"""A split of the held-out questions: a candidate chosen on one part is judged on the other, which has not seen it."""

from __future__ import annotations

import dataclasses
import hashlib
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from rlchecks.errors import UsageError
from rlchecks.heldout.rows import HeldoutRows


class Split(NamedTuple):
    """Two parts of held-out rows.

    Attributes:
        choosing: rows of the questions that candidates are compared on.
        deciding: rows of the others.
    """

    choosing: HeldoutRows
    deciding: HeldoutRows


def split_questions(rows: HeldoutRows, share: float) -> Split:
    """Split the questions by a hash of their cluster, or of their id where no row of them names one.

    The same question falls on the same side in every call with the same share, whatever else is in the set.

    Args:
        rows: held-out rows.
        share: expected share of the questions to choose on, above 0 and below 1.

    Raises:
        UsageError: the share is out of range, or a part has no question.
    """
    if not 0.0 < share < 1.0:
        raise UsageError(f"The share of questions to choose on lies between 0 and 1, such as .5; got {share:g}.")
    pairs = rows.table.select(["question_id", "cluster"]).group_by(["question_id", "cluster"]).aggregate([])
    unit: dict[str, str] = {}
    for question, cluster in zip(pairs["question_id"].to_pylist(), pairs["cluster"].to_pylist(), strict=True):
        if cluster is not None:
            # Of several clusters, which the comparison refuses, the first by name.
            unit[question] = min(unit.get(question, f"cluster {cluster}"), f"cluster {cluster}")
    names = pc.unique(rows.table["question_id"]).to_pylist()
    chosen = [name for name in names if _place(unit.get(name, f"question {name}")) < share]
    if not 0 < len(chosen) < len(names):
        raise UsageError(f"{len(names)} questions cannot be split at {share:g}; give more, or another share.")
    inside = pc.is_in(rows.table["question_id"], value_set=pa.array(chosen, pa.string()))
    parts = (rows.table.filter(mask) for mask in (inside, pc.invert(inside)))
    return Split(*(dataclasses.replace(rows, table=part) for part in parts))


def _place(unit: str) -> float:
    """A number from 0 to below 1 that depends on the text alone."""
    return int.from_bytes(hashlib.blake2b(unit.encode(), digest_size=6).digest(), "big") / 2.0**48
