"""verl's file logger, of both generations, and the samples beside it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlchecks.errors import InputError, NotARunError
from rlchecks.readers import find_runs, read_run
from rlchecks.run import RunLog
from tests.readers.verl_files import metrics, write_log, write_rollouts, write_samples, write_validation

Write = Callable[[str, str | bytes], Path]
ROWS = [(step, metrics(step, 0.1 * step)) for step in range(1, 6)]
SCORES = {step: {"a": [0] * (10 - step) + [1] * step, "b": [0] * (10 - step) + [1] * step} for step in range(1, 6)}


def column(run: RunLog, name: str, split: str = "train") -> list[object]:
    return [row[name] for row in run.steps.to_pylist() if row["split"] == split]


def test_a_log_is_read_with_the_right_metrics(tmp_path: Path) -> None:
    run = read_run(write_log(tmp_path / "gsm8k" / "qwen-grpo.jsonl", ROWS))
    assert (run.framework, run.name) == ("verl", "qwen-grpo")
    assert column(run, "step") == [1, 2, 3, 4, 5]
    assert column(run, "reward") == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5])
    assert column(run, "clipped_ratio") == [0.05] * 5
    assert column(run, "kl") == pytest.approx([0.01, 0.02, 0.03, 0.04, 0.05])
    assert column(run, "kl_sampler") == pytest.approx([0.001, 0.002, 0.003, 0.004, 0.005])
    assert column(run, "policy_clip_fraction") == [0.02] * 5
    assert column(run, "reward_std") == [None] * 5
    assert run.warnings == ()


def test_policy_divergence_is_never_the_kl(tmp_path: Path) -> None:
    rows = [(step, {k: v for k, v in metrics(step, 0.5).items() if k != "actor/kl_loss"}) for step in (1, 2)]
    run = read_run(write_log(tmp_path / "run.jsonl", rows))
    assert column(run, "kl") == [None, None]


def test_null_is_missing_and_bare_nan_is_kept(write: Write) -> None:
    lines = [
        '{"step":1,"data":{"critic/score/mean":null,"actor/entropy":0.5,"training/global_step":1}}',
        '{"step": 2, "data": {"critic/score/mean": NaN, "actor/entropy": 0.5, "training/global_step": 2}}',
        '{"step": 3, "data": {"critic/score/mean": 0.25, "actor/entropy": 0.5, "training/global_step": 3}}',
    ]
    run = read_run(write("run.jsonl", "\n".join(lines) + "\n"))
    missing, nan, number = column(run, "reward")
    assert missing is None
    assert math.isnan(nan)  # type: ignore[arg-type]
    assert number == 0.25


def test_validation_before_training_is_a_row_of_its_own(tmp_path: Path) -> None:
    check = {"val-core/openai/gsm8k/acc/mean@1": 0.3, "val-aux/openai/gsm8k/reward/std@4": 0.1}
    rows = [(0, check), *ROWS[:4], (5, {**ROWS[4][1], "val-core/openai/gsm8k/acc/mean@1": 0.6})]
    run = read_run(write_log(tmp_path / "run.jsonl", rows))
    assert column(run, "step") == [1, 2, 3, 4, 5]
    assert column(run, "step", "eval") == [0, 5]
    assert column(run, "reward", "eval") == [0.3, 0.6]


def test_rllm_writes_the_same_shape(tmp_path: Path) -> None:
    data = {"batch/solve_none": 0.2, "batch/solve_all": 0.3, "batch/solve_partial": 0.5, "reward/default/mean": 0.4}
    run = read_run(write_log(tmp_path / "run.jsonl", [(1, data), (2, data)]))
    assert run.framework == "rllm"
    assert column(run, "reward") == [0.4, 0.4]


def test_a_log_without_a_reward_is_refused(tmp_path: Path) -> None:
    path = write_log(tmp_path / "sft.jsonl", [(1, {"train/loss": 1.0}), (2, {"train/loss": 0.9})])
    with pytest.raises(NotARunError, match="2 logged rows, none with a reward"):
        read_run(path)


def test_a_line_of_another_shape_is_an_error(tmp_path: Path) -> None:
    path = write_log(tmp_path / "run.jsonl", ROWS)
    path.write_text(path.read_text() + '{"step": 6, "data": [1]}\n{"step": 7, "data": {}}\n')
    with pytest.raises(InputError, match="line 6: expected"):
        read_run(path)


def test_every_truncation_keeps_the_whole_lines(tmp_path: Path) -> None:
    path = write_log(tmp_path / "run.jsonl", ROWS[:3])
    data = path.read_bytes()
    first = data.index(b"\n") + 1
    for length in range(first, len(data), 5):
        path.write_bytes(data[:length])
        run = read_run(path)
        whole = data[:length].count(b"\n")
        ends = data[:length].endswith((b"\n", b"}}"))
        assert run.training_steps.num_rows == whole + (not data[:length].endswith(b"\n") and ends)
        assert bool(run.warnings) == (not ends)


def test_spreads_come_from_the_rollouts_beside_the_log(tmp_path: Path) -> None:
    write_log(tmp_path / "run" / "exp.jsonl", ROWS)
    write_rollouts(tmp_path / "run" / "dumps" / "rollouts", SCORES)
    write_validation(tmp_path / "run" / "checks", {0: {"p": [0.0, 1.0]}, 5: {"p": [1.0, 1.0]}})
    run = read_run(tmp_path / "run")
    assert run.name == "exp"
    assert column(run, "reward") == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5])
    assert column(run, "reward_std") == pytest.approx([(k * (10 - k) / 90) ** 0.5 for k in range(1, 6)])
    assert column(run, "zero_std_fraction") == [0.0] * 5
    assert run.facts["reward_std_semantics"] == "within_group"
    assert run.completions.num_rows == 104
    assert [row["score"] for row in run.validation.to_pylist() if row["question_id"]] == [0.5, 1.0]
    assert len(run.inputs) == 8
    assert run.warnings == ()
    assert [source.path for source in find_runs(tmp_path).sources] == [(tmp_path / "run").resolve()]


def test_samples_of_another_run_are_left_out(tmp_path: Path) -> None:
    write_log(tmp_path / "run" / "exp.jsonl", ROWS)
    write_rollouts(tmp_path / "run" / "rollouts", {step: {"a": [1, 1, 1, 0]} for step in range(1, 6)})
    run = read_run(tmp_path / "run")
    assert column(run, "reward_std") == [None] * 5
    assert run.completions.num_rows == 0
    assert any("at 5 of 5 common steps its mean score is not the logged reward" in warning for warning in run.warnings)


def test_damaged_samples_do_not_take_the_log_with_them(tmp_path: Path) -> None:
    write_log(tmp_path / "run" / "exp.jsonl", ROWS)
    directory = write_rollouts(tmp_path / "run" / "rollouts", {1: {"a": [0]}})
    path = directory / "1.jsonl"
    path.write_text(path.read_text() + "nonsense\n{}\n")
    run = read_run(tmp_path / "run")
    assert column(run, "reward") == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5])
    assert any(warning.startswith("rollouts: left out") for warning in run.warnings)


def test_two_logs_beside_samples_are_two_runs_and_the_samples_a_third(tmp_path: Path) -> None:
    write_log(tmp_path / "a.jsonl", ROWS)
    write_log(tmp_path / "b.jsonl", [(step, metrics(step, 0.9 - 0.1 * step)) for step in range(1, 6)])
    write_rollouts(tmp_path / "rollouts", SCORES)
    names = [source.path.name for source in find_runs(tmp_path).sources]
    assert names == ["a.jsonl", "b.jsonl", "rollouts"]


def test_a_step_that_has_no_samples_keeps_its_row(tmp_path: Path) -> None:
    write_log(tmp_path / "run" / "exp.jsonl", ROWS)
    write_rollouts(tmp_path / "run" / "rollouts", {2: SCORES[2]})
    run = read_run(tmp_path / "run")
    assert [value is None for value in column(run, "reward_std")] == [True, False, True, True, True]


def test_links_are_not_followed_for_samples(tmp_path: Path) -> None:
    write_log(tmp_path / "run" / "exp.jsonl", ROWS)
    write_rollouts(tmp_path / "elsewhere", SCORES)
    (tmp_path / "run" / "rollouts").symlink_to(tmp_path / "elsewhere")
    assert find_runs(tmp_path / "run").sources[0].path.name == "exp.jsonl"


@given(place=st.integers(0, 2000), bit=st.integers(0, 7))
@settings(max_examples=80, deadline=None)
def test_bit_flips_end_in_rows_or_one_error(tmp_path_factory: pytest.TempPathFactory, place: int, bit: int) -> None:
    path = write_log(tmp_path_factory.mktemp("flip") / "run.jsonl", ROWS)
    data = bytearray(path.read_bytes())
    data[place % len(data)] ^= 1 << bit
    path.write_bytes(data)
    outcome: RunLog | InputError
    try:
        outcome = read_run(path)
    except InputError as error:
        outcome = error
    assert isinstance(outcome, InputError) or outcome.training_steps.num_rows + outcome.repeated_steps >= 4


def test_absurd_values_stay_values_or_text(tmp_path: Path) -> None:
    rows = [(step, metrics(step, 0.5, huge=10**400, list=[1, 2], deep={"a": {"b": 1}})) for step in (1, 2)]
    run = read_run(write_log(tmp_path / "run.jsonl", rows))
    texts = dict(run.training_steps["extra_text"].to_pylist()[0])
    assert json.loads(texts["deep"]) == {"a": {"b": 1}}
    assert texts["huge"] == str(10**400)


def test_a_directory_whose_samples_are_not_written_yet_is_its_log(tmp_path: Path) -> None:
    write_log(tmp_path / "run" / "exp.jsonl", ROWS)
    write_samples(tmp_path / "run" / "val", 0, [])
    run = read_run(tmp_path / "run")
    assert run.name == "exp"
