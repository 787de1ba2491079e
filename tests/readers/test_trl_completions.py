from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rlchecks.readers.trl_completions as module
from rlchecks.readers import read_run
from rlchecks.readers.trl_completions import completion_files, read_completions
from rlchecks.schema import COMPLETIONS


def row(step: int | None = 1, **columns: Any) -> dict[str, Any]:
    return {"step": step, "prompt": "2+2", "completion": "4", "f": 1.0, "advantage": 0.5, **columns}


def put(directory: Path, step: int, rows: list[dict[str, Any]]) -> Path:
    path = directory / "completions" / f"completions_{step:05d}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def read(directory: Path, graders: tuple[str, ...] = ("f",), eval_steps: tuple[int, ...] = ()) -> module.Completions:
    return read_completions(completion_files(directory), "r", graders, eval_steps)


def test_answers_are_read_with_scores_and_advantage(tmp_path: Path) -> None:
    put(tmp_path, 1, [row(), row(completion="5", f=None, advantage=math.nan)])
    found = read(tmp_path)
    assert found.table.schema.equals(COMPLETIONS)
    found.table.validate(full=True)
    first, second = found.table.to_pylist()
    assert first == {
        "run_id": "r",
        "split": "train",
        "step": 1,
        "prompt": "2+2",
        "completion": "4",
        "advantage": 0.5,
        "rewards": [("f", 1.0)],
        "extra_text": [],
    }
    assert second["rewards"] == []
    assert math.isnan(second["advantage"])
    assert found.warnings == ()
    assert len(found.inputs) == 1


def test_answers_of_a_step_with_an_evaluation_are_the_evaluations(tmp_path: Path) -> None:
    for step in (1, 2):
        put(tmp_path, step, [row(step)])
    assert read(tmp_path, eval_steps=(2,)).table["split"].to_pylist() == ["train", "eval"]


def test_columns_of_the_user_are_kept_as_text_beside_known_functions(tmp_path: Path) -> None:
    put(tmp_path, 1, [row(difficulty=3, source="a")])
    (read_row,) = read(tmp_path).table.to_pylist()
    assert read_row["rewards"] == [("f", 1.0)]
    assert read_row["extra_text"] == [("difficulty", "3"), ("source", "a")]


def test_without_known_functions_all_numbers_are_scores(tmp_path: Path) -> None:
    put(tmp_path, 1, [row(g=2, source="a")])
    assert read(tmp_path, graders=()).table["rewards"].to_pylist() == [[("f", 1.0), ("g", 2.0)]]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([{"role": "user", "content": "2+2"}], "2+2"),
        ([{"role": "system", "content": "Add."}, {"role": "user", "content": "2+2"}], "system: Add.\n\nuser: 2+2"),
        ([{"role": "user", "content": [{"type": "text", "text": "2"}, {"type": "text", "text": "+2"}]}], "2\n+2"),
        ([{"role": "user", "content": None}], ""),
        ([{"other": 1}], '[{"other": 1}]'),
        ([], "[]"),
        (None, None),
    ],
)
def test_chat_messages_become_text(value: Any, text: str | None, tmp_path: Path) -> None:
    put(tmp_path, 1, [row(prompt=value), row(prompt=value)])
    assert read(tmp_path).table["prompt"].to_pylist() == [text, text]


def test_steps_come_from_the_column_or_else_from_the_name(tmp_path: Path) -> None:
    put(tmp_path, 7, [row(step=None), row(step=6), row(step=-1)])
    assert read(tmp_path).table["step"].to_pylist() == [7, 6, 7]


def test_files_are_in_the_order_of_their_steps(tmp_path: Path) -> None:
    for step in (100_000, 99_999, 2):
        put(tmp_path, step, [row(step)])
    (tmp_path / "completions" / "notes.txt").write_text("x")
    assert [step for step, _ in completion_files(tmp_path)] == [2, 99_999, 100_000]
    assert completion_files(tmp_path / "absent") == []


def test_damaged_files_are_left_out_and_told(tmp_path: Path) -> None:
    put(tmp_path, 1, [row(1)])
    put(tmp_path, 2, [row(2)]).write_bytes(b"PAR1 damaged")
    put(tmp_path, 3, [{"step": 3, "text": "x"}])
    found = read(tmp_path)
    assert found.table["step"].to_pylist() == [1]
    (warning,) = found.warnings
    assert warning.startswith("2 completions files left out: ")
    assert "no readable Parquet" in warning


def test_damaged_completions_leave_the_run_readable(write_state: Callable[..., Path]) -> None:
    state = write_state([{"step": 1, "reward": 0.5, "rewards/f/mean": 0.5}])
    put(state.parent, 1, [row(1)]).write_bytes(b"")
    run = read_run(state.parent)
    assert len(run.steps) == 1
    assert len(run.completions) == 0
    assert "the file is empty" in run.warnings[0]


def test_of_too_many_bytes_evenly_spaced_files_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = [put(tmp_path, step, [row(step)]).stat().st_size for step in range(1, 11)]
    monkeypatch.setattr(module, "MAX_TOTAL_BYTES", sum(sizes) // 3 + 1)
    found = read(tmp_path)
    assert found.table["step"].to_pylist() == [1, 4, 7, 10]
    assert found.warnings[0].startswith("completions: 4 of 10 files are read, evenly spaced")


def test_text_of_answers_is_kept_as_it_is(tmp_path: Path) -> None:
    hostile = "<script>\x1b[31m</script>\0"
    put(tmp_path, 1, [row(completion=hostile)])
    assert read(tmp_path).table["completion"].to_pylist() == [hostile]
