"""tinker-cookbook's log directory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rlchecks.errors import NotARunError
from rlchecks.readers import find_runs, read_run
from rlchecks.run import RunLog


def row(step: int, batches: int = 50, **extra: Any) -> dict[str, Any]:
    """A line of the log."""
    return {
        "step": step,
        "progress/batch": step,
        "progress/done_frac": (step + 1) / batches,
        "optim/lr": 1e-4,
        "env/all/reward/total": 0.1 * step,
        "env/all/total_ac_tokens": 1000 + step,
        "env/all/total_episodes": 10,
        "env/all/ac_tokens_per_turn": 50.0,
        "env/all/by_group/frac_mixed": 0.25,
        "env/all/by_group/frac_all_good": 0.5,
        "env/all/by_group/frac_all_bad": 0.25,
        "env/all/correct": 0.1 * step,
        "optim/kl_sample_train_v1": -0.001,
        "optim/entropy": 0.5,
        **extra,
    }


CONFIG = {
    "model_name": "Qwen/Qwen3-8B",
    "kl_penalty_coef": 0.0,
    "max_tokens": 512,
    "dataset_builder": {"group_size": 16, "batch_size": 64},
    "temperature": 1.0,
    "loss_fn": "importance_sampling",
    "remove_constant_reward_groups": False,
}


def write(directory: Path, rows: list[dict[str, Any]], config: dict[str, Any] | None = None) -> Path:
    """Write a log directory."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "metrics.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    if config is not None:
        (directory / "config.json").write_text(json.dumps(config))
    return directory


def column(run: RunLog, name: str, split: str = "train") -> list[object]:
    return [one[name] for one in run.steps.to_pylist() if one["split"] == split]


def test_a_log_directory(tmp_path: Path) -> None:
    directory = write(tmp_path / "math", [row(step) for step in range(4)], CONFIG)
    run = read_run(directory)
    assert (run.framework, run.name) == ("tinker", "math")
    assert column(run, "step") == [0, 1, 2, 3]
    assert column(run, "reward") == pytest.approx([0.0, 0.1, 0.2, 0.3])
    assert column(run, "zero_std_fraction") == [0.75] * 4
    assert column(run, "mean_length") == pytest.approx([100.0, 100.1, 100.2, 100.3])
    assert column(run, "kl") == [None] * 4
    assert column(run, "kl_sampler") == [-0.001] * 4
    assert run.facts["beta"] == "0.0"
    assert run.facts["max_completion_length"] == "512"
    assert run.facts["num_generations"] == "16"
    assert len(run.inputs) == 2
    assert [source.path for source in find_runs(tmp_path).sources] == [directory.resolve()]
    assert column(read_run(directory / "metrics.jsonl"), "reward") == column(run, "reward")


@pytest.mark.parametrize("batches", [1, 3, 50, 29354, 10**6])
def test_the_plan_is_the_last_step_of_the_fraction_done(tmp_path: Path, batches: int) -> None:
    run = read_run(write(tmp_path / "run", [row(0, batches), row(min(1, batches - 1), batches)]))
    assert run.planned_steps == (batches - 1 or None)


@pytest.mark.parametrize("done", [0, -1, 2, "x", None, 1e-300])
def test_an_odd_fraction_tells_no_plan(tmp_path: Path, done: object) -> None:
    rows = [{**row(step), "progress/done_frac": done} for step in range(3)]
    assert read_run(write(tmp_path / "run", rows)).planned_steps is None


def test_groups_that_were_dropped_are_in_no_share(tmp_path: Path) -> None:
    rows = [row(step, **{"env/all/by_group/frac_mixed": 1.0}) for step in range(3)]
    run = read_run(write(tmp_path / "run", rows, {**CONFIG, "remove_constant_reward_groups": True}))
    assert column(run, "zero_std_fraction") == [None] * 3
    assert any("remove_constant_reward_groups is on" in warning for warning in run.warnings)


def test_a_test_set_is_validation(tmp_path: Path) -> None:
    rows = [row(0, **{"test/env/all/reward/total": 0.5}), row(1), row(2, **{"test/env/all/reward/total": 0.7})]
    run = read_run(write(tmp_path / "run", rows))
    assert column(run, "step", "eval") == [0, 2]
    assert column(run, "reward", "eval") == [0.5, 0.7]


def test_settings_that_cannot_be_read_do_not_matter(tmp_path: Path) -> None:
    directory = write(tmp_path / "run", [row(step) for step in range(3)])
    for text in ("[1]", "{", "[" * 10_000, "\ud800".encode("utf-8", "surrogatepass").decode("latin-1")):
        (directory / "config.json").write_text(text)
        assert column(read_run(directory), "step") == [0, 1, 2]


def test_supervised_training_is_refused(tmp_path: Path) -> None:
    rows = [{"step": step, "progress/done_frac": 0.1, "train_mean_nll": 1.0} for step in range(3)]
    with pytest.raises(NotARunError, match="none with a reward"):
        read_run(write(tmp_path / "run", rows, {"model_name": "x"}))
    assert find_runs(tmp_path).sources == []


def test_a_torn_line_is_told(tmp_path: Path) -> None:
    directory = write(tmp_path / "run", [row(step) for step in range(3)], CONFIG)
    path = directory / "metrics.jsonl"
    data = path.read_bytes()
    for cut in range(2, 300, 31):
        path.write_bytes(data[:-cut])
        run = read_run(directory)
        assert column(run, "step") == [0, 1]
        assert run.warnings == ("line 3 was not written to its end: left out",)
