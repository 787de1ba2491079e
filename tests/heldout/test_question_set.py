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
    assert len(sketch(0, 1000)) == 2 * 12 * SKETCH_SIZE + 1
    assert sketch(0, 1000, prompt=None).startswith(" ")
    assert shares_most(sketch(0, 300, prefix="other"), sketch(0, 300))
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


@pytest.mark.parametrize(
    "change",
    [
        {"prompt": lambda number: f" PROMPT\u200b  {number}\n", "prefix": "other"},
        {"prompt": lambda number: f'[{{"role": "user", "content": "prompt {number}"}}]', "prefix": "other"},
        {"prompt": None},
    ],
    ids=["written otherwise", "as messages", "left out"],
)
def test_a_set_whose_prompts_are_written_otherwise_or_left_out_is_the_same(
    sketch: Callable[..., str], change: dict[str, Any]
) -> None:
    assert shares_most(sketch(0, 300, **change), sketch(0, 300))
    assert shares_most(sketch(0, 300), sketch(0, 300, **change))


def test_sets_that_share_their_ids_only_are_two(sketch: Callable[..., str]) -> None:
    assert not shares_most(sketch(0, 300, prompt=lambda number: f"sum {number}"), sketch(0, 300))


def test_further_prompts_of_the_same_questions_hide_none(make_rows: Make, answers: Answers) -> None:
    rows = answers("base", [0.0] * 300)
    further = [
        {**row, "judge": f"other {copy}", "prompt": f" 0 {copy} {row['prompt']}"} for row in rows for copy in range(3)
    ]
    earlier, now = question_set(make_rows(rows)), question_set(make_rows(rows, further))
    assert now.prompts_each == 4.0
    assert not shares_most(now.sketch, earlier.sketch)
    assert shares_most(now.sketch, earlier.sketch, now.prompts_each)
    assert shares_most(earlier.sketch, now.sketch, earlier.prompts_each)


def test_the_sketch_of_an_early_archive_is_still_read() -> None:
    early = "aaaaaaaaaaaabbbbbbbbbbbb"  # one list, of prompts, or of ids where there were none
    assert shares_most("aaaaaaaaaaaa dddddddddddd", early)
    assert shares_most("dddddddddddd bbbbbbbbbbbb", early)
    assert not shares_most("cccccccccccc dddddddddddd", early)
