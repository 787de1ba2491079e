"""Texts as words, and every run of words as one number, so that millions of runs can be compared at once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rlchecks.heldout.visible import visible

Hashes = NDArray[np.uint64]
Indices = NDArray[np.int64]

# Brown et al. 2020 (arXiv 2005.14165, appendix C) compare lower-case words without punctuation. Signs of arithmetic are
# words here, since 12+3 and 12*3 are two questions; a hyphen between letters is not one.
_HYPHEN = r"(\p{L})-(\p{L})"
_NO_WORD = r"[^\p{L}\p{M}\p{N}\p{Sm}*/^%-]+"
# Scripts that put no space between words, and signs: one character is a word.
_SINGLE = r"([\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Sm}*/^%-])"
_NUMERAL = (
    r"^(?:.*\p{N}.*|zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|"
    r"sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand)$"
)
_LISTS = pa.large_list(pa.large_string())
# The base of the polynomial: odd, so that it has an inverse modulo 2^64. It is 2^64 divided by the golden ratio.
_BASE = 0x9E3779B97F4A7C15
_INVERSE = pow(_BASE, -1, 2**64)


@dataclass(frozen=True)
class Words:
    """The words of several texts, one after another.

    Attributes:
        start: place of each text's first word, and the number of all words, shape (texts + 1,).
        total: sum of the first k words' hashes, each times the base to the power of its place, shape (words + 1,).
        masked: the same with all numbers alike.
    """

    start: Indices
    total: Hashes
    masked: Hashes

    @property
    def length(self) -> Indices:
        """Words of each text, shape (texts,)."""
        return np.diff(self.start)

    def runs(self, length: int, *, masked: bool = False) -> tuple[Hashes, Indices]:
        """Every run of so many words that lies within one text, in order.

        Args:
            length: words of a run, at least 1.
            masked: whether all numbers are alike.

        Returns:
            Hash of each run, and the text it is of, both of shape (runs,). Runs of the same words have the same hash
            in whatever texts, at whatever place; different ones share one with a probability of about 2^-64.
        """
        counts = np.maximum(self.length - length + 1, 0)
        text = np.repeat(np.arange(len(counts)), counts)
        # Places from 0 within each text, moved to where the text begins.
        first = np.arange(len(text)) - np.repeat(np.cumsum(counts) - counts, counts) + self.start[:-1][text]
        return self._hash(first, first + length, masked), text

    def whole(self) -> Hashes:
        """Hash of each whole text, comparable with runs of as many words, shape (texts,)."""
        return self._hash(self.start[:-1], self.start[1:], masked=False)

    def _hash(self, first: Indices, end: Indices, masked: bool) -> Hashes:
        total = self.masked if masked else self.total
        return np.asarray((total[end] - total[first]) * _powers(_INVERSE, len(total))[first])


def split(texts: Sequence[str]) -> pa.ListArray:
    """The words of each text as it is seen: lower case, Unicode form NFKC, without punctuation."""
    seen = pa.array([visible(text) for text in texts], pa.large_string())
    column = pc.utf8_lower(pc.utf8_normalize(seen, form="NFKC"))
    for pattern, replacement in ((_HYPHEN, r"\1 \2"), (_NO_WORD, " "), (_SINGLE, r" \1 ")):
        column = pc.replace_substring_regex(column, pattern=pattern, replacement=replacement)
    column = pc.utf8_trim_whitespace(column)
    words = pc.utf8_split_whitespace(column).cast(_LISTS)
    # Splitting an empty text gives one empty word.
    return pc.if_else(pc.equal(column, ""), pa.scalar([], _LISTS), words)


def words_of(texts: Sequence[str]) -> Words:
    """Hash the words of several texts."""
    lists = split(texts)
    start = np.concatenate([[0], np.cumsum(pc.list_value_length(lists).to_numpy(zero_copy_only=False))])
    encoded = pc.list_flatten(lists).dictionary_encode()
    known = encoded.dictionary.to_pylist()
    values = np.array([_number(word) for word in known], dtype=np.uint64)
    numeral = pc.match_substring_regex(encoded.dictionary, _NUMERAL).to_numpy(zero_copy_only=False).astype(bool)
    masked = np.where(numeral, np.uint64(_number("0")), values)
    place = encoded.indices.to_numpy(zero_copy_only=False)
    powers = _powers(_BASE, len(place))
    return Words(start.astype(np.int64), *(_sums(each[place] * powers) for each in (values, masked)))


def numerals(text: str) -> list[str]:
    """The words of a text that are numbers, in ascending order."""
    words = split([text])[0].values
    return sorted(words.filter(pc.match_substring_regex(words, _NUMERAL)).to_pylist())


def _sums(values: Hashes) -> Hashes:
    return np.concatenate([np.zeros(1, np.uint64), np.cumsum(values, dtype=np.uint64)])


def _powers(base: int, count: int) -> Hashes:
    """The base to the powers 0, 1, 2, ... modulo 2^64, shape (count,)."""
    factors = np.full(count, base, dtype=np.uint64)
    factors[:1] = 1
    return np.cumprod(factors, dtype=np.uint64)


def _number(word: str) -> int:
    # Not Python's own hash, which differs from one process to the next.
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")
