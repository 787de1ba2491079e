"""Answers with the scores of every judge side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rlchecks.heldout.answers import Codes, codes_of


@dataclass(frozen=True)
class Judged:
    """Answers and their scores.

    Attributes:
        table: held-out rows.
        judges: names of the judges.
        scores: NaN where unscored, shape (answers, judges).
        asked: whether a judge has a row of an answer, scored or not, shape (answers, judges).
        row: one row of the table for each answer, shape (answers,).
        question: code of the question, shape (answers,).
        decoding: code of the decoding, shape (answers,).
        checkpoint: code of the checkpoint, shape (answers,).
        decodings: names of the decodings by code, None for rows that name none.
        checkpoints: names of the checkpoints by code.
    """

    table: pa.Table
    judges: list[str]
    scores: NDArray[np.float64]
    asked: NDArray[np.bool_]
    row: Codes
    question: Codes
    decoding: Codes
    checkpoint: Codes
    decodings: list[str | None]
    checkpoints: list[str]

    def column(self, judge: str) -> NDArray[np.float64]:
        """The scores of one judge, shape (answers,)."""
        return np.asarray(self.scores[:, self.judges.index(judge)])

    @property
    def present(self) -> frozenset[str]:
        """Names of the checkpoints that have an answer."""
        return frozenset(self.checkpoints[code] for code in np.unique(self.checkpoint).tolist())

    def without_references(self) -> Judged:
        """Without checkpoints whose every score is one half: the references of pairwise judgements.

        All judges give a reference the same, so that agreement on it says nothing.
        """
        codes = range(len(self.checkpoints))
        half = np.array([bool((np.nan_to_num(self._of(code), nan=0.5) == 0.5).all()) for code in codes], dtype=bool)
        if half.all() or not half.any():
            return self
        return self._take(~half[self.checkpoint])

    def at(self, decoding: str | None) -> Judged:
        """The answers of one decoding."""
        wanted = np.array([name == decoding for name in self.decodings], dtype=bool)
        return self._take(wanted[self.decoding])

    def _take(self, kept: NDArray[np.bool_]) -> Judged:
        arrays = ("scores", "asked", "row", "question", "decoding", "checkpoint")
        return replace(self, **{name: getattr(self, name)[kept] for name in arrays})

    def _of(self, code: int) -> NDArray[np.float64]:
        return np.asarray(self.scores[self.checkpoint == code])


def judged(table: pa.Table, judges: Sequence[str]) -> Judged:
    """Put the scores of each answer side by side.

    An answer is what is of one checkpoint, question, decoding and repeat; of rows that repeat one, the first counts.

    Args:
        table: held-out rows, :data:`rlchecks.schema.EVALUATIONS`.
        judges: names of the judges.
    """
    table = table.filter(pc.is_in(table["judge"], value_set=pa.array(list(judges), pa.string())))
    checkpoint, checkpoints = codes_of(table["checkpoint"])
    question, _ = codes_of(table["question_id"])
    decoding, decodings = codes_of(table["decoding"])
    _, epoch = np.unique(pc.fill_null(table["epoch"], -(2**63)).to_numpy(), return_inverse=True)
    key = np.zeros(len(table), dtype=np.int64)
    for code in (checkpoint, question, decoding, epoch.astype(np.int64)):
        # Numbered anew each time, so that the product fits into 64 bits.
        key = np.unique(key * (int(code.max(initial=0)) + 1) + code, return_inverse=True)[1].astype(np.int64)
    _, row, answer = np.unique(key, return_index=True, return_inverse=True)
    place = {name: index for index, name in enumerate(judges)}
    codes, names = codes_of(table["judge"])
    judge = np.array([place[str(name)] for name in names], dtype=np.int64)[codes]
    cell = answer * len(judges) + judge
    _, first = np.unique(cell, return_index=True)
    scores = np.full((len(row), len(judges)), np.nan)
    asked = np.zeros((len(row), len(judges)), dtype=bool)
    scores.flat[cell[first]] = pc.fill_null(table["score"], float("nan")).to_numpy().astype(float)[first]
    asked.flat[cell[first]] = True
    return Judged(
        table=table,
        judges=list(judges),
        scores=scores,
        asked=asked,
        row=row,
        question=question[row],
        decoding=decoding[row],
        checkpoint=checkpoint[row],
        decodings=decodings,
        checkpoints=[str(name) for name in checkpoints],
    )
