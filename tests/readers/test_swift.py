"""ms-swift: the log without steps of its own, and the answers beside it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from rlchecks.errors import InputError, NotARunError
from rlchecks.readers import find_runs, read_run, swift_answers
from rlchecks.run import RunLog

Write = Callable[[str, str | bytes], Path]


def row(step: int, planned: int = 20, **extra: Any) -> dict[str, Any]:
    """A line as the callback for transformers writes it."""
    return {
        "loss": 0.0,
        "grad_norm": 0.53,
        "learning_rate": 1e-06,
        "reward": 0.1 + 0.05 * step,
        "reward_std": 0.2,
        "frac_reward_zero_std": 0.25,
        "rewards/Accuracy/mean": 0.05 * step,
        "rewards/Accuracy/std": 0.1,
        "rewards/Format/mean": 0.1,
        "rewards/Format/std": 0.0,
        "completions/mean_length": 100.0 + step,
        "completions/clipped_ratio": 0.125,
        "kl": 0.001 * step,
        "clip_ratio/region_mean": 0.5,
        "epoch": 0.1 * step,
        "global_step/max_steps": f"{step}/{planned}",
        "elapsed_time": f"{step}s",
        "remaining_time": "46m 13s",
        "memory(GiB)": 40.1,
        "train_speed(s/it)": 6.2,
        **extra,
    }


def closing(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The last two lines of a finished run: its summary, and the object with everything once more."""
    summary = {
        "train_runtime": 120.5,
        "train_loss": 0.01,
        "epoch": 1.0,
        "global_step/max_steps": rows[-1]["global_step/max_steps"],
    }
    return [
        summary,
        {"last_model_checkpoint": "/x", "best_metric": None, "global_step": 5, "log_history": list(rows), "memory": 1},
    ]


