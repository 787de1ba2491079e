"""Telling apart what a log mixes: training rows, evaluation rows and the closing summary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from rlchecks.readers.cells import Positions
from rlchecks.readers.frameworks import Framework
from rlchecks.readers.rows import Rows

CLOCKS = frozenset({"_timestamp", "_runtime", "timestamp", "time", "elapsed_time"})
"""Keys that trackers add to every row."""

_EVAL_WORD = r"^(eval|evaluation|val|valid|validation|test|dev|hold[-_ ]?out|held[-_ ]?out)([-_ /.:].*)?$"


class Kind(IntEnum):
    """What a key says by itself: that it counts for all, or what its values are of."""

    SHARED = 0
    TRAIN = 1
    EVAL = 2
    SUMMARY = 3


class Way(IntEnum):
    """What a row says: nothing; by a word, that it is of an evaluation; or that it closes the log.

    The training metrics in a closing row are those of the last steps, ``FLUSHED`` into it, unless their step was
    logged before.
    """

    OPEN = 0
    WORD = 1
    CLOSING = 2
    FLUSHED = 3


_ALL: frozenset[Way] = frozenset(Way)
_NONE: frozenset[Way] = frozenset()
_BELONGS: Mapping[str, Mapping[Kind, frozenset[Way]]] = {
    "train": {
        Kind.SHARED: _ALL,
        Kind.TRAIN: frozenset({Way.OPEN, Way.FLUSHED}),
        Kind.EVAL: _NONE,
        # The loss of a table is no summary without the marker of a closing row.
        Kind.SUMMARY: frozenset({Way.OPEN}),
    },
    "eval": {
        Kind.SHARED: _ALL,
        Kind.TRAIN: frozenset({Way.WORD}),
        Kind.EVAL: _ALL,
        Kind.SUMMARY: frozenset({Way.WORD}),
    },
    "summary": {
        Kind.SHARED: _ALL,
        Kind.TRAIN: frozenset({Way.CLOSING}),
        Kind.EVAL: _NONE,
        Kind.SUMMARY: frozenset({Way.CLOSING, Way.FLUSHED}),
    },
}


class Division(NamedTuple):
    """A log by kind of row and of key. A row may hold values of several kinds; each then goes its way.

    Attributes:
        rows: the logged rows.
        kinds: what each key is, in the order of the keys.
        ways: what each row is.
        train: bool for each row: whether it has training metrics.
        eval: the same for metrics of the run's own evaluation set.
        summary: the same for what a closing row says about the whole run.
        closing: the same for training metrics in a closing row.
        whole: the same for rows that belong with all of their keys where they belong, also with those without value.
    """

    rows: Rows
    kinds: Mapping[str, Kind]
    ways: NDArray[np.int8]
    train: NDArray[np.bool_]
    eval: NDArray[np.bool_]
    summary: NDArray[np.bool_]
    closing: NDArray[np.bool_]
    whole: NDArray[np.bool_]

    def belong(self, split: str, key: str, at: Positions) -> NDArray[np.bool_]:
        """Tell of the values of a key in some rows whether they belong to a split, if the rows do."""
        ways = _BELONGS[split][self.kinds[key]]
        return np.array([way in ways for way in Way])[self.ways[at]]

    def keys(self, split: str, row: int) -> AbstractSet[str]:
        """Return the keys with which a row counts in a split."""
        if self.whole[row]:
            return frozenset(self.rows.shapes[self.rows.shape_of[row]])
        way = Way(self.ways[row])
        belonging = _BELONGS[split]
        return {
            key
            for key, value in self.rows[row].items()
            if self.kinds[key] is Kind.SHARED or (value is not None and way in belonging[self.kinds[key]])
        }

    def metrics(self, split: str) -> Iterator[Positions]:
        """Yield for each key that is shared by no kinds of rows the rows in which it has a value of a split."""
        for key, kind in self.kinds.items():
            if kind is not Kind.SHARED:
                at = self.rows.present(key)
                yield at[self.belong(split, key, at)]


def divide(rows: Rows, framework: Framework) -> Division:
    """Divide logged rows by the names of their keys.

    A row may hold values of several kinds (a table has all columns in every row); each part then goes its way, with
    the step. ``eval_reward`` can thus never become a training reward.
    """
    kinds = {key: _kind(key, framework) for key in rows.keys}
    shapes = [frozenset(shape) for shape in rows.shapes]
    found = [{kinds[key] for key in shape} for shape in shapes]
    has_train = _each(rows, [not some.isdisjoint((Kind.TRAIN, Kind.SUMMARY)) for some in found])
    has_eval = _each(rows, [Kind.EVAL in some for some in found])
    word = _words(rows, shapes, framework)
    markers = frozenset(filter(framework.is_marker, rows.keys))
    closing = np.zeros(len(rows), dtype=np.bool_)
    for marker in markers:
        closing[rows.present(marker)] = True
    apart = (_each(rows, [not markers.isdisjoint(shape) for shape in shapes]) | (has_train & has_eval)) & ~word
    ways = np.where(word, Way.WORD, np.where(closing, Way.CLOSING, Way.OPEN)).astype(np.int8)
    division = Division(
        rows=rows,
        kinds=kinds,
        ways=ways,
        train=has_train & ~apart & ~word,
        eval=word | (has_eval & ~apart),
        summary=np.zeros(len(rows), dtype=np.bool_),
        closing=np.zeros(len(rows), dtype=np.bool_),
        whole=~apart,
    )
    if apart.any():
        _take_apart(division, apart)
    return division


def _kind(key: str, framework: Framework) -> Kind:
    if key in CLOCKS or key in framework.step or key in framework.epoch or key in framework.split:
        return Kind.SHARED
    if framework.is_eval(key):
        return Kind.EVAL
    return Kind.SUMMARY if framework.sums_up(key) else Kind.TRAIN


def _each(rows: Rows, of_shapes: list[bool]) -> NDArray[np.bool_]:
    """Spread what is known of the shapes over the rows."""
    return np.array(of_shapes, dtype=np.bool_)[rows.shape_of]


def _words(rows: Rows, shapes: Sequence[frozenset[str]], framework: Framework) -> NDArray[np.bool_]:
    """Find the rows that the first of the keys for it says to be of an evaluation."""
    word = np.zeros(len(rows), dtype=np.bool_)
    before: set[str] = set()
    for key in framework.split:
        asked = _each(rows, [before.isdisjoint(shape) for shape in shapes])
        for cells in rows.column(key):
            if cells.kind == "text":
                is_word = pc.match_substring_regex(pc.utf8_lower(cells.values), _EVAL_WORD).to_numpy(
                    zero_copy_only=False
                )
                word[cells.at[is_word & asked[cells.at]]] = True
        before.add(key)
    return word


def _take_apart(division: Division, apart: NDArray[np.bool_]) -> None:
    """Sort rows with keys of several kinds by the keys that have a value."""
    closing = division.ways == Way.CLOSING
    for key, kind in division.kinds.items():
        at = division.rows.present(key)
        at = at[apart[at]]
        if kind is Kind.EVAL:
            division.eval[at] = True
        elif kind is not Kind.SHARED:
            division.train[at[~closing[at]]] = True
            (division.summary if kind is Kind.SUMMARY else division.closing)[at[closing[at]]] = True
