from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rlchecks.heldout.hashset import HashSet
from rlchecks.heldout.shared_words import shared_words
from rlchecks.heldout.wordhash import numerals, split, words_of

WORDS = st.lists(st.lists(st.sampled_from(["a", "b", "7", "+"]), max_size=8).map(" ".join), max_size=6)


def test_words_are_without_case_and_punctuation_and_keep_arithmetic() -> None:
    texts = ["Well-known: (Ａ) \\frac{1}{2}!", "12-3 +4*5", "", "?", "日本 x"]
    assert split(texts).to_pylist() == [
        ["well", "known", "a", "frac", "1", "2"],
        ["12", "-", "3", "+", "4", "*", "5"],
        [],
        [],
        ["日", "本", "x"],
    ]


def test_numbers_in_digits_and_words_are_numerals() -> None:
    assert numerals("Three cats, 12 dogs and a 4th none") == ["12", "4th", "three"]


@settings(deadline=None, max_examples=40)
@given(WORDS, st.integers(1, 4))
def test_runs_have_equal_hashes_exactly_if_their_words_are_equal(texts: list[str], length: int) -> None:
    words = words_of(texts)
    hashes, of = words.runs(length)
    expected = [
        (place, tuple(text.split()[start : start + length]))
        for place, text in enumerate(texts)
        for start in range(len(text.split()) - length + 1)
    ]
    assert of.tolist() == [place for place, _ in expected]
    assert len(set(zip(hashes.tolist(), [run for _, run in expected], strict=True))) == len(set(hashes.tolist()))
    assert len(set(hashes.tolist())) == len({run for _, run in expected})


def test_numbers_are_alike_where_masked() -> None:
    words = words_of(["has 3 cats", "has four cats", "has no cats"])
    plain, masked = (words.runs(3, masked=masked)[0] for masked in (False, True))
    assert len(set(plain.tolist())) == 3
    assert masked[0] == masked[1] != masked[2]
    assert (words.whole() == plain).all()


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 2**64 - 1), max_size=50), st.lists(st.integers(0, 2**64 - 1), max_size=50))
def test_a_hash_set_finds_what_is_in_it(held: list[int], asked: list[int]) -> None:
    known = HashSet(np.array(held, dtype=np.uint64))
    asked = asked + held[:3]
    where, which = known.find(np.array(asked, dtype=np.uint64))
    assert where.tolist() == [place for place, value in enumerate(asked) if value in set(held)]
    assert known.values[which].tolist() == [asked[place] for place in where]
    assert known.values.tolist() == sorted(set(held))


def test_the_longest_run_in_common_is_shown() -> None:
    assert shared_words("Say: The cat sat down!", "where the cat SAT, then left") == "the cat sat"
    assert shared_words("a", "b") == ""
