from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from rlchecks.readers.rows import Rows
from rlchecks.readers.settle import Settled, settle, tell

COUNTERS = {"step", "epoch", "_timestamp"}


class Run(NamedTuple):
    """Settled rows, and the values of each key in each of them as the last row of a step has them."""

    settled: Settled
    rows: list[dict[str, Any]]


def run(
    steps: list[int],
    rows: list[dict[str, Any]],
    *,
    unnamed: frozenset[str] = frozenset(),
    unite: bool = False,
    scattered: bool = False,
) -> Run:
    kept = Rows.of(rows)
    keys = [key for key in kept.keys if key not in COUNTERS]

    def metrics() -> Iterator[NDArray[np.int32]]:
        return map(kept.present, keys)

    settled = settle(
        len(rows),
        np.arange(len(rows)),
        np.array(steps, dtype=np.int64),
        metrics,
        named=[key not in unnamed for key in keys],
        unite=(lambda row: frozenset(rows[row])) if unite else None,
        scattered=scattered,
    )
    made: list[dict[str, Any]] = [{} for _ in settled.steps]
    for row, place in zip(rows, settled.row_of.tolist(), strict=True):
        if place >= 0:
            made[place] |= {key: value for key, value in row.items() if value is not None}
    return Run(settled, made)


def rewards(values: list[tuple[int, float]], **options: bool) -> Run:
    return run([step for step, _ in values], [{"step": step, "reward": value} for step, value in values], **options)


ROWS = st.lists(st.tuples(st.integers(0, 12), st.floats(0, 1)), max_size=40)


@settings(deadline=None)
@given(ROWS)
def test_the_last_row_of_each_step_stays_and_the_others_are_counted(values: list[tuple[int, float]]) -> None:
    settled, rows = rewards(values)
    last = dict(values)
    assert settled.steps.tolist() == sorted(last)
    assert [row["reward"] for row in rows] == [last[step] for step in settled.steps.tolist()]
    assert settled.repeated == len(values) - len(last)
    assert settled.went_back == sum(after < before for (before, _), (after, _) in pairwise(values))


@settings(deadline=None)
@given(ROWS)
def test_rows_that_may_stand_apart_are_settled_alike(values: list[tuple[int, float]]) -> None:
    settled, rows = rewards(values, scattered=True)
    assert rows == rewards(values).rows
    assert settled.repeated == len(values) - len(dict(values))


def test_a_resumed_log_is_told() -> None:
    settled = rewards([(step, 0.1) for step in [*range(1, 58), *range(41, 101)]]).settled
    assert (len(settled.steps), settled.repeated, settled.left_over) == (100, 17, None)
    assert tell(settled) == ["the log goes back to an earlier step 1 time: of 17 rows logged again, the last is kept"]


def test_steps_that_only_an_earlier_attempt_reached_are_told() -> None:
    settled = rewards([(step, 0.1) for step in [*range(1, 36), *range(1, 11)]]).settled
    assert (len(settled.steps), settled.repeated, settled.left_over) == (35, 10, (11, 35))
    assert tell(settled)[1] == "steps 11 to 35 come from an attempt before the latest one"


def test_several_rows_a_step_are_told() -> None:
    (sentence,) = tell(rewards([(step, 0.1) for step in (1, 1, 1, 2, 2, 2)]).settled)
    assert sentence.startswith("4 rows with the same step as another: the last of each step is kept")


def test_disorder_without_repeats_is_sorted_and_told() -> None:
    settled, rows = rewards([(1, 0.1), (4, 0.4), (3, 0.3)])
    assert (settled.steps.tolist(), settled.repeated) == ([1, 3, 4], 0)
    assert [row["reward"] for row in rows] == [0.1, 0.3, 0.4]
    assert tell(settled) == ["the rows are not in the order of their steps: sorted"]


def test_parts_of_one_row_are_put_together() -> None:
    rows = [
        {"step": 1, "reward": 0.5, "kl": None, "_timestamp": 1.0},
        {"step": 1, "reward": None, "kl": 0.1, "_timestamp": 1.2},
        {"step": 2, "reward": 0.6, "kl": 0.2},
    ]
    settled, made = run([1, 1, 2], rows)
    assert made[0] == {"step": 1, "reward": 0.5, "kl": 0.1, "_timestamp": 1.2}
    assert settled.repeated == 0
    assert tell(settled) == []


def test_parts_of_a_repeated_row_replace_it_whole() -> None:
    rows = [{"reward": 0.1, "kl": 1.0}, {"reward": 0.2}, {"reward": 0.3}, {"loss": 0.4}, {"kl": 1.0, "loss": 2.0}]
    settled, made = run([1, 2, 1, 1, 3], rows)
    assert made == [{"reward": 0.3, "loss": 0.4}, {"reward": 0.2}, rows[4]]
    assert settled.repeated == 1


