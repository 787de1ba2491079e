"""Runs that a column of a table tells apart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from rlchecks.errors import InputError, NotARunError
from rlchecks.readers import find_runs, read_run
from rlchecks.readers.run_columns import MOST_RUNS


def _table(path: Path, header: str, rows: Sequence[Sequence[object]]) -> Path:
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


def _parts(path: Path) -> list[str | None]:
    return [source.part for source in find_runs(path).sources]


def test_each_seed_of_a_table_is_a_run_of_its_own(tmp_path: Path) -> None:
    rows = [(seed, step, seed + step / 10) for seed in (0, 1) for step in range(4)]
    path = _table(tmp_path / "seeds.csv", "seed,step,reward", rows)
    assert _parts(path) == ["seed=0", "seed=1"]
    run = read_run(f"{path}#seed=1")
    assert run.steps["reward"].to_pylist() == [1.0, 1.1, 1.2, 1.3]
    assert run.name == "seeds seed=1"
    with pytest.raises(NotARunError, match=r"2 runs \('seed=0', 'seed=1'\), expected one; name one of them"):
        read_run(path)
    with pytest.raises(NotARunError, match="no run 'seed=2' in it"):
        read_run(f"{path}#seed=2")


def test_the_order_of_the_rows_does_not_matter(tmp_path: Path) -> None:
    rows = [(seed, step, seed + step / 10) for seed in (0, 1) for step in range(4)]
    one = _table(tmp_path / "seeds.csv", "seed,step,reward", rows)
    blocks = read_run(f"{one}#seed=1").steps["reward"]
    _table(one, "seed,step,reward", sorted(rows, key=lambda row: row[1]))
    assert read_run(f"{one}#seed=1").steps["reward"] == blocks


def test_several_columns_name_a_run_together(tmp_path: Path) -> None:
    rows = [(run, seed, step, 0.5) for run in "ab" for seed in (0, 1) for step in range(3)]
    path = _table(tmp_path / "sweep.csv", "Run ID,seed,step,reward", rows)
    assert _parts(path) == ["Run ID=a,seed=0", "Run ID=a,seed=1", "Run ID=b,seed=0", "Run ID=b,seed=1"]


@pytest.mark.parametrize("name", ["run", "run_id", "run_name", "experiment"])
def test_a_name_that_comes_back_is_a_second_run_though_the_steps_differ(tmp_path: Path, name: str) -> None:
    rows = [("ab"[step % 2], step, 0.5) for step in range(6)]
    path = _table(tmp_path / "two.csv", f"{name},step,reward", rows)
    assert _parts(path) == [f"{name}=a", f"{name}=b"]


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([(7, step, 0.5) for step in range(6)], id="constant"),
        pytest.param([(7, step, 0.5) for step in (0, 1, 2, 1, 2, 3)], id="constant in a resumed run"),
        pytest.param([(step * 31, step, 0.5) for step in range(6)], id="drawn for each step"),
        pytest.param([(step * 31, step, 0.5) for step in (0, 1, 2, 1, 2, 3)], id="drawn for each step, resumed"),
        pytest.param([(step // 3, step, 0.5) for step in range(6)], id="another one after a resume"),
        pytest.param([(step % 2, step, 0.5) for step in range(6)], id="drawn from two"),
    ],
)
def test_a_seed_that_tells_no_runs_apart_leaves_one_run(tmp_path: Path, rows: Sequence[Sequence[object]]) -> None:
    path = _table(tmp_path / "one.csv", "seed,step,reward", rows)
    assert _parts(path) == [None]
    assert read_run(path).name == "one"


def test_without_steps_values_of_several_rows_are_runs(tmp_path: Path) -> None:
    path = _table(tmp_path / "blocks.csv", "trial,reward", [(trial, 0.5) for trial in (1, 1, 1, 2, 2, 2)])
    assert _parts(path) == ["trial=1", "trial=2"]
    _table(path, "trial,reward", [(trial, 0.5) for trial in range(6)])
    assert _parts(path) == [None]


def test_runs_that_only_the_declared_step_tells_apart_are_not_read_as_one(tmp_path: Path) -> None:
    rows = [(seed, it, 0.5) for it in range(3) for seed in range(5)][:9]
    path = _table(tmp_path / "own.csv", "seed,it,reward", rows)
    with pytest.raises(NotARunError, match="5 runs"):
        read_run(path, columns={"it": "step"})


def test_a_row_of_no_run_and_too_many_runs_are_refused(tmp_path: Path) -> None:
    rows = [("a", 0, 0.5), ("a", 1, 0.5), ("", 2, 0.5), ("b", 0, 0.5), ("b", 1, 0.5)]
    path = _table(tmp_path / "gap.csv", "run,step,reward", rows)
    with pytest.raises(InputError, match="row 3: no 'run', which tells the runs of this table apart"):
        read_run(path)
    assert not find_runs(path).sources
    _table(path, "run,step,reward", [(run, step, 0.5) for run in range(MOST_RUNS + 1) for step in (0, 1)])
    with pytest.raises(InputError, match=f"{MOST_RUNS + 1} runs told apart by 'run'"):
        read_run(path)


def test_a_part_of_a_table_with_one_run_is_refused(tmp_path: Path) -> None:
    path = _table(tmp_path / "one.csv", "step,reward", [(step, 0.5) for step in range(3)])
    with pytest.raises(NotARunError, match="one run, so there is no 'seed=0' in it"):
        read_run(f"{path}#seed=0")
