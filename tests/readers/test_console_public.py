"""Console output of public runs and of this project's own runs, where they are at hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

import pytest

from rlchecks.errors import NotARunError
from rlchecks.readers import find_runs, read_run
from rlchecks.run import RunLog
from tests.readers.consoles import same, wrap

# Of each file: steps, reward in the first and the last fifth, and other columns in the same way.
PUBLIC = {
    "trl_console/openenv-hack-output1/output1.txt": (
        range(1, 201),
        {
            "reward": (-2.568, 0.1519),
            "reward_std": (1.07, 1.121),
            "zero_std_fraction": (0.4625, 0.225),
            "clipped_ratio": (0.9906, 1),
            "mean_length": (383.9, 384),
            "entropy": (0.2948, 0.4519),
        },
    ),
    "trl_console/budget-router-len3500/grpo_probe_0.6b_n8_t12_len3500.log": (
        range(1, 31),
        {
            "reward": (0.4546, 0.2503),
            "reward_std": (0.1888, 0.1972),
            "zero_std_fraction": (0, 0),
            "clipped_ratio": (0, 0),
            "mean_length": (283.4, 147.6),
        },
    ),
    "trl_console/medicalgpt/grpo_log.txt": (
        (10, 14),
        {
            "reward": (0.15, 0.125),
            "reward_std": (0.2155, 0.1443),
            "zero_std_fraction": (0.8, 1),
            "clipped_ratio": (0.15, 0.375),
            "mean_length": (53.45, 66.38),
            "kl": (0.0006717, 0.001013),
        },
    ),
    "trl_console/sqlgen-slurm/3b_3lvl_1639580.out": (
        range(1, 16),
        {
            "reward": (0.1417, 0.2433),
            "reward_std": (0.1057, 0.2136),
            "mean_length": (384.2, 409.8),
            "kl": (0.0002518, 0.0002785),
            "grad_norm": (0.08011, 0.1317),
        },
    ),
    "trl_console/xling-a2/training.log": (
        range(5, 51, 5),
        {
            "reward": (0.4458, 0.35),
            "reward_std": (0.3068, 0.2966),
            "mean_length": (3301, 3361),
            "kl": (0.0002022, 0.0002512),
            "grad_norm": (0.004207, 0.004116),
        },
    ),
}

RUNS = (
    *("healthy-s1", "healthy-kl-s4", "old-healthy-kl", "mid-healthy-kl", "resumed", "two-rewards-conv-eval"),
    *("reward-none", "defaults-grad-accum", "starved-floor", "starved-ceiling", "length-hack-s6", "clipped"),
    *("kl-drift", "collapse-flat", "hack-lazy-s30", "nan-survives", "nan-crash", "reward-inf"),
)
COLUMNS = ("reward", "kl", "mean_length", "grad_norm", "entropy", "zero_std_fraction", "epoch")


def column(run: RunLog, name: str) -> list[float | None]:
    return list(run.training_steps[name].to_pylist())


def numbers(run: RunLog, name: str) -> list[float]:
    return [float("nan") if value is None else value for value in column(run, name)]


def fifths(values: Sequence[float | None]) -> tuple[float, float]:
    present = [value for value in values if value is not None]
    count = max(1, len(present) // 5)
    return mean(present[:count]), mean(present[-count:])


@pytest.mark.parametrize("name", PUBLIC)
def test_public_console_output_ends_as_it_was_read_by_hand(name: str, shared_data: Path) -> None:
    steps, columns = PUBLIC[name]
    run = read_run(shared_data / "public" / name)
    assert column(run, "step") == list(steps)
    for metric, expected in columns.items():
        assert fifths(column(run, metric)) == pytest.approx(expected, rel=6e-4), metric
    assert run.framework == "trl_grpo"
    assert not any("left out" in warning for warning in run.warnings)


def test_public_console_output_is_found_in_its_tree(shared_data: Path) -> None:
    found = find_runs(shared_data / "public" / "trl_console")
    assert len(found.sources) == len(PUBLIC)
    assert found.refused == []


def test_the_steps_planned_are_those_of_the_bars(shared_data: Path) -> None:
    runs = [read_run(shared_data / "public" / name) for name in PUBLIC]
    assert [run.planned_steps for run in runs] == [None, None, 14, None, 100]


def test_the_public_notebook_of_verl_is_read(shared_data: Path) -> None:
    run = read_run(shared_data / "public" / "verl" / "getting-started-ipynb" / "verl_getting_started.ipynb")
    assert run.framework == "verl"
    assert column(run, "step") == list(range(61))
    for metric, ends in {"reward": (0.012, 0.621), "mean_length": (235.977, 155.738), "kl": (0.0, 0.161)}.items():
        values = column(run, metric)
        assert (values[0], values[-1]) == ends
    checks = run.validation.filter(run.validation["grader"].is_null()).sort_by("step")
    assert checks["step"].to_pylist() == [9, 19, 29, 39, 49, 59]
    assert (checks["score"].to_pylist()[0], checks["score"].to_pylist()[-1]) == (0.004, 0.478)
    assert run.training_steps["clipped_ratio"].null_count == 61
    assert run.facts["printed_numbers"] == "rounded to 3 decimals (inferred)"


def test_the_public_log_of_a_crash_is_refused(shared_data: Path) -> None:
    path = shared_data / "public" / "verl" / "logic-rl-grpo-log" / "grpo.log"
    with pytest.raises(
        NotARunError, match="text without a logged step, whose last error is 'AssertionError: failed to get"
    ):
        read_run(path)
    found = find_runs(path.parent)
    assert [(refusal.source.name, refusal.kind) for refusal in found.refused] == [("grpo.log", "not_a_run")]


@pytest.mark.parametrize("name", RUNS)
def test_console_output_of_trl_has_the_numbers_of_its_state(name: str, shared_data: Path) -> None:
    state, run = read_run(shared_data / "trl" / name), read_run(shared_data / "trl" / name / "console.log")
    logged = len(run.training_steps)
    # One run was cut off while its output was kept.
    assert logged == (2 if name == "mid-healthy-kl" else len(state.training_steps))
    every = int(state.facts["logging_steps"])
    assert [step * every for step in column(run, "step") if step] == column(state, "step")[:logged]
    rounded = 6e-4 if "printed_numbers" in run.facts else 1e-9
    for metric in COLUMNS:
        own, expected = numbers(run, metric), numbers(state, metric)[:logged]
        assert own == pytest.approx(expected, rel=rounded, abs=1e-12, nan_ok=True), metric
    # The files beside a state tell more than its keys.
    assert run.facts["reward_std_semantics"] in (state.facts["reward_std_semantics"], "unknown")
    assert len(run.validation) == len(state.validation)


def test_a_resumed_and_a_restarted_run_are_told_apart(shared_data: Path) -> None:
    resumed = read_run(shared_data / "trl" / "resumed" / "console.log")
    assert (len(resumed.training_steps), resumed.repeated_steps) == (100, 16)
    path = shared_data / "trl" / "restarted" / "console.log"
    first, second = read_run(f"{path}#1"), read_run(f"{path}#2")
    assert (len(first.training_steps), len(second.training_steps)) == (34, 60)
    state = read_run(path.parent)
    assert column(second, "reward") == pytest.approx(column(state, "reward"), rel=6e-4)


@pytest.mark.parametrize("width", [80, 180])
@pytest.mark.parametrize(
    "name", ["healthy-s1", "old-healthy-kl", "nan-survives", "two-rewards-conv-eval", "reward-inf"]
)
def test_console_output_that_a_terminal_broke_gives_the_same_rows(
    name: str, width: int, shared_data: Path, tmp_path: Path
) -> None:
    source = shared_data / "trl" / name / "console.log"
    text = source.read_bytes().decode().replace("\r", "\n")
    expected = read_run(source).steps.drop_columns(["run_id"]).to_pylist()
    forms = {
        "plain": wrap(text, width),
        "stripped": wrap(text, width, strip=True),
        "ray": wrap("".join(f"(RayTrainWorker pid=9, ip=10.0.0.1) {line}\n" for line in text.split("\n")), width),
        "coloured": wrap(text, width).replace("'", "\x1b[32m'\x1b[0m").replace("\n", "\r\n"),
        "glued": wrap(text.replace("{'loss'", "  5%|▌         | 5/90 [26:14<8:17:55, 314.48s/it]{'loss'"), width),
    }
    for form, content in forms.items():
        path = tmp_path / f"{form}.log"
        path.write_bytes(content.encode())
        run = read_run(path)
        assert same(run.steps.drop_columns(["run_id"]).to_pylist(), expected), form
        assert not any("left out" in warning for warning in run.warnings), form


def test_the_rows_of_a_console_are_those_that_were_logged(shared_data: Path) -> None:
    state = json.loads((shared_data / "trl" / "old-healthy-kl" / "trainer_state.json").read_text())
    run = read_run(shared_data / "trl" / "old-healthy-kl" / "console.log")
    assert column(run, "reward") == [row["reward"] for row in state["log_history"] if "reward" in row]