def test_rows_that_have_no_key_in_common_with_those_between_them_are_neighbours() -> None:
    # A tracker's rows: the trainer's metrics, and the time that each call took.
    rows = [{"reward": 0.1}, {"profiling": 1.0}, {"profiling": 2.0}, {"kl": 0.2}, {"reward": 0.3, "kl": 0.4}]
    settled, made = run([1, 1, 1, 1, 2], rows)
    assert made == [{"reward": 0.1, "profiling": 2.0, "kl": 0.2}, rows[4]]
    assert settled.repeated == 1
    assert run([1, 1, 1, 1, 2], rows, unnamed=frozenset({"profiling"})).settled.repeated == 0


def test_of_rows_without_the_name_of_a_metric_no_going_back_is_told() -> None:
    steps = [1, 1, 2, 2, 3, 1, 2]
    rows = [{("reward", "disk")[at % 2]: 1.0} for at in range(5)] + [{"disk": 2.0}] * 2
    unnamed = frozenset({"disk"})
    told, quiet = run(steps, rows), run(steps, rows, unnamed=unnamed)
    assert (told.settled.repeated, told.settled.went_back) == (2, 1)
    assert (quiet.settled.repeated, quiet.settled.went_back, tell(quiet.settled)) == (0, 0, [])
    assert quiet.rows == told.rows


def test_an_attempt_is_counted_once_though_it_logs_rows_of_several_kinds() -> None:
    steps = [step for step in [*range(1, 21), *range(11, 16)] for _ in range(3)]
    rows = [{("reward", "time", "disk")[at % 3]: 0.5} for at in range(len(steps))]
    settled = run(steps, rows).settled
    assert (settled.repeated, settled.went_back, settled.left_over) == (15, 1, (16, 20))


def test_rows_of_two_processes_that_logged_apart_are_one_row() -> None:
    steps = [*range(1, 6), *range(1, 5)]
    rows = [*({"reward": step / 10} for step in range(1, 6)), *({"loss": step / 7} for step in range(1, 5))]
    settled, made = run(steps, rows, scattered=True)
    assert settled.steps.tolist() == [1, 2, 3, 4, 5]
    assert made[3] == {"reward": 0.4, "loss": 4 / 7}
    assert tell(settled) == []


def test_each_process_keeps_what_it_logged_last() -> None:
    # The one logged steps 1 to 6 and, resumed, 4 to 8; the other, whose log comes after, 1 to 5 and 4 to 7.
    first, second = [1, 2, 3, 4, 5, 6, 4, 5, 6, 7, 8], [1, 2, 3, 4, 5, 4, 5, 6, 7]
    rows = [{"reward": float(at)} for at in range(len(first))] + [{"loss": float(at)} for at in range(len(second))]
    settled, made = run([*first, *second], rows, scattered=True)
    assert [row["reward"] for row in made] == [0, 1, 2, 6, 7, 8, 9, 10]
    assert [row.get("loss") for row in made] == [0, 1, 2, 5, 6, 7, 8, None]
    assert (settled.repeated, settled.went_back, settled.left_over) == (5, 1, None)


def test_parts_of_a_row_that_stand_apart_are_united_only_if_they_may() -> None:
    rows = [{"a": 1.0}, {"a": 2.0, "b": 2.0}, {"b": 1.0}]
    apart, united = (run([1, 2, 1], rows, scattered=scattered) for scattered in (False, True))
    assert (apart.rows[0], apart.settled.repeated) == ({"b": 1.0}, 1)
    assert (united.rows[0], united.settled.repeated) == ({"a": 1.0, "b": 1.0}, 0)
    assert tell(united.settled) == []


def test_evaluations_of_several_sets_are_united() -> None:
    rows = [{"eval_a_loss": 1.0, "eval_reward": 0.1}, {"eval_b_loss": 2.0, "eval_reward": 0.2}]
    settled, made = run([5, 5], rows, unite=True)
    assert made == [{"eval_a_loss": 1.0, "eval_b_loss": 2.0, "eval_reward": 0.2}]
    assert (settled.united, settled.repeated) == (1, 0)


def test_evaluations_of_the_same_sets_replace_each_other() -> None:
    one, other = {"eval_a_loss": 1.0, "eval_reward": 0.1}, {"eval_a_loss": 3.0, "eval_reward": 0.2}
    settled, made = run([5, 5], [one, other], unite=True)
    assert (made, settled.united, settled.repeated) == ([other], 0, 1)


def test_no_rows_and_rows_without_values_are_settled_too() -> None:
    assert run([], []).settled.steps.tolist() == []
    settled, made = run([2, 1, 2], [{"step": 2}, {"reward": 0.5}, {"reward": None}])
    assert (settled.steps.tolist(), made) == ([1, 2], [{"reward": 0.5}, {"step": 2}])
