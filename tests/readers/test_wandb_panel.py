"""Charts that were exported from Weights & Biases' web page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rlchecks.errors import InputError, NotARunError
from rlchecks.readers import find_runs, read_run
from rlchecks.readers.wandb_panel import WandbPanelReader

Write = Callable[[str, str | bytes], Path]


def line(run: str, key: str) -> str:
    return ",".join(f'"{run} - {key}{end}"' for end in ("", "__MIN", "__MAX"))


CHART = "\n".join(
    [
        f'"Step",{line("a - b", "train/reward")},{line("two", "train/reward")}',
        '"1","0.1","0.1","0.1","0.5","0.5","0.5"',
        '"2","0.2","0.2","0.2","",""," "',
        '"3","","","","0.7","0.6","0.8"',
        '"4","0.4","0.4","0.4","NaN","NaN","NaN"',
    ]
)


def test_each_run_of_a_chart_is_a_part(write: Write) -> None:
    path = write("wandb_export.csv", CHART)
    assert WandbPanelReader().parts(path) == ["a - b", "two"]
    assert [str(source) for source in find_runs(path.parent).sources] == [f"{path}#a - b", f"{path}#two"]
    one, two = read_run(f"{path}#a - b"), read_run(f"{path}#two")
    assert (one.name, two.name) == ("a - b", "two")
    assert one.training_steps.select(["step", "reward"]).to_pylist() == [
        {"step": 1, "reward": 0.1},
        {"step": 2, "reward": 0.2},
        {"step": 4, "reward": 0.4},
    ]
    assert two.training_steps["step"].to_pylist() == [1, 3, 4]
    assert repr(two.training_steps["reward"].to_pylist()) == "[0.5, 0.7, nan]"
    assert one.warnings == ()
    assert two.warnings == ("1 of 3 rows are means of several steps: a chart holds a sample of the run",)
    with pytest.raises(NotARunError, match="2 runs"):
        read_run(path)


def test_an_axis_of_its_own_is_the_step(write: Write) -> None:
    chart = "\n".join(
        [
            f"train/global_step,{line('a', '_step')},{line('a', 'train/reward')},{line('a', 'train/kl')}",
            "10,7,7,7,0.5,0.5,0.5,0.01,0.01,0.01",
            "20,14,14,14,0.6,0.6,0.6,0.02,0.02,0.02",
        ]
    )
    log = read_run(write("chart.csv", chart))
    assert log.training_steps.select(["step", "reward", "kl"]).to_pylist() == [
        {"step": 10, "reward": 0.5, "kl": 0.01},
        {"step": 20, "reward": 0.6, "kl": 0.02},
    ]


def test_an_axis_of_time_leaves_the_counter_of_calls(write: Write) -> None:
    header = f'"Relative Time (Process)",{line("a", "_step")},{line("a", "reward")}'
    log = read_run(write("chart.csv", f"{header}\n1.5,3,3,3,0.5,0.5,0.5\n2.5,9,9,9,0.6,0.6,0.6\n"))
    assert log.training_steps["step"].to_pylist() == [3, 9]


def test_the_mean_of_a_group_is_said_to_be_no_run(write: Write) -> None:
    header = f'"Step",{line("Group: x", "reward")}'
    log = read_run(write("chart.csv", f"{header}\n1,0.5,0.1,0.9\n2,0.6,0.2,0.9\n"))
    assert log.warnings == ("the line is the mean of a group of runs, not one run",)


def test_lines_without_a_reward_are_no_runs(write: Write) -> None:
    header = f'"Step",{line("a", "train/kl")},{line("b", "train/reward")}'
    path = write("chart.csv", f"{header}\n1,0.5,0.5,0.5,0.1,0.1,0.1\n")
    assert WandbPanelReader().parts(path) == ["b"]
    only_kl = write("kl.csv", f'"Step",{line("a", "train/kl")}\n1,0.5,0.5,0.5\n')
    assert not WandbPanelReader().detect(only_kl, only_kl.read_bytes())
    # Not every name with a hyphen is a line of a chart.
    table = write("table.csv", "step,a - reward,reward\n1,0.5,0.1\n2,0.5,0.2\n")
    assert read_run(table).training_steps["reward"].to_pylist() == [0.1, 0.2]


@pytest.mark.parametrize("content", ["", "\0" * 99, '"Step', '"Step","a - reward","a - reward__MIN"', "Step\n"])
def test_other_files_are_not_taken_for_charts(write: Write, content: str) -> None:
    path = write("chart.csv", content)
    assert not WandbPanelReader().detect(path, content.encode())
    with pytest.raises(InputError):
        read_run(path)


def test_a_chart_cut_off_anywhere_is_true_as_far_as_it_goes(write: Write) -> None:
    whole = CHART.encode()
    begin = CHART.index("\n") + 1
    for end in range(len(whole)):
        path = write("chart.csv", whole[:end])
        try:
            log = read_run(f"{path}#two")
        except InputError:
            continue
        assert end > begin
        found = zip(log.training_steps["step"].to_pylist(), log.training_steps["reward"].to_pylist(), strict=True)
        assert all(repr(reward) == {1: "0.5", 3: "0.7", 4: "nan"}[step] for step, reward in found)
