from __future__ import annotations

import pyarrow as pa
import pytest

from rlchecks.run import rows_of


@pytest.mark.parametrize(
    "splits", [["train", "train", "eval"], ["eval", "train", "train"], ["train", "eval", "train"], ["eval"], []]
)
def test_the_rows_of_a_split_are_taken_in_their_order(splits: list[str]) -> None:
    steps = pa.table({"split": pa.array(splits, pa.string()), "step": pa.array(range(len(splits)), pa.int64())})
    for split in ("train", "eval", "summary"):
        expected = [step for step, name in enumerate(splits) if name == split]
        assert rows_of(steps, split)["step"].to_pylist() == expected


def test_rows_that_stand_together_are_not_copied() -> None:
    steps = pa.table({"split": ["train"] * 3 + ["eval"], "step": pa.array([1, 2, 3, 4])})
    taken = rows_of(steps, "train")["step"].chunk(0).buffers()[1]
    assert taken.address == steps["step"].chunk(0).buffers()[1].address