def log(directory: Path, rows: Sequence[dict[str, Any]]) -> Path:
    """Write a log and return its directory."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "logging.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    return directory


def table(step: int, count: int = 2, name: str = "answer", **extra: Any) -> dict[str, Any]:
    """A line of completions.jsonl."""
    return {
        "step": [str(step)] * count,
        "prompt": [f"prompt {step}"] * count,
        "completion": [f"{name} {step}.{number}" for number in range(count)],
        "Accuracy": [float(number) for number in range(count)],
        "Format": [1.0] * count,
        "advantages": [-1.0, 1.0][:count],
        "gen_length": [7] * count,
        **extra,
    }


def answers(directory: Path, lines: Sequence[dict[str, Any]]) -> None:
    """Write completions.jsonl."""
    (directory / "completions.jsonl").write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))


def column(run: RunLog, name: str, split: str = "train") -> list[object]:
    return [one[name] for one in run.steps.to_pylist() if one["split"] == split]


def test_a_finished_run(tmp_path: Path) -> None:
    rows = [row(step, planned=5) for step in range(1, 6)]
    run = read_run(log(tmp_path / "v0-20260101-101010", [*rows, *closing(rows)]))
    assert (run.framework, run.name, run.planned_steps) == ("ms_swift", "v0-20260101-101010", 5)
    assert column(run, "step") == [1, 2, 3, 4, 5]
    assert column(run, "reward") == pytest.approx([0.15, 0.2, 0.25, 0.3, 0.35])
    assert column(run, "clipped_ratio") == [0.125] * 5
    assert column(run, "policy_clip_fraction") == [0.5] * 5
    assert column(run, "zero_std_fraction") == [0.25] * 5
    assert column(run, "step", "summary") == [5]
    assert run.graders == ("Accuracy", "Format")
    assert run.facts["reward_std_semantics"] == "within_group"
    assert "beta" not in run.facts
    assert dict(run.training_steps["extra_text"].to_pylist()[0])["elapsed_time"] == "1s"
    assert run.warnings == ()


def test_megatron_counts_iterations(tmp_path: Path) -> None:
    rows = []
    for step in (10, 20):
        one = row(step)
        del one["global_step/max_steps"]
        rows.append({**one, "iteration": f"{step}/438"})
    run = read_run(log(tmp_path / "run", rows) / "logging.jsonl")
    assert column(run, "step") == [10, 20]
    assert run.planned_steps == 438


def test_a_resumed_run_appends(tmp_path: Path) -> None:
    rows = [row(step) for step in (1, 2, 3, 4)] + [row(step, reward=9.0) for step in (3, 4, 5)]
    run = read_run(log(tmp_path / "run", rows))
    assert column(run, "step") == [1, 2, 3, 4, 5]
    assert column(run, "reward")[2:] == [9.0, 9.0, 9.0]
    assert run.repeated_steps == 2


def test_a_run_that_was_finished_and_resumed_keeps_its_rows(tmp_path: Path) -> None:
    rows = [row(step, planned=2) for step in (1, 2)]
    more = [row(step, planned=4) for step in (3, 4)]
    run = read_run(log(tmp_path / "run", [*rows, *closing(rows), *more, *closing(more)]))
    assert column(run, "step") == [1, 2, 3, 4]
    assert run.planned_steps == 4


def test_evaluations_are_kept_apart(tmp_path: Path) -> None:
    progress = {
        key: row(2)[key] for key in ("epoch", "elapsed_time", "remaining_time", "memory(GiB)", "train_speed(s/it)")
    }
    evaluation = {"eval_reward": 0.7, "eval_rewards/Accuracy/mean": 0.6, "global_step/max_steps": "2/20", **progress}
    run = read_run(log(tmp_path / "run", [row(1), row(2), evaluation, row(3)]))
    assert column(run, "step") == [1, 2, 3]
    assert column(run, "reward") == pytest.approx([0.15, 0.2, 0.25])
    assert column(run, "reward", "eval") == [0.7]
    assert run.repeated_steps == 0
    assert run.warnings == ()


def test_settings_tell_what_the_spread_is(tmp_path: Path) -> None:
    rows = [{key: value for key, value in row(step).items() if key != "kl"} for step in (1, 2)]
    directory = log(tmp_path / "run", rows)
    (directory / "args.json").write_text(json.dumps({"scale_rewards": "batch", "num_generations": 8}))
    run = read_run(directory)
    assert run.facts["reward_std_semantics"] == "batch"
    assert run.facts["num_generations"] == "8"
    assert run.facts["beta"] == "0 (inferred)"


def test_a_directory_with_checkpoints_is_read_from_its_own_log(
    tmp_path: Path, write_state: Callable[..., Path]
) -> None:
    directory = log(tmp_path / "run", [row(step) for step in (1, 2, 3)])
    write_state([{"step": 1, "reward": 0.15}], where="run/checkpoint-1")
    answers(directory, [table(1)])
    run = read_run(directory)
    assert column(run, "step") == [1, 2, 3]
    assert run.completions.num_rows == 2
    assert [source.path for source in find_runs(tmp_path).sources] == [directory.resolve()]


def test_fine_tuning_without_rewards_is_refused(tmp_path: Path) -> None:
    rows = [{"loss": 1.0 / step, "token_acc": 0.5, "global_step/max_steps": f"{step}/9"} for step in (1, 2, 3)]
    with pytest.raises(NotARunError, match="3 logged rows, none with a reward"):
        read_run(log(tmp_path / "run", rows))
    assert find_runs(tmp_path).sources == []


def test_answers_come_with_their_scores(tmp_path: Path) -> None:
    directory = log(tmp_path / "run", [row(1), row(2)])
    answers(directory, [table(1), table(2)])
    run = read_run(directory)
    rows = run.completions.to_pylist()
    assert [(one["split"], one["step"], one["completion"]) for one in rows] == [
        ("train", 1, "answer 1.0"),
        ("train", 1, "answer 1.1"),
        ("train", 2, "answer 2.0"),
        ("train", 2, "answer 2.1"),
    ]
    assert dict(rows[1]["rewards"]) == {"Accuracy": 1.0, "Format": 1.0}
    assert rows[0]["advantage"] == -1.0
    assert dict(rows[0]["extra_text"]) == {"gen_length": "7"}
    assert len(run.inputs) == 2


def test_answers_of_an_evaluation_are_of_the_evaluation(tmp_path: Path) -> None:
    evaluation = {"eval_reward": 0.7, "global_step/max_steps": "2/20"}
    directory = log(tmp_path / "run", [row(1), row(2), evaluation])
    answers(directory, [table(1), table(2), table(2, name="checked"), table(2, name="checked")])
    rows = read_run(directory).completions.to_pylist()
    assert [(one["split"], one["completion"]) for one in rows if one["step"] == 2] == [
        ("train", "answer 2.0"),
        ("train", "answer 2.1"),
        ("eval", "checked 2.0"),
        ("eval", "checked 2.1"),
    ]


def test_answers_of_megatron_and_ray(tmp_path: Path) -> None:
    directory = log(tmp_path / "run", [row(1), row(2)])
    megatron = table(1)
    megatron["gen_step"] = [int(step) for step in megatron.pop("step")]
    answers(directory, [megatron, {"gen_step": 2, "prompt": "p", "completion": "c", "reward": 0.5}])
    rows = read_run(directory).completions.to_pylist()
    assert [(one["step"], dict(one["rewards"])) for one in rows][-1] == (2, {"reward": 0.5})
    assert [one["step"] for one in rows] == [1, 1, 2]


def test_answers_that_cannot_be_read_are_counted(tmp_path: Path) -> None:
    directory = log(tmp_path / "run", [row(1), row(2)])
    answers(directory, [table(1), {"step": ["2"], "prompt": 1}])
    path = directory / "completions.jsonl"
    path.write_bytes(path.read_bytes() + b'{"step": ["2"], "prompt": ["to')
    run = read_run(directory)
    assert run.completions.num_rows == 2
    assert run.warnings == ("completions.jsonl: 2 lines without readable answers left out",)


def test_columns_of_another_length_do_not_shift_the_answers(tmp_path: Path) -> None:
    directory = log(tmp_path / "run", [row(1), row(2)])
    answers(directory, [table(1, Accuracy=[1.0])])
    rows = read_run(directory).completions.to_pylist()
    assert [dict(one["rewards"]) for one in rows] == [{"Format": 1.0}, {"Format": 1.0}]


def test_of_many_answers_evenly_spaced_lines_and_the_last_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(swift_answers, "MAX_BYTES", 2000)
    directory = log(tmp_path / "run", [row(step) for step in range(1, 51)])
    answers(directory, [table(step) for step in range(1, 51)])
    run = read_run(directory)
    steps = sorted(set(run.completions["step"].to_pylist()))
    assert steps[0] == 1
    assert steps[-1] == 50
    assert len({after - before for before, after in pairwise(steps[:-1])}) == 1
    assert any(f"{len(steps)} of 50 lines are read, evenly spaced" in warning for warning in run.warnings)


def test_a_log_cut_off_anywhere_keeps_what_is_whole(tmp_path: Path) -> None:
    directory = log(tmp_path / "run", [row(1), row(2)])
    path = directory / "logging.jsonl"
    data = path.read_bytes()
    first = data.index(b"\n") + 1
    for length in range(first, len(data) - 2, 11):
        path.write_bytes(data[:length])
        run = read_run(directory)
        assert column(run, "step") == [1]
        assert bool(run.warnings) == (length > first)


def test_damage_in_the_middle_is_an_error(tmp_path: Path) -> None:
    directory = log(tmp_path / "run", [row(1), row(2), row(3)])
    path = directory / "logging.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[1][:-9], lines[2]]) + "\n")
    with pytest.raises(InputError, match="line 2: no valid JSON"):
        read_run(directory)


@pytest.mark.parametrize("counter", ["x/438", "10/", 10, None, "10/438/2", "9999999999999999/2"])
def test_an_odd_counter_does_not_pass_for_a_step(tmp_path: Path, counter: object) -> None:
    rows = [row(1), row(2), {**row(3), "global_step/max_steps": counter}]
    run = read_run(log(tmp_path / "run", rows))
    assert column(run, "step")[:2] == [1, 2]
    assert any("without a usable 'step'" in warning for warning in run.warnings)
