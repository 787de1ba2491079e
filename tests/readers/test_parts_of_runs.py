"""Environments, agents, roles and validation sets: what speaks for a whole run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlchecks.errors import NotARunError
from rlchecks.readers import read_run
from rlchecks.readers.aliases import framework
from rlchecks.run import RunLog

Write = Callable[[str, str], Path]
ROLES = {
    "reward/solver/mean": 0.5,
    "reward/judge/mean": 0.7,
    "batch/solver/fractions/effective": 0.25,
    "batch/judge/fractions/effective": 0.5,
}


def read(write: Write, *rows: dict[str, Any]) -> RunLog:
    return read_run(write("log.jsonl", "".join(json.dumps(row) + "\n" for row in rows)))


def train(run: RunLog, metric: str) -> list[Any]:
    return [row[metric] for row in run.steps.to_pylist() if row["split"] == "train"]


def checks(run: RunLog) -> list[tuple[int, str | None, float]]:
    return [(check["step"], check["grader"], check["score"]) for check in run.validation.to_pylist()]


def test_of_several_roles_none_is_the_run(write: Write) -> None:
    with pytest.raises(NotARunError, match="none with a reward for the whole run") as caught:
        read(write, {"step": 1, **ROLES})
    assert "'reward/judge/mean', 'reward/solver/mean' are each that of a part" in str(caught.value)


def test_the_user_says_which_role_it_is(write: Write) -> None:
    path = write("log.jsonl", json.dumps({"step": 1, **ROLES}) + "\n")
    run = read_run(path, columns={"reward/solver/mean": "reward"})
    assert train(run, "reward") == [0.5]
    assert train(run, "zero_std_fraction") == [None]
    assert any("zero_std_fraction is not computed" in warning for warning in run.warnings)


def test_the_role_of_a_single_agent_stands_before_others(write: Write) -> None:
    run = read(write, {"step": 1, **ROLES, "reward/default/mean": 0.1, "batch/default/fractions/effective": 0.75})
    assert train(run, "reward") == [0.1]
    assert train(run, "zero_std_fraction") == [0.25]
    assert {"reward/solver/mean", "reward/judge/mean"} <= set(run.unmapped)
    assert run.warnings == ()


def test_environments_without_their_aggregate_are_no_run(write: Write) -> None:
    rewards = {f"train/{name}/all/a/reward/mean": 0.5 for name in ("gsm8k", "math")}
    with pytest.raises(NotARunError, match="none with a reward for the whole run"):
        read(write, {"step": 1, **rewards})
    run = read(write, {"step": 1, "train/gsm8k/all/a/reward/mean": 0.5})
    assert train(run, "reward") == [0.5]


def test_another_metric_of_several_agents_is_named_and_left_out(write: Write) -> None:
    lengths = {f"train/agg/all/{agent}/is_truncated/mean": 0.5 for agent in ("a", "b")}
    run = read(write, {"step": 1, "train/agg/all/reward/mean": 0.5, **lengths})
    assert train(run, "clipped_ratio") == [None]
    (warning,) = run.warnings
    assert warning == (
        "'train/agg/all/a/is_truncated/mean', 'train/agg/all/b/is_truncated/mean' are each 'clipped_ratio' for a part"
        " of the run (an environment, an agent, a role), none for all: none is used"
    )
    assert set(lengths) <= set(run.unmapped)


def test_several_validation_sets_have_a_mean_and_a_row_each(write: Write) -> None:
    row = {"step": 2, "val-core/openai/gsm8k/acc/mean@8": 0.25, "val-core/math/reward/mean@4": 0.75}
    run = read(write, {"step": 1, "critic/score/mean": 0.5}, row, {"step": 3, "critic/score/mean": 0.5})
    assert checks(run) == [(2, None, 0.5), (2, "math", 0.75), (2, "openai/gsm8k", 0.25)]
    assert run.graders == ()
    assert run.facts["metrics_derived"] == "validation reward = mean of reward/math, reward/openai/gsm8k"


def test_the_mean_over_all_validation_sets_that_is_logged_counts(write: Write) -> None:
    row = {"eval/all/avg_score": 0.4, "eval/gsm8k/avg_score": 0.5, "eval/math/avg_score": 0.1}
    run = read(write, {"trainer/global_step": 1, "reward/avg_raw_reward": 0.5, **row})
    assert checks(run) == [(1, None, 0.4), (1, "gsm8k", 0.5), (1, "math", 0.1)]


def test_one_validation_set_under_two_names_is_none(write: Write) -> None:
    row = {f"eval/aime/all/{agent}/avg@4": 0.5 for agent in ("a", "b")}
    run = read(write, {"step": 1, "reward/all/mean": 0.5, **row})
    assert checks(run) == []
    assert any("'reward/aime' for a part of the run" in warning for warning in run.warnings)


@pytest.mark.parametrize(
    ("name", "key", "dataset"),
    [
        ("verl", "val-core/openai/gsm8k/acc/mean@8", "openai/gsm8k"),
        ("verl", "val-core/openai/gsm8k/reward/mean_at_8", "openai/gsm8k"),
        ("verl", "val-core/a/acc/b/acc/mean@1", "a/acc/b"),
        ("verl", "val/test_score/openai/gsm8k", "openai/gsm8k"),
        ("verl", "val-core/openai/gsm8k/acc/best@8/mean", None),
        ("verl", "val-core/openai/gsm8k/acc/maj@8/mean", None),
        ("verl", "val-core/openai/gsm8k/acc/std@8", None),
        ("verl", "val-aux/openai/gsm8k/reward/mean@8", None),
        ("slime", "eval/aime", "aime"),
        ("slime", "eval/step", None),
        ("slime", "eval/steps", "steps"),
        ("slime", "eval/aime-truncated_ratio", None),
        ("slime", "eval/aime-pass@8", None),
        ("slime", "eval/aime/response_len/mean", None),
        ("openrlhf", "eval/eval_math_500_pass1", "math_500"),
        ("openrlhf", "eval_math_pass1", "math"),
        ("openrlhf", "eval/eval_math_pass10", None),
        ("openrlhf", "eval/eval_math_truncated_rate", None),
        ("skyrl", "eval/openai_gsm8k/avg_score", "openai_gsm8k"),
        ("skyrl", "eval/openai_gsm8k/pass_at_4", None),
        ("prime_rl", "eval/aime/avg@8", "aime"),
        ("prime_rl", "eval/aime/all/avg@8", "aime"),
        ("prime_rl", "eval/aime/all/solver/avg@8", "aime"),
        ("prime_rl", "eval/aime/effective/solver/avg@8", None),
        ("prime_rl", "eval/aime/effective/avg@8", None),
        ("prime_rl", "eval/aime/effective/pass@8", None),
        ("rllm", "val/math/500/pass@1", "math/500"),
        ("rllm", "val/math/pass@16", None),
        ("tinker", "eval/gsm8k/score", "gsm8k"),
        ("tinker", "eval/gsm8k/parse_rate", None),
    ],
)
def test_validation_sets_are_named_by_their_keys(name: str, key: str, dataset: str | None) -> None:
    known = framework(name)
    assert known.is_eval(key) or name == "openrlhf"
    assert known.is_reward(key) == (dataset is not None)
    target = known.eval_target(key)
    assert (None if target is None else target.name) == (None if dataset is None else f"reward/{dataset}")


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("train/agg/all/reward/mean", "reward"),
        ("train/agg/all/solver/reward/mean", "reward"),
        ("train/gsm8k/all/solver/reward/mean", "reward"),
        ("train/agg/effective/solver/reward/mean", None),
        ("train/agg/all/rewards/reward/mean", "reward/reward"),
        ("train/agg/all/solver/rewards/correct/mean", "reward/correct"),
        ("train/agg/all/solver/rewards/a/b/mean", "reward/a/b"),
        ("train/agg/all/metrics/reward/mean", None),
        ("train/agg/all/solver/reward/max", None),
        ("train/agg/all/solver/num_total_tokens/mean", None),
        ("reward/all/mean", "reward"),
        ("reward/gsm8k/mean", None),
        ("is_masked/mean", "policy_clip_fraction"),
        ("is_masked_low/mean", None),
    ],
)
def test_keys_of_prime_rl(key: str, name: str | None) -> None:
    target = framework("prime_rl").target(key)
    assert (None if target is None else target.name) == name


@given(st.permutations([*ROLES, "reward/default/std", "reward/solver/std", "val/math/pass@1", "actor/entropy"]))
def test_what_speaks_for_the_run_depends_neither_on_order_nor_on_how_often_it_is_asked(keys: list[str]) -> None:
    known = framework("rllm").among(keys)
    again = known.among(keys)
    for one in (known, again):
        assert one.unclear == {"reward": ("reward/judge/mean", "reward/solver/mean")}
        assert one.target("reward/solver/mean") is None
        assert one.target("reward/default/std") == ("reward_std", 0)
        assert one.datasets == {"reward/math"}
