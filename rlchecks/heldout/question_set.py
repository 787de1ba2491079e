"""Which questions a held-out set holds: its identity, and a sketch by which similar sets are recognised."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import NamedTuple

import pyarrow as pa

from rlchecks.heldout.prompts import whole
from rlchecks.heldout.rows import HeldoutRows

SKETCH_SIZE = 128
"""Hashes in each part of a sketch."""

MOST_SHARED = 0.5
"""A set is an earlier one if at least this share of its questions was in it."""

_DIGITS = 12  # hexadecimal digits of a hash


class QuestionSet(NamedTuple):
    """The questions of a held-out set.

    Attributes:
        id: SHA-256 of the sorted question ids and prompts.
        sketch: the :data:`SKETCH_SIZE` smallest hashes of the prompts, ascending, as one text of hexadecimal digits; a
            blank; and those of the question ids. No prompts where fewer than half of the questions give one.
        prompts_each: different prompts for each question that gives any, at least 1.
    """

    id: str
    sketch: str
    prompts_each: float = 1.0


def question_set(rows: HeldoutRows) -> QuestionSet:
    """Identity and sketch of the held-out questions.

    Other checkpoints, judges, repeats and the order of the rows change neither. Rows of a question that give no prompt
    say nothing, if another row gives it. To the sketch a prompt is what
    :func:`rlchecks.heldout.prompts.whole` makes of it, so that neither another id nor another blank changes it. The
    smallest hashes are a random sample, and the same questions give the same ones, whatever set they stand in.

    Source: Broder 1997, Compression and Complexity of Sequences, p. 21; Cohen and Kaplan 2007, PODC, p. 225 (bottom-k).
    """
    prompts = _prompts(rows.table)
    identity = json.dumps([[question, *given] for question, given in prompts.items()])
    asked = [{text for prompt in given if (text := whole(prompt))} for given in prompts.values()]
    with_prompt, pairs = sum(map(bool, asked)), sum(map(len, asked))
    known = with_prompt >= MOST_SHARED * len(prompts)
    texts = frozenset[str]().union(*asked) if known else frozenset[str]()
    return QuestionSet(
        hashlib.sha256(identity.encode()).hexdigest(),
        f"{_sketch('prompt', texts)} {_sketch('id', prompts)}",
        pairs / with_prompt if with_prompt else 1.0,
    )


def heldout_set_id(rows: HeldoutRows) -> str:
    """Identity of the held-out questions, as in :func:`question_set`."""
    return question_set(rows).id


def shares_most(sketch: str, earlier: str | None, prompts_each: float = 1.0) -> bool:
    """Whether at least half of a set's questions were in an earlier set, estimated from both sketches.

    Prompts are compared where both sets give them, else ids. Up to the smaller of the largest hashes of two full
    sketches both are complete, so the share of this set's hashes there that the earlier one has is an unbiased
    estimate; it is exact for sets of fewer than :data:`SKETCH_SIZE` questions. A set that is less than a hundredth of
    the earlier one may have no hash there, and then is another.

    Args:
        sketch: of this set.
        earlier: of the earlier set, None if it is not known. One without a blank, as the first archives have it, is
            of either kind.
        prompts_each: different prompts for each question of this set: one of them in common is enough.
    """
    if not earlier:
        return False
    mine, theirs = (_hashes(part) for part in _parts(sketch)), (_hashes(part) for part in _parts(earlier))
    (prompts, ids), (their_prompts, their_ids) = mine, theirs
    if prompts and their_prompts and _share(prompts, their_prompts) * prompts_each >= MOST_SHARED:
        return True
    by_ids = not prompts or not their_prompts or " " not in earlier
    return by_ids and _share(ids, their_ids) >= MOST_SHARED


def _share(mine: list[str], theirs: list[str]) -> float:
    # A sketch that is not full holds all questions.
    limits = [hashes[-1] for hashes in (mine, theirs) if len(hashes) == SKETCH_SIZE]
    counted = {value for value in mine if not limits or value <= min(limits)}
    return len(counted.intersection(theirs)) / len(counted) if counted else 0.0


def _parts(sketch: str) -> tuple[str, str]:
    prompts, blank, ids = sketch.partition(" ")
    return (prompts, ids) if blank else (sketch, sketch)


def _prompts(table: pa.Table) -> dict[str, list[str]]:
    """The different prompts of each question, both in order."""
    pairs = table.select(["question_id", "prompt"]).group_by(["question_id", "prompt"]).aggregate([])
    prompts: dict[str, list[str]] = {}
    for question, prompt in zip(pairs["question_id"].to_pylist(), pairs["prompt"].to_pylist(), strict=True):
        given = prompts.setdefault(question, [])
        if prompt is not None:
            given.append(prompt)
    return {question: sorted(prompts[question]) for question in sorted(prompts)}


def _sketch(kind: str, texts: Iterable[str]) -> str:
    digest = (hashlib.blake2b(f"{kind} {text}".encode(), digest_size=_DIGITS // 2).hexdigest() for text in texts)
    return "".join(sorted(set(digest))[:SKETCH_SIZE])


def _hashes(sketch: str) -> list[str]:
    return [sketch[start : start + _DIGITS] for start in range(0, len(sketch), _DIGITS)]
