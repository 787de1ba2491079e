from __future__ import annotations

from typing import Any

import pytest

from rlchecks.readers.aliases import framework
from rlchecks.readers.splits import Division, divide


def parts(name: str, *rows: dict[str, Any]) -> Division:
    return divide(rows, framework(name))


def test_rows_of_a_trainer_state_are_told_apart_by_their_keys() -> None:
    train = {"step": 10, "epoch": 0.1, "reward": 0.5}
    evaluation = {"step": 10, "epoch": 0.1, "eval_reward": 0.6, "eval_runtime": 3.0}
    summary = {"step": 10, "epoch": 0.1, "train_runtime": 9.0, "train_loss": 0.1, "total_flos": 0.0}
    division = parts("trl_grpo", train, evaluation, summary)
    assert (division.train.rows, division.train.at) == ([train], [0])
    assert (division.eval.rows, division.eval.at) == ([evaluation], [1])
    assert (division.summary.rows, division.summary.at) == ([summary], [2])
    assert not division.closing.rows


def test_metrics_in_a_closing_row_are_kept_apart_from_its_summary() -> None:
    division = parts("trl_grpo", {"step": 7, "reward": 0.5, "kl": 0.1, "train_runtime": 9.0, "train_loss": 0.1})
    assert division.closing.rows == [{"step": 7, "reward": 0.5, "kl": 0.1}]
    assert division.summary.rows == [{"step": 7, "train_runtime": 9.0, "train_loss": 0.1}]


def test_a_row_of_a_table_with_all_columns_is_taken_apart() -> None:
    row = {"step": 5, "reward": 0.5, "eval_reward": 0.6, "train_runtime": None}
    division = parts("table", row, {**row, "reward": None}, {**row, "eval_reward": None})
    assert division.train.rows == [{"step": 5, "reward": 0.5}, {"step": 5, "reward": 0.5}]
    assert division.train.at == [0, 2]
    assert division.eval.rows == [{"step": 5, "eval_reward": 0.6}] * 2
    assert not division.summary.rows


def test_the_loss_of_a_table_is_no_summary_without_its_marker() -> None:
    division = parts("table", {"step": 5, "reward": 0.5, "train_loss": 0.6, "train_runtime": None})
    assert division.train.rows == [{"step": 5, "reward": 0.5, "train_loss": 0.6}]


@pytest.mark.parametrize("word", ["eval", "Validation", "test", "val"])
def test_a_split_column_says_which_rows_are_evaluations(word: str) -> None:
    division = parts("table", {"step": 1, "split": "train", "reward": 0.5}, {"step": 1, "split": word, "reward": 0.6})
    assert [row["reward"] for row in division.train.rows] == [0.5]
    assert [row["reward"] for row in division.eval.rows] == [0.6]


def test_a_row_of_counters_alone_is_no_training_row() -> None:
    assert not parts("trl_grpo", {"step": 3, "epoch": 0.2}).train.rows
