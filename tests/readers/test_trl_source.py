from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rlchecks.errors import InputError, NotARunError
from rlchecks.readers import read_run
from rlchecks.readers.trl_source import choose, state_files

WriteState = Callable[..., Path]


def rows_of(count: int, reward: float = 0.5, first: int = 1) -> list[dict[str, Any]]:
    return [{"step": step, "reward": reward} for step in range(first, first + count)]


def test_states_are_listed_from_the_top_then_the_latest_checkpoint(write_state: WriteState, tmp_path: Path) -> None:
    for where in (
        "run/checkpoint-9",
        "run/checkpoint-10",
        "run",
        "run/checkpoint-best",
        "run/checkpoint-10/checkpoint-1",
    ):
        write_state(rows_of(1), where)
    (tmp_path / "run" / "checkpoint-30").mkdir()
    assert [number for number, _ in state_files(tmp_path / "run")] == [None, 10, 9]


def test_the_state_at_the_top_is_read(write_state: WriteState, tmp_path: Path) -> None:
    write_state(rows_of(40), "run/checkpoint-40")
    write_state(rows_of(60), "run")
    choice = choose(tmp_path / "run")
    assert choice.state.step == 60
    assert choice.warnings == ()
    assert len(choice.inputs) == 1


def test_without_a_state_at_the_top_the_last_checkpoint_is_read_and_told(
    write_state: WriteState, tmp_path: Path
) -> None:
    for step in (10, 20, 30):
        write_state(rows_of(step), f"run/checkpoint-{step}")
    run = read_run(tmp_path / "run")
    assert len(run.steps) == 30
    assert run.warnings == ("read from checkpoint-30: no trainer_state.json at the top; 30 of 60 planned steps",)


def test_a_checkpoint_that_continues_the_state_at_the_top_is_read(write_state: WriteState, tmp_path: Path) -> None:
    done = {"step": 60, "train_runtime": 9.0}
    write_state([*rows_of(60), done], "run", global_step=60)
    write_state(rows_of(100), "run/checkpoint-100")
    run = read_run(tmp_path / "run")
    assert run.steps["step"].to_pylist()[-1] == 100
    assert run.warnings == ("read from checkpoint-100: the trainer_state.json at the top ends at step 60",)
    assert len(run.inputs) == 2


def test_a_later_checkpoint_of_another_attempt_is_passed_over(write_state: WriteState, tmp_path: Path) -> None:
    write_state(rows_of(60), "run")
    write_state(rows_of(100, reward=0.7), "run/checkpoint-100")
    run = read_run(tmp_path / "run")
    assert set(run.steps["reward"].to_pylist()) == {0.5}
    assert run.warnings == (
        "'checkpoint-100' was passed over: it does not fit the trainer_state.json at the top, so it is of another"
        " attempt",
    )


def test_damaged_states_are_passed_over_and_told(write_state: WriteState, tmp_path: Path) -> None:
    for where in ("run", "run/checkpoint-30"):
        write_state(rows_of(30), where).write_text('{"log_history": [')
    write_state(rows_of(20), "run/checkpoint-20")
    run = read_run(tmp_path / "run")
    assert len(run.steps) == 20
    assert run.warnings[0].startswith("trainer_state.json was passed over: no valid JSON")
    assert run.warnings[1].startswith("checkpoint-30/trainer_state.json was passed over: no valid JSON")
    assert run.warnings[2] == "read from checkpoint-20: none at the top can be read; 20 of 60 planned steps"


def test_a_damaged_later_checkpoint_leaves_the_state_at_the_top(write_state: WriteState, tmp_path: Path) -> None:
    write_state(rows_of(20), "run")
    write_state(rows_of(30), "run/checkpoint-30").write_text("{")
    run = read_run(tmp_path / "run")
    assert len(run.steps) == 20
    assert run.warnings[0].startswith("checkpoint-30 was passed over: no valid JSON")


