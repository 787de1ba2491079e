"""Rows of several calls a step become rows of steps."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from rlchecks.readers.wandb_rows import counter_of, framework_of, unite

Row = Mapping[str, object]


def united(*legs: list[Row], columns: Mapping[str, str] | None = None) -> tuple[list[Row], tuple[str, ...]]:
    keys = {key for rows in legs for row in rows for key in row}
    framework = framework_of(keys, columns or {})
    found = unite(list(legs), framework, columns or {})
    return [dict(row) for row in found.rows], found.warnings


def test_what_is_logged_beside_the_metrics_of_a_step_joins_them() -> None:
    rows: list[Row] = [
        {"train/global_step": 0, "timing": 0.1, "_step": 0, "_timestamp": 1.0},
        {"train/global_step": 1, "train/reward": 0.5, "_step": 1, "_timestamp": 2.0},
        {"train/global_step": 1, "timing": 0.2, "_step": 2, "_timestamp": 3.0},
        {"timing": 0.3, "_step": 3, "_timestamp": 4.0},
        {"train/global_step": 1, "train/loss": 1.0, "_step": 4, "_timestamp": 5.0},
        {"train/global_step": 2, "train/reward": 0.6, "_step": 5, "_timestamp": 6.0},
    ]
    first = {"train/global_step": 1, "train/reward": 0.5, "_step": 1, "_timestamp": 2.0}
    # The first row of the log has no metric to go with, but nothing that others have not.
    assert united(rows) == ([{**first, "timing": 0.3, "train/loss": 1.0}, dict(rows[5])], ())


def test_a_metric_again_is_a_step_logged_again() -> None:
    rows: list[Row] = [
        {"train/global_step": 1, "train/reward": 0.5, "_step": 0},
        {"train/global_step": 1, "train/reward": 0.7, "_step": 1},
        {"train/global_step": 2, "train/reward": 0.6, "_step": 2},
    ]
    assert united(rows) == (rows, ())


def test_logs_of_two_starts_do_not_mix() -> None:
    one: list[Row] = [{"train/global_step": step, "train/reward": 0.5, "_step": step} for step in (1, 2)]
    two: list[Row] = [{"train/global_step": step, "train/loss": 0.5, "_step": step} for step in (2, 3)]
    assert united(one, two) == ([*one, *two], ())


def test_rows_without_metrics_at_steps_of_their_own_are_left_out_and_told() -> None:
    rows: list[Row] = [
        {"train/global_step": 1, "train/reward": 0.5},
        {"train/global_step": 5, "custom": 3.0},
        {"train/global_step": 10, "train/reward": 0.6},
    ]
    assert united(rows) == ([rows[0], rows[2]], ("1 row without any metric left out, and with them 'custom'",))
    # The user's own name makes a metric of it.
    assert united(rows, columns={"custom": "kl"}) == (rows, ())


def test_an_evaluation_leaves_no_training_row() -> None:
    rows: list[Row] = [
        {"train/global_step": 0, "eval/reward": 0.1, "custom": 1.0, "_step": 0, "_timestamp": 1.0},
        {"train/global_step": 1, "train/reward": 0.5, "_step": 1, "_timestamp": 2.0},
    ]
    first = {"train/global_step": 0, "eval/reward": 0.1, "_step": 0}
    assert united(rows) == ([first, rows[1]], ())


def test_rows_with_metrics_but_without_the_step_are_left_to_others() -> None:
    rows: list[Row] = [
        {"train/global_step": 1, "train/reward": 0.5, "_step": 0},
        {"train/loss": 0.1, "_step": 1},
        {"train/global_step": 2, "train/reward": 0.6, "_step": 2},
    ]
    assert united(rows) == (rows, ())


def test_the_counter_is_the_best_that_moves() -> None:
    framework = framework_of({"train/global_step", "_step", "reward"}, {})
    still: list[Row] = [{"train/global_step": 0, "_step": call} for call in range(3)]
    moving: list[Row] = [{"train/global_step": call, "_step": 2 * call} for call in range(3)]
    assert counter_of([still], framework) == "_step"
    assert counter_of([moving], framework) == "train/global_step"
    assert counter_of([[{"train/global_step": 7}]], framework) == "train/global_step"
    assert counter_of([[{"reward": 1.0}]], framework) is None
    own = framework_of({"train/global_step", "_step", "mine"}, {"mine": "step"})
    assert counter_of([[{"mine": call, "train/global_step": call} for call in range(3)]], own) == "mine"


def test_keys_of_trl_are_known_with_the_prefix_of_the_tracker() -> None:
    keys = {"train/reward", "train/reward_std", "train/completions/mean_length", "train/completions/clipped_ratio"}
    assert framework_of(keys, {}).name == "trl_grpo"
    assert framework_of(keys, {}, "mine").step[-2:] == ("mine", "_step")


metrics = st.dictionaries(
    st.sampled_from(["train/reward", "train/loss", "eval/reward", "timing", "note"]), st.floats(0, 1), max_size=4
)
calls = st.lists(st.tuples(st.one_of(st.none(), st.integers(0, 3)), metrics), max_size=20)


@given(calls)
def test_no_metric_is_lost_made_up_or_moved_to_another_step(logged: list[tuple[int | None, dict[str, float]]]) -> None:
    rows: list[Row] = [
        {**row, "_step": call, **({} if step is None else {"train/global_step": step})}
        for call, (step, row) in enumerate(logged)
    ]
    framework = framework_of({"train/reward", "train/loss", "eval/reward", "train/global_step", "_step"}, {})
    counter = counter_of([rows], framework) or "_step"

    def cells(some: list[Row]) -> list[tuple[object, str, object]]:
        names = ("train/reward", "train/loss", "eval/reward")
        return sorted((repr(row.get(counter)), name, row[name]) for row in some for name in names if name in row)

    assert cells([dict(row) for row in unite([rows], framework, {}).rows]) == cells(rows)
