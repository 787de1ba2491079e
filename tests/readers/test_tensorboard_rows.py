"""Series become rows: what is logged at one step is together, what repeats a step is not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlchecks.readers.tensorboard_rows import to_rows
from rlchecks.readers.tensorboard_scalars import read_scalars
from tests.readers.tensorboard_files import log, write

Logged = tuple[int, Mapping[str, float]]


def rows(tmp_path: Path, *files: list[Logged]) -> list[dict[str, object]]:
    paths = [write(tmp_path, log(file), f"events.out.tfevents.{number}") for number, file in enumerate(files)]
    made, warnings = to_rows([read_scalars(path) for path in paths])
    assert warnings == ()
    return [dict(row) for row in made]


def test_scalars_of_one_step_are_one_row(tmp_path: Path) -> None:
    logged = [(1, {"a": 0.5, "b": 0.25}), (2, {"a": 0.5}), (2, {"b": 0.5}), (5, {"c": 1.0})]
    assert rows(tmp_path, logged) == [
        {"step": 1, "a": 0.5, "b": 0.25},
        {"step": 2, "a": 0.5, "b": 0.5},
        {"step": 5, "c": 1.0},
    ]


def test_a_series_that_comes_again_begins_another_row(tmp_path: Path) -> None:
    logged = [(1, {"a": 0.5, "b": 0.25}), (1, {"c": 1.0}), (1, {"b": 0.5, "a": 0.75}), (1, {"a": 1.0}), (2, {"a": 2.0})]
    assert rows(tmp_path, logged) == [
        {"step": 1, "a": 0.5, "b": 0.25, "c": 1.0},
        {"step": 1, "b": 0.5, "a": 0.75},
        {"step": 1, "a": 1.0},
        {"step": 2, "a": 2.0},
    ]


def test_what_is_logged_about_a_step_later_joins_its_row(tmp_path: Path) -> None:
    logged = [(1, {"a": 0.5}), (2, {"a": 0.75}), (1, {"eval": 1.0}), (3, {"a": 1.0}), (2, {"eval": 2.0})]
    assert rows(tmp_path, logged) == [
        {"step": 1, "a": 0.5, "eval": 1.0},
        {"step": 2, "a": 0.75, "eval": 2.0},
        {"step": 3, "a": 1.0},
    ]


def test_two_writers_of_one_run_are_put_together(tmp_path: Path) -> None:
    trainer = [(step, {"loss": 0.5}) for step in (1, 2, 3)]
    grader = [(step, {"reward": 0.25}) for step in (2, 3, 4)]
    assert rows(tmp_path, trainer, grader) == [
        {"step": 1, "loss": 0.5},
        {"step": 2, "loss": 0.5, "reward": 0.25},
        {"step": 3, "loss": 0.5, "reward": 0.25},
        {"step": 4, "reward": 0.25},
    ]


def test_a_resumed_run_keeps_both_rows_of_a_step(tmp_path: Path) -> None:
    first = [(1, {"a": 0.5, "b": 1.0}), (2, {"a": 0.5, "b": 1.0})]
    second = [(2, {"a": 0.75, "b": 2.0}), (3, {"a": 0.75, "b": 2.0})]
    assert [(row["step"], row["a"]) for row in rows(tmp_path, first, second)] == [
        (1, 0.5),
        (2, 0.5),
        (2, 0.75),
        (3, 0.75),
    ]


def test_a_row_never_spans_two_files(tmp_path: Path) -> None:
    assert rows(tmp_path, [(1, {"a": 0.5})], [(1, {"a": 0.75})]) == [{"step": 1, "a": 0.5}, {"step": 1, "a": 0.75}]


def test_files_without_scalars_do_not_matter(tmp_path: Path) -> None:
    assert rows(tmp_path, [], [(1, {"a": 0.5})], []) == [{"step": 1, "a": 0.5}]
    assert rows(tmp_path, []) == []


def test_a_series_called_step_is_not_the_step(tmp_path: Path) -> None:
    same = write(tmp_path, log([(3, {"step": 3.0, "a": 0.5})]))
    made, warnings = to_rows([read_scalars(same)])
    assert ([dict(row) for row in made], warnings) == ([{"step": 3, "a": 0.5}], ())
    other = write(tmp_path, log([(3, {"b": 1.0, "step": 4.0, "a": 0.5})]))
    made, warnings = to_rows([read_scalars(other)])
    assert [dict(row) for row in made] == [{"step": 3, "b": 1.0, "a": 0.5}]
    assert warnings == ("the series 'step' differs from the step of its events: left out",)
    made, _ = to_rows([read_scalars(write(tmp_path, log([(3, {"step": 3.0})])))])
    assert len(made) == 0


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from("abc"), st.integers(0, 99)), max_size=40))
@settings(max_examples=80, deadline=None)
def test_no_scalar_is_lost_and_none_changes_its_step(
    tmp_path_factory: pytest.TempPathFactory, logged: list[tuple[int, str, int]]
) -> None:
    file: list[Logged] = [(step, {name: float(number)}) for step, name, number in logged]
    made = rows(tmp_path_factory.mktemp("log"), file)
    found = [(row["step"], name, number) for row in made for name, number in row.items() if name != "step"]
    assert sorted(found) == sorted(logged)  # type: ignore[type-var]
