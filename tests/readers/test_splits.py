from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlchecks.readers.aliases import framework
from rlchecks.readers.closing import flush
from rlchecks.readers.rows import Rows
from rlchecks.readers.splits import Division, divide

Part = list[tuple[int, dict[str, Any]]]


def parts(name: str, *rows: dict[str, Any]) -> tuple[dict[str, Part], Division]:
    """Divide rows; of each split the rows with their places and the values that belong there."""
    division = divide(Rows.of(rows), framework(name))
    train, summary = flush(division, np.arange(len(rows)))
    places = {"train": train, "eval": np.flatnonzero(division.eval), "summary": summary}

    def belongs(split: str, key: str, at: int) -> bool:
        return bool(division.belong(split, key, np.array([at], dtype=np.int32))[0])

    def mine(split: str, at: int) -> dict[str, Any]:
        return {key: value for key, value in rows[at].items() if value is not None and belongs(split, key, at)}

    return {split: [(at, mine(split, at)) for at in some.tolist()] for split, some in places.items()}, division


def test_rows_of_a_trainer_state_are_told_apart_by_their_keys() -> None:
    train = {"step": 10, "epoch": 0.1, "reward": 0.5}
    evaluation = {"step": 10, "epoch": 0.1, "eval_reward": 0.6, "eval_runtime": 3.0}
    summary = {"step": 10, "epoch": 0.1, "train_runtime": 9.0, "train_loss": 0.1, "total_flos": 0.0}
    found, division = parts("trl_grpo", train, evaluation, summary)
    assert found == {"train": [(0, train)], "eval": [(1, evaluation)], "summary": [(2, summary)]}
    assert not division.closing.any()


def test_metrics_in_a_closing_row_are_kept_apart_from_its_summary() -> None:
    row = {"step": 7, "reward": 0.5, "kl": 0.1, "train_runtime": 9.0, "train_loss": 0.1}
    found, division = parts("trl_grpo", row)
    assert division.closing.tolist() == [True]
    assert found["train"] == [(0, {"step": 7, "reward": 0.5, "kl": 0.1})]
    assert found["summary"] == [(0, {"step": 7, "train_runtime": 9.0, "train_loss": 0.1})]


def test_a_closing_row_is_known_with_a_trackers_prefix_too() -> None:
    row = {"train/global_step": 7, "train/reward": 0.5, "train/train_runtime": 9.0, "train/total_flos": 0.0}
    found, _ = parts("trl_grpo", row)
    assert found["train"] == [(0, {"train/global_step": 7, "train/reward": 0.5})]
    assert found["summary"] == [(0, {key: value for key, value in row.items() if key != "train/reward"})]


def test_a_row_of_a_table_with_all_columns_is_taken_apart() -> None:
    row = {"step": 5, "reward": 0.5, "eval_reward": 0.6, "train_runtime": None}
    found, division = parts("table", row, {**row, "reward": None}, {**row, "eval_reward": None})
    assert found["train"] == [(0, {"step": 5, "reward": 0.5}), (2, {"step": 5, "reward": 0.5})]
    assert found["eval"] == [(0, {"step": 5, "eval_reward": 0.6}), (1, {"step": 5, "eval_reward": 0.6})]
    assert found["summary"] == []
    assert not division.whole.any()


def test_the_loss_of_a_table_is_no_summary_without_its_marker() -> None:
    found, _ = parts("table", {"step": 5, "reward": 0.5, "train_loss": 0.6, "train_runtime": None})
    assert found["train"] == [(0, {"step": 5, "reward": 0.5, "train_loss": 0.6})]


@pytest.mark.parametrize("word", ["eval", "Validation", "test", "val"])
def test_a_split_column_says_which_rows_are_evaluations(word: str) -> None:
    rows = [{"step": 1, "split": "train", "reward": 0.5}, {"step": 1, "split": word, "reward": 0.6}]
    found, _ = parts("table", *rows)
    assert found == {"train": [(0, rows[0])], "eval": [(1, rows[1])], "summary": []}


def test_the_first_column_that_a_row_has_for_it_says_so() -> None:
    rows = [{"split": "train", "phase": "eval", "reward": 1}, {"phase": "eval", "reward": 2}, {"split": 1, "reward": 3}]
    assert divide(Rows.of(rows), framework("table")).eval.tolist() == [False, True, False]


@pytest.mark.parametrize("row", [{"step": 3, "epoch": 0.2}, {"step": 3, "_timestamp": 1.7e9, "_runtime": 3.0}, {}])
def test_a_row_of_counters_and_clocks_alone_is_no_row_of_any_kind(row: dict[str, Any]) -> None:
    found, _ = parts("table", row)
    assert found == {"train": [], "eval": [], "summary": []}


def test_a_clock_makes_no_training_row_of_an_evaluation() -> None:
    row = {"step": 3, "_timestamp": 1.7e9, "eval/reward": 0.5}
    found, _ = parts("table", row)
    assert (found["train"], found["eval"]) == ([], [(0, row)])


def test_the_keys_with_which_a_row_counts_are_those_that_belong_to_the_split() -> None:
    rows = [{"step": 1, "eval_reward": None}, {"step": 1, "reward": 0.5, "eval_reward": 0.5, "eval_x": None}]
    division = divide(Rows.of(rows), framework("table"))
    assert division.keys("eval", 0) == {"step", "eval_reward"}
    assert division.keys("eval", 1) == {"step", "eval_reward"}
