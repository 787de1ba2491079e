"""Which questions a held-out set holds: its identity, and a sketch by which similar sets are recognised."""

from __future__ import annotations

import hashlib
import json
from typing import NamedTuple

import pyarrow as pa

from rlchecks.heldout.rows import HeldoutRows

SKETCH_SIZE = 128
"""Hashes in a sketch."""

MOST_SHARED = 0.5
"""A set is an earlier one if at least this share of its questions was in it."""

_DIGITS = 12  # hexadecimal digits of a hash


class QuestionSet(NamedTuple):
    """The questions of a held-out set.

    Attributes:
        id: SHA-256 of the sorted question ids and prompts.
        sketch: the :data:`SKETCH_SIZE` smallest hashes of the questions, ascending, as one text of hexadecimal digits.
    """

    id: str
    sketch: str


def question_set(rows: HeldoutRows) -> QuestionSet:
    """Identity and sketch of the held-out questions.

    Other checkpoints, judges, repeats and the order of the rows change neither. Rows of a question that give no prompt
    say nothing, if another row gives it. To the sketch a question is its prompt (the first in order, of several), so
    that other ids do not change it; without a prompt, its id. The smallest hashes are a random sample of the questions,
    and the same questions give the same ones, whatever set they stand in.

    Source: Broder 1997, Compression and Complexity of Sequences, p. 21; Cohen and Kaplan 2007, PODC, p. 225 (bottom-k).
    """
    prompts = _prompts(rows.table)
    whole = json.dumps([[question, *given] for question, given in prompts.items()])
    hashes = {
        _hash(f"prompt {given[0]}" if given and given[0] else f"id {question}") for question, given in prompts.items()
    }
    return QuestionSet(hashlib.sha256(whole.encode()).hexdigest(), "".join(sorted(hashes)[:SKETCH_SIZE]))


def heldout_set_id(rows: HeldoutRows) -> str:
    """Identity of the held-out questions, as in :func:`question_set`."""
    return question_set(rows).id


def shares_most(sketch: str, earlier: str | None) -> bool:
    """Whether at least half of a set's questions were in an earlier set, estimated from both sketches.

    Up to the smaller of the largest hashes of two full sketches both are complete, so the share of this set's hashes
    there that the earlier one has is an unbiased estimate; it is exact for sets of fewer than :data:`SKETCH_SIZE`
    questions. A set that is less than a hundredth of the earlier one may have no hash there, and then is another.

    Args:
        sketch: of this set.
        earlier: of the earlier set, None if it is not known.
    """
    if not earlier:
        return False
    one, other = _hashes(sketch), _hashes(earlier)
    # A sketch that is not full holds all questions.
    limits = [hashes[-1] for hashes in (one, other) if len(hashes) == SKETCH_SIZE]
    counted = {value for value in one if not limits or value <= min(limits)}
    return bool(counted) and len(counted.intersection(other)) >= MOST_SHARED * len(counted)


def _prompts(table: pa.Table) -> dict[str, list[str]]:
    """The different prompts of each question, both in order."""
    pairs = table.select(["question_id", "prompt"]).group_by(["question_id", "prompt"]).aggregate([])
    prompts: dict[str, list[str]] = {}
    for question, prompt in zip(pairs["question_id"].to_pylist(), pairs["prompt"].to_pylist(), strict=True):
        given = prompts.setdefault(question, [])
        if prompt is not None:
            given.append(prompt)
    return {question: sorted(prompts[question]) for question in sorted(prompts)}


def _hash(question: str) -> str:
    return hashlib.blake2b(question.encode(), digest_size=_DIGITS // 2).hexdigest()


def _hashes(sketch: str) -> list[str]:
    return [sketch[start : start + _DIGITS] for start in range(0, len(sketch), _DIGITS)]
