"""Where one run ends and the next begins, and what step each row is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from rlchecks.readers.console_runs import split
from rlchecks.readers.console_steps import stepped
from tests.readers.consoles import bar, found_in, printed, rows_of

CLOSING = {"train_runtime": 12.5, "train_samples_per_second": 1.5, "train_loss": 0.1}


def runs_of(text: str) -> list[list[int | None]]:
    """The steps of the rows of each run."""
    return [[step for _, step in stepped(run.entries).steps] for run in split(found_in(text).entries)]


def counted(steps: Sequence[int], key: str = "reward") -> str:
    return "".join(f"step:{step} - critic/{key}/mean:0.5\n" for step in steps)


def with_bars(rows: Sequence[Mapping[str, object]], steps: Sequence[int], total: int) -> str:
    """Rows as ``tqdm.write`` prints them: the bar before may be older, the one behind is right."""
    places = dict(zip(map(id, rows), steps, strict=True))
    lines = [
        f"\r{bar(max(0, places[id(row)] - 1), total)}\r{' ' * 60}\r{row!r}\n\r{bar(places[id(row)], total)}"
        for row in rows
    ]
    return "".join(lines)


@pytest.mark.parametrize(
    ("steps", "runs"),
    [
        ([1, 2, 3], [[1, 2, 3]]),
        ([0, 1, 2], [[0, 1, 2]]),
        ([1, 2, 3, 1, 2], [[1, 2, 3], [1, 2]]),
        ([1, 2, 3, 0, 1, 2], [[1, 2, 3], [0, 1, 2]]),
        ([1, 2, 3, 1, 2, 3, 1, 2], [[1, 2, 3], [1, 2, 3], [1, 2]]),
        # Resumed from a checkpoint, once and twice.
        ([1, 2, 3, 4, 5, 4, 5, 6], [[1, 2, 3, 4, 5, 4, 5, 6]]),
        ([1, 2, 3, 2, 3, 4, 3, 4], [[1, 2, 3, 2, 3, 4, 3, 4]]),
        # A log that begins with a resumed run has no first step to go back to.
        ([251, 252, 253, 252, 253], [[251, 252, 253, 252, 253]]),
        ([251, 252, 251, 252], [[251, 252, 251, 252]]),
        ([251, 252, 1, 2], [[251, 252], [1, 2]]),
        # Logged every ten steps.
        ([10, 20, 30, 10, 20], [[10, 20, 30], [10, 20]]),
        ([10, 20, 30, 20, 30], [[10, 20, 30, 20, 30]]),
        ([1, 10, 20, 1, 10], [[1, 10, 20], [1, 10]]),
        ([5, 5, 5], [[5, 5, 5]]),
        ([7], [[7]]),
    ],
)
def test_steps_that_start_over_are_a_new_run_and_others_that_go_back_a_resumed_one(
    steps: list[int], runs: list[list[int]]
) -> None:
    assert runs_of(counted(steps)) == runs


def test_rows_without_a_step_are_numbered() -> None:
    rows = rows_of(5)
    evaluation = {"eval_loss": 0.5, "eval_reward": 0.5, "epoch": rows[2]["epoch"]}
    text = printed([*rows[:3], evaluation, *rows[3:], {**CLOSING, "epoch": rows[4]["epoch"]}])
    assert runs_of(text) == [[1, 2, 3, 3, 4, 5, 5]]


def test_a_closing_row_with_metrics_of_its_own_is_a_step() -> None:
    rows = rows_of(3)
    assert runs_of(printed([*rows[:2], {**CLOSING, **rows[2]}])) == [[1, 2, 3]]


@pytest.mark.parametrize("digits", [6, 2])
def test_epochs_that_start_over_are_a_new_run(digits: int) -> None:
    first = [{**row, "epoch": round(row["epoch"], digits)} for row in rows_of(8)]  # type: ignore[call-overload]
    assert runs_of(printed([*first, *first[:5]])) == [[1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 3, 4, 5]]


def test_epochs_that_go_back_are_a_resumed_run_and_its_steps_go_on_from_there() -> None:
    rows = rows_of(12)
    assert runs_of(printed([*rows[:9], *rows[5:]])) == [[*range(1, 10), *range(6, 13)]]


def test_rounded_epochs_give_estimated_steps_after_a_resume() -> None:
    rows = [{**row, "epoch": round(row["epoch"], 2)} for row in rows_of(30)]  # type: ignore[call-overload]
    (run,) = split(found_in(printed([*rows[:20], *rows[11:]])).entries)
    found = stepped(run.entries)
    steps = [step for _, step in found.steps]
    assert steps[:20] == list(range(1, 21))
    assert abs((steps[20] or 0) - 12) <= 2
    assert any("estimated" in warning for warning in found.warnings)


def test_rows_after_a_closing_row_are_a_new_run_unless_they_go_on() -> None:
    rows = rows_of(10)
    closing = {**CLOSING, "epoch": rows[4]["epoch"]}
    assert [len(run) for run in runs_of(printed([*rows[:5], closing, *rows_of(3, shift=0.5)]))] == [6, 3]
    assert [len(run) for run in runs_of(printed([*rows[:5], closing, *rows[5:]]))] == [11]
    # Another training whose first row is later than the last one of the first.
    assert [len(run) for run in runs_of(printed([*rows[:2], closing, *rows_of(3, every=5)]))] == [3, 3]


def test_an_evaluation_before_the_first_step_begins_a_run() -> None:
    before = {"eval_loss": 0.5, "eval_reward": 0.5, "epoch": 0}
    rows = rows_of(3)
    assert runs_of(printed([before, *rows, before, *rows])) == [[0, 1, 2, 3], [0, 1, 2, 3]]


def test_bars_beside_the_rows_tell_the_steps() -> None:
    rows = rows_of(6, every=5)
    (run,) = split(found_in(with_bars(rows, range(5, 35, 5), 200)).entries)
    found = stepped(run.entries)
    assert [step for _, step in found.steps] == [5, 10, 15, 20, 25, 30]
    assert (found.planned, found.facts["step"]) == (200, "progress bar (inferred)")
    assert found.warnings == []


@pytest.mark.parametrize(
    "text",
    [
        # Bars of something else: they do not go with the epochs.
        "".join(f"{bar(number % 3 + 1, 8)}{row!r}\n" for number, row in enumerate(rows_of(6))),
        "".join(f"{bar(2**number, 64)}{row!r}\n" for number, row in enumerate(rows_of(6))),
        # A bar that has a name of its own.
        "".join(
            f"\r{bar(number * 5 + 5, 200, 'Generating: ')}{row!r}\n" for number, row in enumerate(rows_of(6, every=5))
        ),
        # Rows that waited in a buffer: several behind one bar.
        "".join(f"{bar(number + 1, 30)}" * (number % 2) + f"{row!r}\n" for number, row in enumerate(rows_of(6))),
    ],
)
def test_bars_that_do_not_fit_tell_nothing(text: str) -> None:
    (run,) = split(found_in(text).entries)
    found = stepped(run.entries)
    assert [step for _, step in found.steps] == [1, 2, 3, 4, 5, 6]
    assert (found.planned, found.facts["step"]) == (None, "number of the row (inferred)")
    assert found.warnings == ["the rows were printed without a step: they are numbered"]


def test_another_number_of_planned_steps_is_another_run() -> None:
    rows = rows_of(20)
    again = rows_of(3, first=8)
    text = with_bars(rows, range(1, 21), 100) + with_bars(again, range(8, 11), 50)
    assert runs_of(text) == [list(range(1, 21)), [8, 9, 10]]
    # A run that goes on with more steps is the same.
    text = with_bars(rows[:10], range(1, 11), 10) + with_bars(rows[10:], range(11, 21), 20)
    assert len(split(found_in(text).entries)) == 1


def test_the_step_of_ms_swift_is_used() -> None:
    rows = [{**row, "global_step/max_steps": f"{number * 10}/438"} for number, row in enumerate(rows_of(4), 1)]
    text = printed([*rows, {**CLOSING, "epoch": 0.5, "global_step/max_steps": "40/438"}, *rows[:2]])
    first, second = split(found_in(text).entries)
    assert [step for _, step in stepped(first.entries).steps] == [10, 20, 30, 40, 40]
    assert [step for _, step in stepped(second.entries).steps] == [10, 20]
    assert stepped(first.entries).planned == 438
    assert "step" not in stepped(first.entries).facts


def test_rows_printed_twice_count_once() -> None:
    rows = rows_of(6)
    rounded = [{key: f"{value:.4g}" for key, value in row.items()} for row in rows]
    text = "".join(f"{one!r}\n{other!r}\n" for one, other in zip(rows, rounded, strict=True))
    (run,) = split(found_in(text).entries)
    assert len(run.entries) == 6
    assert run.warnings == ["6 rows printed twice: counted once"]
    # A training that stands still is none that is printed twice, and two rows that happen to be equal are two.
    still = [{**rows[0], "epoch": 7 + number / 10**6} for number in range(9)]
    assert [len(one) for one in runs_of(printed(still))] == [9]
    assert [len(one) for one in runs_of(printed([*rows[:3], rows[2], *rows[3:]]))] == [7]


def test_of_processes_that_print_the_same_one_counts() -> None:
    rows = rows_of(4)
    text = "".join(f"{rank}: {row!r}\n" for row in rows for rank in (0, 1, 2))
    (run,) = split(found_in(text).entries)
    assert [entry.source for entry in run.entries] == ["rank 0"] * 4
    assert run.warnings == ["8 rows of 2 other processes that printed at the same time: left out"]
    # One after the other is a restart.
    text = printed(rows, lambda number, line: f"(TaskRunner pid=1) {line}")
    text += printed(rows_of(4, first=3), lambda number, line: f"(TaskRunner pid=2) {line}")
    assert runs_of(text) == [[1, 2, 3, 4, 3, 4, 5, 6]]


def test_other_rows_printed_in_between_are_left_out() -> None:
    text = "".join(
        f"{row!r}\n" + "{'step': 5, 'reward': 0.5}\n" * (number % 3 == 0) for number, row in enumerate(rows_of(6))
    )
    (run,) = split(found_in(text).entries)
    assert (run.kind, len(run.entries)) == ("trainer", 6)
    assert run.warnings == ["2 rows printed in another form in between (counted): left out"]


def test_runs_of_several_trainers_one_after_the_other_are_kept_in_order() -> None:
    sft = [{"loss": 0.5, "learning_rate": 0.1, "epoch": number / 9} for number in range(1, 4)]
    runs = split(found_in(counted([1, 2]) + printed(sft) + counted([1, 2, 3])).entries)
    assert [run.kind for run in runs] == ["verl", "trainer", "verl"]


def test_all_that_slime_prints_of_a_rollout_is_one_row() -> None:
    text = ""
    for number in range(3):
        text += f"rollout {number}: {{'rollout/raw_reward': 0.{number}, 'rollout/rewards': 0.0}}\n"
        text += f"perf {number}: {{'rollout/truncated_ratio': 0.25, 'perf/rollout_time': 2.5}}\n"
        text += f"step {number}: {{'train/loss': 0.5, 'train/step': {number}}}\n"
    (run,) = split(found_in(text).entries)
    assert [(len(places), step) for places, step in stepped(run.entries).steps] == [(3, 0), (3, 1), (3, 2)]


def test_several_optimiser_steps_of_slime_belong_to_their_rollout() -> None:
    text = ""
    for number in range(4):
        text += f"rollout {number}: {{'rollout/raw_reward': 0.{number}}}\n"
        text += "".join(f"step {step}: {{'train/loss': 0.{step}}}\n" for step in (2 * number, 2 * number + 1))
    (run,) = split(found_in(text).entries)
    found = stepped(run.entries)
    assert [step for _, step in found.steps] == [0, 1, 2, 3]
    assert found.facts["optimiser_steps_per_rollout"] == "2 (inferred)"
    # Resumed: the rollouts go back.
    (run,) = split(found_in(text + "rollout 2: {'rollout/raw_reward': 0.5}\nstep 4: {'train/loss': 0.5}\n").entries)
    assert [step for _, step in stepped(run.entries).steps] == [0, 1, 2, 3, 2]


def test_the_validation_before_the_first_step_takes_the_step_that_follows() -> None:
    initial = "Initial validation metrics: {'val-core/a/acc/mean@1': 0.25}\n"
    text = initial + "step:0 - val-core/a/acc/mean@1:0.25\n" + counted([1, 2])
    assert runs_of(text) == [[0, 1, 2]]
    assert runs_of(initial + counted([1, 2])) == [[1, 1, 2]]
    assert runs_of(initial) == [[0]]
    assert runs_of(counted([1, 2]) + initial + counted([1, 2])) == [[1, 2], [1, 1, 2]]


def test_no_rows_are_no_runs() -> None:
    assert split([]) == []
