"""A set of hashes that millions of others are looked up in at once."""

from __future__ import annotations

import numpy as np

from rlchecks.heldout.wordhash import Hashes, Indices

_MOST_BITS = 27  # 128 MiB


class HashSet:
    """Different hashes in ascending order.

    A table that is indexed by a hash's first bits answers for most hashes that are not there, several times as fast as
    a binary search, which then only looks for the others.

    Attributes:
        values: the hashes, shape (n,).
    """

    def __init__(self, hashes: Hashes) -> None:
        """Keep each hash once."""
        ordered = np.sort(hashes)  # np.unique goes through a hash table, ten times as slow here
        self.values = ordered[np.concatenate([ordered[1:] != ordered[:-1], np.ones(min(len(ordered), 1), bool)])]
        bits = min(max(16 * len(hashes), 2).bit_length(), _MOST_BITS)
        self._shift = np.uint64(64 - bits)
        self._maybe = np.zeros(1 << bits, dtype=bool)
        self._maybe[(self.values >> self._shift).astype(np.int64)] = True

    def find(self, hashes: Hashes) -> tuple[Indices, Indices]:
        """Which hashes are in the set.

        Returns:
            Indices of those that are, ascending, and of each its index among :attr:`values`.
        """
        maybe = np.flatnonzero(self._maybe[(hashes >> self._shift).astype(np.int64)])
        at = np.searchsorted(self.values, hashes[maybe])
        # What lies beyond the last value belongs to none.
        at = np.minimum(at, max(len(self.values) - 1, 0))
        there = self.values[at] == hashes[maybe] if len(self.values) else np.zeros(0, dtype=bool)
        return maybe[there], at[there]
