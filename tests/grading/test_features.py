from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlchecks.grading.features import FEATURES, repeated_phrases, repeated_question

OF = {feature.name: feature.of for feature in FEATURES}


@pytest.mark.parametrize(
    ("answer", "share"),
    [("", 0.0), ("one two three", 0.0), ("a b c d", 0.0), ("a b c d a b c d", 1 / 5), ("x " * 100, 1 - 1 / 97)],
)
def test_repeated_phrases_are_counted_from_their_second_time(answer: str, share: float) -> None:
    assert repeated_phrases("", answer) == pytest.approx(share)


@pytest.mark.parametrize(
    ("prompt", "answer", "share"),
    [
        ("What is two plus two?", "What is two plus two? It is four.", 1.0),
        ("What is two plus two?", "Four.", 0.0),
        ("3+4", "3+4=7", 1.0),
        ("3+4", "it is 3", 0.5),
        ("", "anything", 0.0),
        ("?!", "anything", 0.0),
    ],
)
def test_the_share_of_the_question_that_is_repeated(prompt: str, answer: str, share: float) -> None:
    assert repeated_question(prompt, answer) == share


def test_hedges_lists_and_markup_are_counted() -> None:
    answer = "Perhaps it depends.\n- one\n- two\n3. three\n**bold** and `code`\n# Head\n\\boxed{4}\n-not a list"
    assert OF["hedges"]("", answer) == 2
    assert OF["list_lines"]("", answer) == 3
    assert OF["markup"]("", answer) == 3


@given(st.text(max_size=300), st.text(max_size=300))
def test_every_feature_of_any_text_is_a_finite_number_that_is_not_negative(prompt: str, answer: str) -> None:
    for feature in FEATURES:
        assert 0 <= feature.of(prompt, answer) < float("inf")


def test_hostile_text_takes_no_time() -> None:
    for text in ("*" * 200_000, "**a" * 60_000, "<" * 100_000, "- " * 100_000, "| " * 100_000, "# " * 100_000):
        for feature in FEATURES:
            feature.of(text, text)
