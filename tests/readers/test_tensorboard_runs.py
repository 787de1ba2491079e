"""Event files, the directories of starts, and what belongs to which run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rlchecks.errors import InputError, NotARunError
from rlchecks.readers.tensorboard_runs import (
    event_files,
    glance,
    holds_settings,
    read_place,
    runs_in,
    start_directories,
)
from tests.readers.tensorboard_files import DATA, VERSION, log, steps, write

FIRST, SECOND, THIRD = "Nov30_14-12-48_host", "Nov30_14-13-30_host", "Dec01_09-00-00_host"


def begin(directory: Path, name: str, second: int, first: int, last: int) -> Path:
    return write(directory / name, log(steps(first, last)), f"events.out.tfevents.{second}.host.1.0").parent


def parts(directory: Path) -> list[tuple[str, list[str]]]:
    return [(run.part, [place.name for place in run.places]) for run in runs_in(directory, read_place)[0]]


def test_event_files_are_listed_in_the_order_in_which_they_were_begun(tmp_path: Path) -> None:
    names = ["events.out.tfevents.1000000000.b", "events.out.tfevents.999999999.c", "events.out.tfevents.x"]
    others = [".events.out.tfevents.1000000000.b", "._events.out.tfevents.1", "profile.tfevents", "metrics.csv"]
    for name in [*names, *others]:
        write(tmp_path, VERSION, name)
    (tmp_path / "events.out.tfevents.directory").mkdir()
    assert [path.name for path in event_files(tmp_path)] == [names[1], names[0], names[2]]


def test_starts_that_go_on_are_one_run(tmp_path: Path) -> None:
    begin(tmp_path, SECOND, 1796048010, 41, 100)
    begin(tmp_path, FIRST, 1796047968, 1, 57)
    begin(tmp_path, THIRD, 1796060000, 101, 120)
    assert parts(tmp_path) == [(FIRST, [FIRST, SECOND, THIRD])]


def test_starts_that_begin_again_are_runs_of_their_own(tmp_path: Path) -> None:
    begin(tmp_path, FIRST, 1796047968, 1, 35)
    begin(tmp_path, SECOND, 1796048010, 1, 60)
    begin(tmp_path, THIRD, 1796060000, 61, 80)
    assert parts(tmp_path) == [(FIRST, [FIRST]), (SECOND, [SECOND, THIRD])]


def test_starts_without_scalars_are_passed_over(tmp_path: Path) -> None:
    begin(tmp_path, FIRST, 1796047968, 1, 35)
    write(tmp_path / SECOND, VERSION)
    assert parts(tmp_path) == [(FIRST, [FIRST])]
    write(tmp_path / FIRST, VERSION, "events.out.tfevents.1796047968.host.1.0")
    with pytest.raises(NotARunError, match="2 starts, none of which logged scalars"):
        runs_in(tmp_path, read_place)


def test_a_start_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    begin(tmp_path, FIRST, 1796047968, 1, 35)
    write(tmp_path / SECOND, b"")
    runs, faults = runs_in(tmp_path, read_place)
    assert [run.part for run in runs] == [FIRST]
    assert faults == (f"{SECOND} passed over: the file is empty",)


@pytest.mark.parametrize("other", ["experiment", "Nov30", "2026-11-30_14-12-48", "Foo30_14-12-48_host"])
def test_a_directory_with_others_is_none_of_starts(other: str, tmp_path: Path) -> None:
    begin(tmp_path, FIRST, 1796047968, 1, 35)
    assert start_directories(tmp_path) == []
    begin(tmp_path, SECOND, 1796048010, 1, 60)
    (tmp_path / ".cache").mkdir()
    assert [path.name for path in start_directories(tmp_path)] == [FIRST, SECOND]
    (tmp_path / other).mkdir()
    assert start_directories(tmp_path) == []


def test_links_and_empty_directories_are_no_starts(tmp_path: Path) -> None:
    begin(tmp_path, FIRST, 1796047968, 1, 35)
    begin(tmp_path / "elsewhere", SECOND, 1796048010, 1, 60)
    runs = tmp_path / "runs"
    runs.mkdir()
    os.rename(tmp_path / FIRST, runs / FIRST)
    os.symlink(tmp_path / "elsewhere" / SECOND, runs / SECOND)
    assert start_directories(runs) == []
    os.remove(runs / SECOND)
    (runs / SECOND).mkdir()
    assert start_directories(runs) == []


def test_a_directory_of_settings_is_known_by_what_is_in_it(tmp_path: Path) -> None:
    made = DATA / "runs" / FIRST / "1796047968.123"
    assert holds_settings(made)
    assert not holds_settings(made.parent)
    begin(tmp_path, "run", 1796047968, 1, 5)
    begin(tmp_path / "run", "1796047968.5", 1796047968, 1, 5)
    assert not holds_settings(tmp_path / "run" / "1796047968.5")


def test_files_of_a_directory_are_read_in_the_order_of_time(tmp_path: Path) -> None:
    write(tmp_path, log(steps(5, 6)), "events.out.tfevents.1000000001.a")
    write(tmp_path, log(steps(1, 4)), "events.out.tfevents.1000000000.b")
    start = read_place(tmp_path)
    assert [file.steps[0] for file in start.files] == [1, 5]
    assert start.warnings == ()


def test_a_file_that_cannot_be_read_is_passed_over_if_others_can(tmp_path: Path) -> None:
    write(tmp_path, log(steps(1, 4)), "events.out.tfevents.1000000000.b")
    write(tmp_path, b"", "events.out.tfevents.1000000001.a")
    start = read_place(tmp_path)
    assert len(start.files) == 1
    assert start.warnings == ("events.out.tfevents.1000000001.a: passed over: the file is empty",)
    write(tmp_path, b"", "events.out.tfevents.1000000000.b")
    with pytest.raises(InputError, match="the file is empty"):
        read_place(tmp_path)


def test_what_has_not_changed_is_not_read_again(tmp_path: Path) -> None:
    directory = begin(tmp_path, FIRST, 1796047968, 3, 35)
    seen = glance(directory, read_place)
    assert seen.attempt is not None
    assert (seen.attempt.first, seen.attempt.last) == (3, 35)
    assert seen.names == {"train/loss", "train/reward"}

    def never(path: Path) -> None:
        raise AssertionError(path)

    assert glance(directory, never) is seen  # type: ignore[arg-type]
    begin(tmp_path, FIRST, 1796047968, 3, 36)
    changed = glance(directory, read_place)
    assert changed.attempt is not None
    assert changed.attempt.last == 36


def test_only_training_counts_as_progress(tmp_path: Path) -> None:
    logged = [*steps(5, 9), (0, {"eval/reward": 0.5}), (-3, {"train/loss": 0.5}), (2**60, {"train/loss": 0.5})]
    write(tmp_path, log(logged))
    attempt = glance(tmp_path, read_place).attempt
    assert attempt is not None
    assert (attempt.first, attempt.last) == (5, 9)
    write(tmp_path, log([(0, {"eval/reward": 0.5}), (10, {"eval/reward": 0.5})]))
    assert glance(tmp_path, read_place).attempt is None
