"""The runs of words that held-out prompts have in common with training prompts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rlchecks.heldout.hashset import HashSet
from rlchecks.heldout.wordhash import Indices, Words

RUN = 13
"""Words that two prompts have in common in one run (Brown et al. 2020)."""

COMMON = 10
"""A run of words in more prompts than this is a template or a set phrase (Brown et al. 2020)."""


class CommonRuns:
    """The runs of 13 words of the held-out prompts, and which training prompts have them too.

    Of a run in many training prompts only the number is kept, so that a template of a million prompts takes no memory.
    """

    def __init__(self, mine: Words) -> None:
        """Take the runs of the held-out prompts."""
        self._mine = mine
        self._wanted = HashSet(mine.runs(RUN)[0])
        self._seen = np.zeros(len(self._wanted.values), dtype=np.int64)
        self._of: list[NDArray[np.int64]] = []

    def count(self, block: Words, first: int) -> None:
        """Look for the runs in more training prompts, of which the first has the given index."""
        hashes, training = block.runs(RUN)
        hit, run = self._wanted.find(hashes)
        pairs = np.unique(np.stack([run, training[hit] + first]), axis=1)
        self._seen += np.bincount(pairs[0], minlength=len(self._seen))
        self._of.append(pairs[:, self._seen[pairs[0]] <= COMMON])

    def pairs(self) -> tuple[Indices, Indices, Indices]:
        """Held-out text, training prompt, and how many runs that count they share; the most shared first."""
        own_run, own_text = self._own()
        held_out = np.bincount(own_run, minlength=len(self._seen))
        counts = (self._seen <= COMMON) & (held_out <= COMMON)
        run, training = np.concatenate(self._of, axis=1)
        kept = counts[run]
        run, training = run[kept], training[kept]
        # Each run's own texts stand together, since the pairs are sorted by run.
        begin, end = np.searchsorted(own_run, run), np.searchsorted(own_run, run, side="right")
        repeats = end - begin
        offset = np.arange(repeats.sum()) - np.repeat(np.cumsum(repeats) - repeats, repeats)
        text = own_text[np.repeat(begin, repeats) + offset]
        found, shared = np.unique(np.stack([text, np.repeat(training, repeats)]), axis=1, return_counts=True)
        order = np.lexsort((found[1], -shared, found[0]))
        return found[0][order], found[1][order], shared[order]

    def all_seen(self) -> Indices:
        """Held-out texts of which every run is in some training prompt."""
        hashes, text = self._mine.runs(RUN)
        seen = np.bincount(text[self._there().find(hashes)[0]], minlength=len(self._mine.length))
        return np.flatnonzero((seen > 0) & (seen == self._mine.length - RUN + 1))

    def _own(self) -> NDArray[np.int64]:
        """Runs that were seen and the held-out texts that have them, each pair once, shape (2, pairs)."""
        hashes, text = self._mine.runs(RUN)
        there = self._there()
        hit, _ = there.find(hashes)
        return np.unique(np.stack([np.searchsorted(self._wanted.values, hashes[hit]), text[hit]]), axis=1)

    def _there(self) -> HashSet:
        return HashSet(self._wanted.values[self._seen > 0])
