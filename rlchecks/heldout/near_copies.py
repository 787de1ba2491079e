"""Held-out prompts of which a training prompt differs in a few words: found by MinHash, decided exactly.

Runs of five words and a Jaccard similarity of .8 are those of Lee et al. 2022 (arXiv 2107.06499, section 4.2). MinHash
(Broder 1997) only proposes pairs; whether two prompts are that similar is then counted. Prompts with other numbers are
other questions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rlchecks.errors import UsageError
from rlchecks.heldout.prompts import asked, told
from rlchecks.heldout.wordhash import Hashes, numerals, words_of

RUN = 5
"""Words of a run."""

SIMILAR = 0.8
"""Smallest Jaccard similarity of two prompts' sets of runs."""

_PERMUTATIONS = 128
_BLOCK = 20_000  # training prompts whose runs are held at once


def find_near_copies(held_out: Sequence[str], training: Sequence[str]) -> list[tuple[int, int]]:
    """Held-out prompts with the same numbers and nearly the same words as a training prompt.

    A pair of the smallest similarity is overlooked with a probability of about .01, a more similar one more rarely.

    Args:
        held_out: prompts, as text or messages; those under :data:`RUN` words are left out.
        training: prompts, as text or messages.

    Returns:
        Index of the held-out prompt, and of the first such training prompt.

    Raises:
        UsageError: ``datasketch`` is not installed.
    """
    try:
        from datasketch import MinHash, MinHashLSH
    except ImportError:
        raise UsageError(
            "--near-copies needs datasketch, which is not installed; install it with: pip install 'rlchecks[minhash]'."
        ) from None

    # The runs are hashes already, of which MinHash takes 32 bits.
    empty = MinHash(num_perm=_PERMUTATIONS, seed=1, hashfunc=int)

    def sketch(runs: Hashes) -> MinHash:
        made = empty.copy()
        made.update_batch((runs & np.uint64(0xFFFFFFFF)).tolist())
        return made

    # More weight on what is not overlooked: what is proposed in vain costs only the counting.
    index = MinHashLSH(threshold=SIMILAR, num_perm=_PERMUTATIONS, weights=(0.1, 0.9))
    mine = [asked(prompt) for prompt in held_out]
    runs_of = _runs(mine)
    for number, runs in enumerate(runs_of):
        if len(runs):
            index.insert(number, sketch(runs))
    found: dict[int, int] = {}
    for start in range(0, len(training), _BLOCK):
        theirs = [told(prompt) for prompt in training[start : start + _BLOCK]]
        for place, runs in enumerate(_runs(theirs)):
            proposed = index.query(sketch(runs)) if len(runs) else []
            for number in sorted(set(proposed) - found.keys()):
                if _similar(runs_of[number], runs) and numerals(mine[number]) == numerals(theirs[place]):
                    found[number] = start + place
    return sorted(found.items())


def _runs(texts: Sequence[str]) -> list[Hashes]:
    """The different runs of each text."""
    runs, text = words_of(texts).runs(RUN)
    return [np.unique(part) for part in np.split(runs, np.searchsorted(text, np.arange(1, len(texts))))]


def _similar(one: Hashes, other: Hashes) -> bool:
    common = len(np.intersect1d(one, other, assume_unique=True))
    return common >= SIMILAR * (len(one) + len(other) - common)
