"""The longest run of words that two texts have in common, to be read beside them."""

from __future__ import annotations

from difflib import SequenceMatcher

from rlchecks.heldout.wordhash import split

_MOST_WORDS = 2000  # of a text that are looked at


def shared_words(one: str, other: str) -> str:
    """The longest run of words that is in both texts, in lower case without punctuation; empty if there is none."""
    words = [text[:_MOST_WORDS] for text in split([one, other]).to_pylist()]
    found = SequenceMatcher(None, words[0], words[1], autojunk=False).find_longest_match()
    return " ".join(words[0][found.a : found.a + found.size])
