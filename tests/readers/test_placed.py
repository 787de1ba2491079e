from __future__ import annotations

from typing import Any

import numpy as np

from rlchecks.readers.aliases import framework
from rlchecks.readers.placed import placed
from rlchecks.readers.rows import Rows
from rlchecks.readers.settle import Settled
from rlchecks.readers.splits import divide


def columns(split: str, rows: list[dict[str, Any]], row_of: list[int]) -> dict[str, dict[int, Any]]:
    division = divide(Rows.of(rows), framework("table"))
    settled = Settled(np.arange(max(row_of) + 1), np.array(row_of, dtype=np.int32))
    return {
        key: {at: value for part in parts for at, value in zip(part.at.tolist(), part.tolist(), strict=True)}
        for key, parts in placed(division, split, settled)
    }


def test_values_stand_in_the_rows_of_their_steps() -> None:
    rows = [{"step": 2, "reward": 0.2}, {"step": 1, "reward": 0.1, "kl": 1}, {"step": 9, "loss": 0.0}]
    assert columns("train", rows, [1, 0, -1]) == {"step": {0: 1, 1: 2}, "reward": {0: 0.1, 1: 0.2}, "kl": {0: 1}}


def test_of_rows_that_are_one_the_last_value_counts_of_whatever_kind_it_is() -> None:
    rows = [{"reward": 0.1, "a": "x", "b": 1.0}, {"reward": "n/a", "a": 2}, {"reward": None, "b": [1]}]
    assert columns("train", rows, [0, 0, 0]) == {"reward": {0: "n/a"}, "a": {0: 2}, "b": {0: [1]}}


def test_keys_come_in_the_order_in_which_the_rows_have_them() -> None:
    rows = [{"reward": 0.1, "later": 1.0}, {"sooner": 1.0, "reward": 0.2, "never": None}]
    assert list(columns("train", rows, [1, 0])) == ["reward", "sooner", "never", "later"]


def test_values_of_other_splits_are_left_out_and_so_are_keys_that_only_they_have() -> None:
    row = {"step": 1, "reward": 0.1, "eval_reward": 0.2, "eval_x": None, "train_runtime": 3.0}
    assert columns("eval", [row], [0]) == {"step": {0: 1}, "eval_reward": {0: 0.2}}
    assert columns("summary", [row], [0]) == {"step": {0: 1}, "reward": {0: 0.1}, "train_runtime": {0: 3.0}}
