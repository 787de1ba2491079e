from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rlchecks.errors import InputError, UsageError
from rlchecks.heldout import HeldoutRows
from rlchecks.heldout.checkpoints import Checkpoints, choose_checkpoints

Make = Callable[..., HeldoutRows]
Answers = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def choose(make_rows: Make, answers: Answers) -> Callable[..., Checkpoints]:
    def chosen(steps: dict[str, int | None], baseline: str | None = None, candidate: str | None = None) -> Checkpoints:
        rows = make_rows(*(answers(name, [1], step=step) for name, step in steps.items()))
        return choose_checkpoints(rows.table, baseline, candidate)

    return chosen


def test_earliest_and_latest_step(choose: Callable[..., Checkpoints]) -> None:
    assert choose({"final": 120, "base": 0, "checkpoint-40": 40}) == ("base", "final", 120)


def test_without_steps_the_number_that_ends_the_name(choose: Callable[..., Checkpoints]) -> None:
    assert choose({"checkpoint-9": None, "checkpoint-100": None, "checkpoint-20": None}) == (
        "checkpoint-9",
        "checkpoint-100",
        100,
    )


@pytest.mark.parametrize(
    "steps",
    [
        {"qwen-base-2024": None, "checkpoint-100": None},
        {"qwen-80": None, "checkpoint-40": None},
        {"base-101": None, "checkpoint-100": 100},
    ],
)
def test_numbers_of_names_that_are_not_alike_are_no_places(
    choose: Callable[..., Checkpoints], steps: dict[str, int | None]
) -> None:
    with pytest.raises(UsageError, match="--baseline"):
        choose(steps)


@pytest.mark.parametrize("name", ["claude-3-5-sonnet-20240620", "gpt-4o-2024-08-06", "qwen-base-2024", "llama-70"])
def test_a_candidate_s_date_or_version_is_no_step(choose: Callable[..., Checkpoints], name: str) -> None:
    assert choose({"base": None, name: None}, candidate=name) == ("base", name, None)


def test_dates_do_not_order_checkpoints(choose: Callable[..., Checkpoints]) -> None:
    with pytest.raises(UsageError, match="--baseline"):
        choose({"claude-20240620": None, "claude-20241022": None})


def test_the_same_digits_are_a_step_where_trainers_count(choose: Callable[..., Checkpoints]) -> None:
    names: dict[str, int | None] = {"base": None, "checkpoint-20240620": None}
    assert choose(names, candidate="checkpoint-20240620").candidate_step == 20240620


def test_without_either_the_names_are_asked_for(choose: Callable[..., Checkpoints]) -> None:
    with pytest.raises(UsageError, match=r"--baseline.*--candidate.*'base', 'checkpoint-100'"):
        choose({"base": None, "checkpoint-100": None})


def test_equal_steps_cannot_be_told_apart(choose: Callable[..., Checkpoints]) -> None:
    with pytest.raises(UsageError, match="same step"):
        choose({"base": 0, "a": 10, "b": 10})


def test_with_two_checkpoints_one_name_is_enough(choose: Callable[..., Checkpoints]) -> None:
    assert choose({"base": None, "tuned": None}, candidate="tuned") == ("base", "tuned", None)
    assert choose({"base": None, "tuned": None}, baseline="tuned") == ("tuned", "base", None)


def test_unknown_names_list_the_known_ones(choose: Callable[..., Checkpoints]) -> None:
    with pytest.raises(UsageError, match="no checkpoint 'basis' for the baseline; the rows have 'base', 'tuned'"):
        choose({"base": 0, "tuned": 1}, baseline="basis")


def test_one_checkpoint_is_compared_with_itself(choose: Callable[..., Checkpoints]) -> None:
    assert choose({"only": None}) == ("only", "only", None)


def test_one_name_with_two_steps_is_refused(make_rows: Make, answers: Answers) -> None:
    rows = make_rows(answers("tuned", [1, 1], step=lambda number: number), answers("base", [1], step=0))
    with pytest.raises(UsageError, match="several steps"):
        choose_checkpoints(rows.table, None, None)


def test_no_rows_are_refused(make_rows: Make) -> None:
    with pytest.raises(InputError, match="no held-out rows"):
        choose_checkpoints(make_rows().table, None, None)
