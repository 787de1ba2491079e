from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlchecks.readers.steps import MAX_STEP, complement, number, settle, tell

COUNTERS = {"step", "epoch"}


def numbered(values: list[Any], metrics: list[bool] | None = None) -> tuple[list[int | None], list[str]]:
    rows = [{} if value is ... else {"step": value} for value in values]
    found = number(rows, ["global_step", "step"], metrics or [True] * len(rows))
    return found.steps, found.warnings


def rows_of(values: list[tuple[int, float]]) -> tuple[list[int], list[dict[str, object]]]:
    return [step for step, _ in values], [{"step": step, "reward": value} for step, value in values]


@pytest.mark.parametrize("values", [[0, 10, 20], [3.0, 1.0], ["1", "2.0"], [MAX_STEP]])
def test_logged_steps_are_taken(values: list[Any]) -> None:
    assert numbered(values) == ([int(float(value)) for value in values], [])


def test_without_steps_the_rows_are_numbered_and_told_so() -> None:
    steps, warnings = numbered([..., ..., ...])
    assert steps == [1, 2, 3]
    assert warnings == ["no row has a step ('global_step', 'step'): rows are numbered"]


@pytest.mark.parametrize("bad", [-5, 0.5, "x", 10**13])
def test_steps_that_are_none_are_told_with_the_first_of_them(bad: Any) -> None:
    steps, warnings = numbered([None, bad, bad])
    assert steps == [1, 2, 3]
    assert warnings == [
        f"no row has a usable 'step' (first: row 2, '{bad}'; expected whole numbers from 0 to 1,000,000,000,000): "
        "rows are numbered"
    ]


def test_a_row_without_step_gets_its_number_if_it_fits() -> None:
    steps, warnings = numbered([1, 2, ..., 4])
    assert steps == [1, 2, 3, 4]
    assert warnings == ["1 row without a usable 'step' (first: row 3, none): the number of the row is used"]


@pytest.mark.parametrize("bad", [..., -5, 0.5, "x", True, 10**13, float("nan"), 10**400])
def test_a_row_whose_number_does_not_fit_is_left_out(bad: Any) -> None:
    steps, warnings = numbered([10, 20, bad, 40])
    assert steps == [10, 20, None, 40]
    assert "1 row without a usable 'step' (first: row 3" in warnings[0]
    assert warnings[0].endswith("1 of them left out")


def test_the_number_of_a_row_fits_only_below_the_step_after_it() -> None:
    assert numbered([1, 2, ..., 3])[0] == [1, 2, None, 3]
    assert numbered([1, 2, ...])[0] == [1, 2, 3]


def test_rows_without_metrics_take_the_step_before() -> None:
    assert numbered([10, ..., 20, ...], [True, False, True, False]) == ([10, 10, 20, 20], [])


def test_a_counter_that_never_moves_yields_to_one_that_does() -> None:
    rows = [{"global_step": 0, "step": index} for index in range(3)]
    assert number(rows, ["global_step", "step"], [True] * 3).key == "step"
    assert number(rows[:1], ["global_step", "step"], [True]).key == "global_step"


ROWS = st.lists(st.tuples(st.integers(0, 12), st.floats(0, 1)), max_size=40)


@settings(deadline=None)
@given(ROWS)
def test_the_last_row_of_each_step_stays_and_the_others_are_counted(values: list[tuple[int, float]]) -> None:
    settled = settle(*rows_of(values), COUNTERS)
    last = dict(values)
    assert settled.steps == sorted(last)
    assert [row["reward"] for row in settled.rows] == [last[step] for step in settled.steps]
    assert settled.repeated == len(values) - len(last)
    assert settled.went_back == sum(after < before for (before, _), (after, _) in pairwise(values))


def test_a_resumed_log_is_told() -> None:
    values = [(step, 0.1) for step in [*range(1, 58), *range(41, 101)]]
    settled = settle(*rows_of(values), COUNTERS)
    assert (len(settled.steps), settled.repeated, settled.left_over) == (100, 17, None)
    assert tell(settled) == ["the log goes back to an earlier step 1 time: of 17 rows logged again, the last is kept"]


def test_steps_that_only_an_earlier_attempt_reached_are_told() -> None:
    values = [(step, 0.1) for step in [*range(1, 36), *range(1, 11)]]
    settled = settle(*rows_of(values), COUNTERS)
    assert (len(settled.steps), settled.repeated, settled.left_over) == (35, 10, (11, 35))
    assert tell(settled)[1] == "steps 11 to 35 come from an attempt before the latest one"


def test_several_rows_a_step_are_told() -> None:
    values = [(step, 0.1) for step in (1, 1, 1, 2, 2, 2)]
    (sentence,) = tell(settle(*rows_of(values), COUNTERS))
    assert sentence.startswith("4 rows with the same step as another: the last of each step is kept")


def test_disorder_without_repeats_is_sorted_and_told() -> None:
    settled = settle(*rows_of([(1, 0.1), (4, 0.4), (3, 0.3)]), COUNTERS)
    assert (settled.steps, settled.repeated) == ([1, 3, 4], 0)
    assert tell(settled) == ["the rows are not in the order of their steps: sorted"]


def test_parts_of_one_row_are_put_together() -> None:
    rows: list[dict[str, object]] = [
        {"step": 1, "reward": 0.5, "kl": None, "_timestamp": 1.0},
        {"step": 1, "reward": None, "kl": 0.1, "_timestamp": 1.2},
        {"step": 2, "reward": 0.6},
    ]
    settled = settle([1, 1, 2], rows, COUNTERS)
    assert settled.rows[0] == {"step": 1, "reward": 0.5, "kl": 0.1, "_timestamp": 1.2}
    assert settled.repeated == 0
    assert tell(settled) == []


def test_parts_of_a_repeated_row_replace_it_whole() -> None:
    rows: list[dict[str, object]] = [{"reward": 0.1, "kl": 1.0}, {"reward": 0.2}, {"reward": 0.3}, {"loss": 0.4}]
    settled = settle([1, 2, 1, 1], rows, COUNTERS)
    assert settled.rows == [{"reward": 0.3, "loss": 0.4}, {"reward": 0.2}]
    assert settled.repeated == 1


def test_rows_with_a_value_in_common_are_no_parts() -> None:
    assert complement({"step": 1, "a": 1}, {"step": 1, "b": 1}, COUNTERS)
    assert complement({"a": None}, {"a": 1}, COUNTERS)
    assert not complement({"a": 1}, {"a": 1}, COUNTERS)


def test_evaluations_of_several_sets_are_united() -> None:
    rows = [{"eval_a_loss": 1.0, "eval_reward": 0.1}, {"eval_b_loss": 2.0, "eval_reward": 0.2}]
    settled = settle([5, 5], rows, COUNTERS, unite=True)
    assert settled.rows == [{"eval_a_loss": 1.0, "eval_b_loss": 2.0, "eval_reward": 0.2}]
    assert (settled.united, settled.repeated) == (1, 0)
