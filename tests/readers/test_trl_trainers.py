"""TRL's trainers other than GRPO, as they write trainer_state.json."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rlchecks.errors import NotARunError
from rlchecks.readers import read_run
from rlchecks.readers.aliases import recognise
from rlchecks.run import RunLog
from tests.readers.framework_logs import LOGS, rows_of

WriteState = Callable[..., Path]
CLOSING = {"epoch": 1.0, "step": 6, "total_flos": 0.0, "train_loss": 0.1, "train_runtime": 61.0}


def state(write_state: WriteState, name: str, *more: dict[str, Any]) -> RunLog:
    rows = [{"epoch": row["step"] / 6, **row} for row in rows_of(LOGS[name])]
    return read_run(write_state([*rows, *more, CLOSING]))


def train(run: RunLog, metric: str) -> list[Any]:
    return [row[metric] for row in run.steps.to_pylist() if row["split"] == "train"]


@pytest.mark.parametrize("name", ["trl_ppo", "trl_rloo, to 0.21", "trl_online_dpo", "xpo", "nash_md"])
def test_trainers_without_groups_read_from_their_state(name: str, write_state: WriteState) -> None:
    log = LOGS[name]
    run = state(write_state, name)
    assert run.framework == log.framework
    for metric, key in log.canonical.items():
        assert train(run, metric) == pytest.approx([row[key] for row in rows_of(log)])
    assert run.warnings == ()
    assert run.facts["kl_semantics"] == "sum_per_sequence"
    assert {"reward_std", "zero_std_fraction"} <= set(run.facts["metrics_not_loggable"].split(","))
    # What GRPO's keys tell is nothing here.
    assert run.facts.keys().isdisjoint({"beta", "trl_keys", "reward_std_semantics"})


def test_rloo_since_0_22_logs_the_keys_of_grpo(write_state: WriteState) -> None:
    path = write_state(rows_of(LOGS["trl_grpo"]))
    (path.parent / "README.md").write_text("This model was trained with RLOO, a method\n- TRL: 0.27.0\n")
    run = read_run(path)
    assert run.framework == "trl_grpo"
    assert run.facts["trainer"] == "RLOO"
    assert run.facts["reward_std_semantics"] == "batch"
    assert any("RLOO with a KL penalty" in warning for warning in run.warnings)


@pytest.mark.parametrize("trainer", ["GRPO", "AsyncGRPO", "RLOO", "PPO", "Online DPO", "XPO", "Nash-MD"])
def test_the_model_card_names_the_trainer(trainer: str, write_state: WriteState) -> None:
    path = write_state(rows_of(LOGS["trl_grpo"]))
    (path.parent / "README.md").write_text(f"This model was trained with {trainer}, a method introduced in\n")
    assert read_run(path).facts["trainer"] == trainer


def test_the_asynchronous_trainer_compares_with_the_sampler(write_state: WriteState) -> None:
    old = state(write_state, "trl_async_grpo")
    assert train(old, "kl") == [None] * 6
    assert train(old, "kl_sampler")[0] is not None
    assert "beta" not in old.facts
    assert {"kl", "zero_std_fraction", "clipped_ratio"} <= set(old.facts["metrics_not_loggable"].split(","))
    new = state(write_state, "trl_async_grpo since its rework")
    assert "clipped_ratio" not in new.facts["metrics_not_loggable"].split(",")
    assert (old.facts["trl_keys"], new.facts["trl_keys"]) == (
        "AsyncGRPO before its rework (inferred)",
        "AsyncGRPO (inferred)",
    )


def test_a_judge_instead_of_rewards_leaves_no_reward(write_state: WriteState) -> None:
    left_out = ("objective/scores", "objective/scores_margin", "objective/rlhf_reward")
    rows = [{k: v for k, v in row.items() if k not in left_out} for row in rows_of(LOGS["trl_online_dpo"])]
    with pytest.raises(NotARunError, match="none with a reward"):
        read_run(write_state(rows))


def test_distillation_is_no_reinforcement_learning_without_a_reward(write_state: WriteState) -> None:
    rows = [{"step": 1, "loss": 0.5, "completions/mean_length": 90.0, "completions/truncated_fraction": 0.5}]
    with pytest.raises(NotARunError, match="none with a reward"):
        read_run(write_state(rows))
    run = read_run(write_state([{**rows[0], "reward": 0.5}]))
    assert run.framework == "trl_distillation"
    assert train(run, "clipped_ratio") == [0.5]


@pytest.mark.parametrize("scale", ["group", "batch"])
def test_the_spread_of_ms_swift_is_within_groups_or_that_of_the_batch(scale: str, write_state: WriteState) -> None:
    path = write_state(rows_of(LOGS["ms_swift"]))
    (path.parent / "args.json").write_text(f'{{"scale_rewards": "{scale}"}}')
    run = read_run(path)
    assert run.framework == "ms_swift"
    assert run.facts["reward_std_semantics"] == ("batch" if scale == "batch" else "within_group")


def test_trackers_keep_the_prefix_and_tell_the_same() -> None:
    for name in ("trl_grpo", "unsloth", "trl_async_grpo", "trl_ppo", "trl_rloo, to 0.21", "trl_online_dpo", "openrlhf"):
        log = LOGS[name]
        assert recognise(rows_of(log, "train/")[0], "table").name == log.framework