def test_if_every_state_is_damaged_the_first_is_named(write_state: WriteState, tmp_path: Path) -> None:
    for where in ("run", "run/checkpoint-30"):
        write_state(rows_of(30), where).write_text("{")
    with pytest.raises(InputError, match=r"run/trainer_state\.json, line 1.*: no valid JSON"):
        read_run(tmp_path / "run")


def test_another_trainers_state_at_the_top_is_no_run_even_with_checkpoints(
    write_state: WriteState, tmp_path: Path
) -> None:
    write_state([], "run")
    write_state(rows_of(30), "run/checkpoint-30")
    with pytest.raises(NotARunError, match="log_history is empty"):
        choose(tmp_path / "run")


def test_a_checkpoint_given_by_name_is_read_as_it_is(write_state: WriteState, tmp_path: Path) -> None:
    write_state(rows_of(60), "run")
    write_state(rows_of(40), "run/checkpoint-40")
    whole, part = read_run(tmp_path / "run"), read_run(tmp_path / "run" / "checkpoint-40")
    assert (len(whole.steps), len(part.steps)) == (60, 40)
    assert whole.run_id == part.run_id
    assert part.warnings == ()


def test_without_a_state_at_the_top_checkpoints_of_different_attempts_are_refused(
    write_state: WriteState, tmp_path: Path
) -> None:
    for step, reward in ((100, 0.5), (200, 0.5), (300, 0.7)):
        write_state(rows_of(step, reward), f"run/checkpoint-{step}", max_steps=300)
    with pytest.raises(InputError) as caught:
        read_run(tmp_path / "run")
    assert str(caught.value) == (
        f"{tmp_path / 'run'}: the checkpoints are of different attempts: checkpoint-300 does not continue"
        " 'checkpoint-200', 'checkpoint-100'; name the trainer_state.json that is meant, or move the directories of"
        " other attempts away."
    )
    assert len(read_run(tmp_path / "run" / "checkpoint-200" / "trainer_state.json").steps) == 200


def test_an_attempt_that_was_resumed_from_the_middle_contradicts_what_it_left_over(
    write_state: WriteState, tmp_path: Path
) -> None:
    write_state(rows_of(10), "run/checkpoint-10")
    write_state([*rows_of(10), *rows_of(10, 0.6, first=11)], "run/checkpoint-20")
    write_state(rows_of(30), "run/checkpoint-30")
    with pytest.raises(InputError, match="checkpoint-30 does not continue 'checkpoint-20'; name"):
        choose(tmp_path / "run")


def test_an_earlier_checkpoint_of_another_attempt_is_told(write_state: WriteState, tmp_path: Path) -> None:
    write_state(rows_of(30, 0.7), "run/checkpoint-30")
    write_state(rows_of(40), "run/checkpoint-40")
    write_state(rows_of(60), "run")
    choice = choose(tmp_path / "run")
    assert choice.state.step == 60
    assert [warning.partition(":")[0] for warning in choice.warnings] == ["'checkpoint-30' was passed over"]


@pytest.mark.parametrize("step", [30, 100])
def test_a_state_at_the_top_that_is_older_than_another_attempt_is_refused(
    step: int, write_state: WriteState, tmp_path: Path
) -> None:
    top = write_state(rows_of(60), "run")
    write_state(rows_of(step, 0.7), f"run/checkpoint-{step}")
    old = top.stat().st_mtime - 60
    os.utime(top, (old, old))
    with pytest.raises(InputError, match=r"does not continue the trainer_state\.json at the top and was written after"):
        choose(tmp_path / "run")


def test_all_checkpoints_that_continue_the_state_at_the_top_are_compared(
    write_state: WriteState, tmp_path: Path
) -> None:
    write_state([*rows_of(20), {"step": 20, "train_runtime": 1.0}], "run", global_step=20)
    for step, reward in ((10, 0.5), (20, 0.5), (30, 0.7), (40, 0.5)):
        write_state(rows_of(step, reward), f"run/checkpoint-{step}")
    choice = choose(tmp_path / "run")
    assert choice.state.step == 40
    assert choice.warnings[0].startswith("read from checkpoint-40: ")
    assert choice.warnings[1].startswith("'checkpoint-30' was passed over")
