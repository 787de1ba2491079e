from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlchecks.readers import find_runs
from rlchecks.readers.copies import Copy, Opened, _training_rows, alike
from rlchecks.readers.registry import reader_named
from rlchecks.readers.source import Source
from rlchecks.schema import STEPS

Write = Callable[[str, str | bytes], Path]
WriteState = Callable[..., Path]


def opened(*openings: str | None, reader: str = "table") -> list[Opened]:
    return [Opened(Source(Path(str(at))), reader_named(reader), opening) for at, opening in enumerate(openings)]


def grouped(*openings: str | None) -> list[list[int]]:
    return sorted(sorted(int(str(one.source)) for one in group) for group in alike(opened(*openings)))


def test_sources_are_alike_if_one_opening_is_the_beginning_of_the_other() -> None:
    assert grouped("a", "a", "b", None, None) == [[0, 1]]
    assert grouped("a b", "a c", "a b d", "a b d") == [[0, 2, 3]]
    assert grouped("a b", "a c") == []
    # A short log may be the beginning of several long ones.
    assert grouped("a", "a b", "a c", "d") == [[0, 1, 2]]
    assert grouped("a b c", "a b", "a", "a b x", "a y") == [[0, 1, 2, 3, 4]]
    assert grouped("ab", "a") == []
    assert grouped() == []


def test_logs_of_different_readers_are_not_alike() -> None:
    assert alike([*opened("a"), *opened("a", reader="trl")]) == []


lines = st.lists(st.sampled_from("ab"), min_size=1, max_size=4)


@given(st.lists(lines, max_size=8))
def test_whatever_may_be_a_copy_is_in_one_group(openings: list[list[str]]) -> None:
    groups = grouped(*map(" ".join, openings))
    group_of = {member: at for at, group in enumerate(groups) for member in group}
    for at, one in enumerate(openings):
        for before, other in enumerate(openings[:at]):
            length = min(len(one), len(other))
            if one[:length] == other[:length]:
                assert group_of[at] == group_of[before]


Row = dict[str, Any]


def steps(rows: Sequence[Row]) -> pa.Table:
    """A table of training rows; what is no column is in ``extra``."""
    return pa.Table.from_pylist([{"run_id": "x", "split": "train", "extra": [], **row} for row in rows], STEPS)


ROWS: list[Row] = [
    {"step": 1, "reward": 0.5, "extra": [("a", 1.0), ("b", float("nan"))]},
    {"step": 2, "reward": float("nan"), "kl": 0.1},
    {"step": 3, "reward": None, "extra": [("a", 2.0)]},
]


def test_a_row_is_told_by_every_number_in_it_and_by_nothing_else() -> None:
    hashes = _training_rows(steps(ROWS))
    assert len(set(hashes.tolist())) == 3
    again = pa.concat_tables([steps([{"step": 9, "split": "eval"}]), steps(ROWS[:1]), steps(ROWS[1:])])
    assert np.array_equal(_training_rows(again), hashes)
    other = steps([{**row, "run_id": "y", "extra_text": [("c", "d")]} for row in ROWS])
    assert np.array_equal(_training_rows(other), hashes)
    changes: list[tuple[int, Row]] = [
        (0, {"step": 4}),
        (0, {"reward": 0.5000000001}),
        (0, {"extra": [("a", 1.0), ("b", 0.0)]}),
        (0, {"extra": [("a", 1.0)]}),
        (0, {"extra": [("a", 1.0), ("c", float("nan"))]}),
        (0, {"reward": None, "reward_std": 0.5}),
        (1, {"reward": None}),
        (1, {"reward": 0.0}),
        (2, {"reward": 0.0}),
        (2, {"extra": []}),
    ]
    for at, change in changes:
        changed = _training_rows(steps([*ROWS[:at], {**ROWS[at], **change}, *ROWS[at + 1 :]]))
        assert (changed != hashes).tolist() == [place == at for place in range(3)]


def test_no_rows_have_no_hashes() -> None:
    assert len(_training_rows(STEPS.empty_table())) == 0
    assert len(_training_rows(steps([{"step": 1, "split": "eval"}]))) == 0


def test_a_sweep_with_one_seed_is_not_read_to_find_copies(
    write_state: WriteState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        rows = [{"step": step, "reward": 0.5 + number * (step > 2) / 9} for step in range(1, 20)]
        write_state(rows, f"sweep/{number}")
    monkeypatch.setattr("rlchecks.readers.originals.find_copies", lambda group: pytest.fail("it reads"))
    assert len(find_runs(tmp_path).sources) == 3


def test_a_checkpoint_that_ended_with_a_closing_row_is_the_beginning_of_a_run_that_went_on(
    write_state: WriteState, tmp_path: Path
) -> None:
    rows = [{"step": step, "reward": step / 40} for step in range(1, 41)]
    write_state([*rows[:5], {"step": 5, "train_runtime": 1.0, "reward": 0.1}], "first")
    write_state(rows, "whole")
    found = find_runs(tmp_path)
    assert found.sources == [Source(tmp_path / "whole")]
    assert found.refused[0].reason.endswith("its 5 steps are the first of 40")


def test_a_copy_says_what_it_is_a_copy_of() -> None:
    assert Copy(Source(Path("a"), "2"), 5, 5).reason == "a copy of a#2"
    assert Copy(Source(Path("a")), 5, 9).reason == "an earlier checkpoint of a: its 5 steps are the first of 9"
