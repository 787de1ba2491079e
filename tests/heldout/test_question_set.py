from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from rlchecks.heldout import HeldoutRows, heldout_set_id, question_set
from rlchecks.heldout.question_set import SKETCH_SIZE, shares_most

Make = Callable[..., HeldoutRows]
Answers = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def sketch(make_rows: Make, answers: Answers) -> Callable[..., str]:
    """The sketch of questions with the given numbers."""

    def sketched(first: int, last: int, **fields: Any) -> str:
        rows = answers("base", [0.0] * last, **fields)[first:]
        return question_set(make_rows(rows)).sketch

    return sketched


def test_the_set_is_its_questions_and_prompts(make_rows: Make, answers: Answers) -> None:
    rows = [*answers("base", [0, 1, 1]), *answers("tuned", [1, 1, 1])]
    identity = heldout_set_id(make_rows(rows))
    shuffled = random.Random(0).sample(rows, len(rows))
    assert heldout_set_id(make_rows(shuffled)) == identity
    assert heldout_set_id(make_rows(answers("third", [0, 0, 0], judge="other", decoding="sample"))) == identity
    assert heldout_set_id(make_rows(rows, answers("base", [0], prompt=None))) == identity
    assert heldout_set_id(make_rows(answers("base", [0, 1]))) != identity
    assert heldout_set_id(make_rows(answers("base", [0, 1, 1], prompt="changed"))) != identity


def test_a_sketch_is_small_and_knows_questions_by_their_prompts(sketch: Callable[..., str]) -> None:
    assert len(sketch(0, 1000)) == 12 * SKETCH_SIZE
    assert sketch(0, 300, prefix="other") == sketch(0, 300)
    assert sketch(0, 300, prompt=None, prefix="other") != sketch(0, 300, prompt=None)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ((0, 100), (0, 100), True),
        ((0, 99), (0, 100), True),
        ((0, 100), (50, 150), True),
        ((0, 100), (51, 151), False),
        ((0, 100), (100, 200), False),
        ((0, 1000), (1, 1000), True),
        ((0, 1000), (300, 1300), True),
        ((0, 1000), (700, 1700), False),
        ((0, 200), (0, 2000), True),
        ((0, 2000), (0, 200), False),
    ],
)
def test_sets_with_half_their_questions_in_common_are_the_same(
    sketch: Callable[..., str], one: tuple[int, int], other: tuple[int, int], same: bool
) -> None:
    assert shares_most(sketch(*one), sketch(*other)) is same


@pytest.mark.parametrize("earlier", [None, ""])
def test_a_set_without_a_sketch_is_another(sketch: Callable[..., str], earlier: str | None) -> None:
    assert not shares_most(sketch(0, 10), earlier)
