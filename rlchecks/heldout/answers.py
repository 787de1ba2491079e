"""The rows of the two compared checkpoints as arrays of codes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rlchecks.errors import InputError
from rlchecks.heldout.names import shown

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Side:
    """The answers of one checkpoint; all arrays have the same length.

    Attributes:
        row: row of :attr:`Answers.table`.
        question: code of the question.
        judge: code of the judge.
        decoding: code of the decoding.
        epoch: code of the repeat.
        score: score, NaN if unscored.
    """

    row: Codes
    question: Codes
    judge: Codes
    decoding: Codes
    epoch: Codes
    score: NDArray[np.float64]

    def take(self, kept: NDArray[np.bool_] | Codes) -> Side:
        """The answers at a mask or at indices."""
        return Side(*(getattr(self, name)[kept] for name in self.__dataclass_fields__))


@dataclass(frozen=True)
class Answers:
    """Both sides, without rows that repeat an earlier one.

    Attributes:
        table: the rows of both checkpoints.
        questions: question ids by code.
        judges: judge names by code.
        decodings: decoding names by code, None for rows that name none.
        baseline: the starting model's answers.
        candidate: the candidate's answers.
        duplicates: rows that repeat (question, checkpoint, judge, decoding, epoch) and were left out.
        clusters: cluster of each question by code, None if no row names one.
    """

    table: pa.Table
    questions: list[str]
    judges: list[str]
    decodings: list[str | None]
    baseline: Side
    candidate: Side
    duplicates: int
    clusters: Codes | None = field(default=None)

    def judge(self, name: str) -> int:
        """Code of a judge, -1 if neither side has a score of it."""
        return self.judges.index(name) if name in self.judges else -1

    def places(self, side: Side) -> Codes:
        """A code of question, decoding and repeat of each answer, the same on both sides, shape (answers,).

        Args:
            side: one side of these answers, or some of its answers.
        """
        repeats = int(max(self.baseline.epoch.max(initial=0), self.candidate.epoch.max(initial=0))) + 1
        places: Codes = (side.question * len(self.decodings) + side.decoding) * repeats + side.epoch
        return places

    def row_questions(self) -> Codes:
        """Code of the question of each row of the table, -1 for a row that was left out, shape (rows,)."""
        found = np.full(len(self.table), -1, dtype=np.int64)
        for side in (self.baseline, self.candidate):
            found[side.row] = side.question
        return found

    def without(self, excluded: NDArray[np.bool_]) -> Answers:
        """The answers to the questions that are not excluded.

        Args:
            excluded: by question code, shape (questions,).
        """
        sides = [side.take(~excluded[side.question]) for side in (self.baseline, self.candidate)]
        return Answers(
            self.table, self.questions, self.judges, self.decodings, sides[0], sides[1], self.duplicates, self.clusters
        )


def encode(table: pa.Table, baseline: str, candidate: str) -> Answers:
    """The answers of two checkpoints.

    Args:
        table: held-out rows, :data:`rlchecks.schema.EVALUATIONS`.
        baseline: name of the one checkpoint.
        candidate: name of the other; may be the same.

    Raises:
        InputError: one question belongs to two clusters.
    """
    table = table.filter(pc.is_in(table["checkpoint"], value_set=pa.array(sorted({baseline, candidate}))))
    checkpoint, checkpoints = codes_of(table["checkpoint"])
    question, questions = codes_of(table["question_id"])
    judge, judges = codes_of(table["judge"])
    decoding, decodings = codes_of(table["decoding"])
    _, epoch = np.unique(pc.fill_null(table["epoch"], -(2**63)).to_numpy(), return_inverse=True)
    score = pc.fill_null(table["score"], float("nan")).to_numpy().astype(float)
    every = Side(np.arange(len(table)), question, judge, decoding, epoch.astype(np.int64), score)
    key = np.zeros(len(table), dtype=np.int64)
    for code in (checkpoint, question, judge, decoding, every.epoch):
        key = key * (int(code.max(initial=0)) + 1) + code
        if key.max(initial=0) >= 2**31:  # so that the next product fits into 64 bits
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
    _, first = np.unique(key, return_index=True)
    unique = every.take(np.sort(first))
    place = checkpoint[unique.row]
    return Answers(
        table,
        [str(name) for name in questions],
        [str(name) for name in judges],
        decodings,
        unique.take(place == checkpoints.index(baseline)),
        unique.take(place == checkpoints.index(candidate)),
        len(table) - len(unique.row),
        _clusters(table["cluster"], question, questions),
    )


def codes_of(column: pa.ChunkedArray) -> tuple[Codes, list[str | None]]:
    """A text column as codes into its sorted different values; null, if there is any, is the last.

    Returns:
        The codes, shape (rows,), and the values.
    """
    combined = column.combine_chunks()
    encoded = combined.dictionary_encode(null_encoding="encode")
    # Arrow compares the bytes of UTF-8, which is the order of the code points, and puts null at the end.
    order = pc.sort_indices(encoded.dictionary)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order.to_numpy()] = np.arange(len(order))
    return rank[encoded.indices.to_numpy(zero_copy_only=False)], encoded.dictionary.take(order).to_pylist()


def _clusters(column: pa.ChunkedArray, question: Codes, questions: list[str | None]) -> Codes | None:
    cluster, names = codes_of(column)
    named = np.array([name is not None for name in names], dtype=bool)[cluster]
    if not named.any():
        return None
    pairs = np.unique(np.stack([question[named], cluster[named]]), axis=1)
    repeated = np.flatnonzero(np.diff(pairs[0]) == 0)
    if len(repeated):
        at = int(repeated[0])
        one, other = (shown(str(names[int(pairs[1, place])])) for place in (at, at + 1))
        raise InputError(
            f"question {shown(str(questions[int(pairs[0, at])]))} belongs to the clusters {one} and {other}",
            todo="give each question one cluster",
        )
    # A question without a cluster stands for itself.
    clusters = len(names) + np.arange(len(questions), dtype=np.int64)
    clusters[pairs[0]] = pairs[1]
    return clusters
