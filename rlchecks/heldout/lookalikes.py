"""Prompts made from one template: the same words around other numbers are another question."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rlchecks.heldout.hashset import HashSet
from rlchecks.heldout.wordhash import Hashes, Indices, Words

_MIX = np.uint64(0xD6E8FEB86659FD93)
_PAIRS = 20_000  # that are looked at together


def alike_but_for_numbers(mine: Words, theirs: Words, text: Indices, other: Indices, length: int) -> NDArray[np.bool_]:
    """Whether two texts differ in numbers where their words are the same.

    They do if a run of words of the one is in the other once all numbers are taken to be alike, and not before.

    Args:
        mine: the one texts.
        theirs: the other texts.
        text: index of the one of each pair, shape (pairs,).
        other: index of the other, shape (pairs,).
        length: words of a run.
    """
    plain, masked = (_Runs(mine, theirs, length, masked=masked) for masked in (False, True))
    parts = np.array_split(np.arange(len(text)), len(text) // _PAIRS + 1)
    found = [_differs(plain, masked, text[part], other[part]) for part in parts]
    return np.concatenate(found)


class _Runs:
    def __init__(self, mine: Words, theirs: Words, length: int, *, masked: bool) -> None:
        self.runs, of = mine.runs(length, masked=masked)
        self.start = np.searchsorted(of, np.arange(len(mine.length) + 1))
        runs, of = theirs.runs(length, masked=masked)
        self.known = HashSet(_keyed(runs, of))

    def within(self, run: Indices, other: Indices) -> NDArray[np.bool_]:
        """Whether a run of mine is in a text of theirs."""
        found = np.zeros(len(run), dtype=bool)
        found[self.known.find(_keyed(self.runs[run], other))[0]] = True
        return found


def _differs(plain: _Runs, masked: _Runs, text: Indices, other: Indices) -> NDArray[np.bool_]:
    counts = plain.start[text + 1] - plain.start[text]
    pair = np.repeat(np.arange(len(text)), counts)
    run = np.arange(len(pair)) - np.repeat(np.cumsum(counts) - counts - plain.start[text], counts)
    differs = masked.within(run, other[pair]) & ~plain.within(run, other[pair])
    return np.bincount(pair, weights=differs, minlength=len(text)) > 0


def _keyed(runs: Hashes, of: Indices) -> Hashes:
    """A run and the text it is of as one number."""
    return np.asarray(runs + of.astype(np.uint64) * _MIX)
