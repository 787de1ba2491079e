from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlchecks.readers.rows import Rows
from rlchecks.readers.steps import MAX_STEP, NO_STEP, number


def numbered(values: list[Any], metrics: list[bool] | None = None) -> tuple[list[int | None], list[str]]:
    rows = Rows.of([{} if value is ... else {"step": value} for value in values])
    found = number(
        rows, ["global_step", "step"], np.array([True] * len(values) if metrics is None else metrics, dtype=np.bool_)
    )
    return [None if step == NO_STEP else step for step in found.steps.tolist()], found.warnings


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
    rows = Rows.of([{"global_step": 0, "step": index} for index in range(3)])
    assert number(rows, ["global_step", "step"], np.ones(3, dtype=np.bool_)).keys == ("step",)
    assert number(Rows.of([rows[0]]), ["global_step", "step"], np.ones(1, dtype=np.bool_)).keys == ("global_step",)


def test_no_rows_need_no_steps() -> None:
    assert numbered([], [])[0] == []


def test_steps_of_several_kinds_of_value_are_taken_in_one_log() -> None:
    assert numbered([1, 2.0, "3", Decimal(4), MAX_STEP]) == ([1, 2, 3, 4, MAX_STEP], [])


def test_each_row_may_have_a_counter_of_its_own() -> None:
    rows = Rows.of(
        [
            {"rollout/step": 4, "_step": 90, "reward": 0.1},
            {"train/step": 3, "_step": 91, "loss": 0.2},
            {"rollout/step": None, "train/step": 4, "loss": 0.3},
            {"train/step": "x", "loss": 0.4},
            {"note": "no counter at all"},
        ]
    )
    metrics = np.array([True, True, True, True, False])
    found = number(rows, ["rollout/step", "train/step", "step"], metrics, each_row=True)
    assert found.keys == ("rollout/step", "train/step")
    assert found.steps.tolist() == [4, 3, 4, NO_STEP, 4]
    assert found.warnings == [
        "1 row without a usable 'rollout/step' or 'train/step' (first: row 4, 'x'): 1 of them left out"
    ]


def test_a_counter_that_stands_beside_another_and_differs_is_no_counter_of_its_rows() -> None:
    rows = Rows.of([{"rollout/step": 1, "_step": 7}, {"train/step": 1, "_step": 8}, {"_step": 9, "system": 1}])
    found = number(rows, ["rollout/step", "train/step", "_step"], np.array([True, True, False]), each_row=True)
    assert (found.keys, found.steps.tolist()) == (("rollout/step", "train/step"), [1, 1, 1])


@pytest.mark.parametrize(("updates", "told"), [(1, False), (2, True), (4, True)])
def test_counters_of_different_pace_are_told(updates: int, told: bool) -> None:
    rows = Rows.of([{"rollout/step": at} for at in range(5)] + [{"train/step": at} for at in range(5 * updates)])
    found = number(rows, ["rollout/step", "train/step"], np.ones(len(rows), dtype=np.bool_), each_row=True)
    sentence = f"'train/step' counts to {5 * updates}, 'rollout/step' to 5: rows of one step may not belong together"
    assert found.warnings == ([sentence] if told else [])


def test_without_any_counter_in_any_row_the_rows_are_numbered() -> None:
    found = number(Rows.of([{"reward": 1}] * 2), ["rollout/step"], np.ones(2, dtype=np.bool_), each_row=True)
    assert (found.keys, found.steps.tolist()) == ((), [1, 2])
    assert found.warnings == ["no row has a step ('rollout/step'): rows are numbered"]


def by_definition(logged: list[int | None], metrics: list[bool]) -> list[int | None]:
    steps: list[int | None] = []
    before = count = 0
    for at, step in enumerate(logged):
        count += metrics[at]
        following = next((later for later in logged[at + 1 :] if later is not None), MAX_STEP)
        if step is None and not metrics[at]:
            step = before
        elif step is None and before < count < following:
            step = count
        before = before if step is None else step
        steps.append(step)
    return steps


@settings(deadline=None)
@given(st.lists(st.tuples(st.none() | st.integers(0, 9), st.booleans()), min_size=1, max_size=12))
def test_rows_without_step_are_numbered_by_the_definition(rows: list[tuple[int | None, bool]]) -> None:
    logged, metrics = [step for step, _ in rows], [holds for _, holds in rows]
    if any(step is not None for step in logged):
        assert numbered(logged, metrics)[0] == by_definition(logged, metrics)
