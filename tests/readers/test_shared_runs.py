"""The readers on real runs: what must come out stands in the READMEs beside the data."""

from __future__ import annotations

import math
from pathlib import Path
from statistics import mean
from typing import Any

import pyarrow.compute as pc
import pytest

from rlchecks.errors import NotARunError
from rlchecks.readers import find_runs, read_run
from rlchecks.run import RunLog

# Run: steps, reward functions, warnings that must come and none else.
PLACEHOLDER = "frac_reward_zero_std of 6 rows without a reward is TRL's placeholder 0: taken as missing"
CRASHED = "read from checkpoint-30: no trainer_state.json at the top; 30 of 60 planned steps"
RUNS: dict[str, tuple[int, tuple[str, ...], tuple[str, ...]]] = {
    "healthy-s1": (120, ("accuracy_reward",), ()),
    "healthy-kl-s4": (100, ("accuracy_reward",), ()),
    "old-healthy-kl": (80, ("accuracy_reward",), ()),
    "mid-healthy-kl": (80, ("accuracy_reward",), ()),
    "resumed": (100, ("accuracy_reward",), ()),
    "restarted": (60, ("accuracy_reward",), ()),
    "two-rewards-conv-eval": (60, ("accuracy_reward", "format_reward"), ()),
    "reward-none": (60, ("sometimes_none_reward",), (PLACEHOLDER,)),
    "defaults-grad-accum": (60, ("accuracy_reward",), ()),
    "starved-floor": (80, ("product_reward",), ()),
    "starved-ceiling": (80, ("any_digit_reward",), ()),
    "length-hack-s6": (100, ("length_reward",), ()),
    "clipped": (80, ("working_reward",), ()),
    "kl-drift": (120, ("saturating_reward",), ()),
    "collapse-flat": (100, ("brevity_reward",), ()),
    "hack-lazy-s30": (100, ("lazy_grader_reward",), ()),
    "nan-survives": (60, ("accuracy_reward",), ()),
    "nan-crash": (30, ("accuracy_reward",), (CRASHED,)),
    "reward-inf": (50, ("sometimes_inf_reward",), ()),
}
# File: rows, reward in the first and the last fifth of the run, in four digits.
PUBLIC_STATES = {
    "sqlgen-1000steps": (200, 0.3454, 0.3834),
    "sqlgen-ckpt75": (15, 0.3604, 0.3638),
    "unsloth-grpo-250": (250, 0.2254, 1.575),
    "gemma3-rl-250": (25, 0.6019, 1.259),
    "f1sim-ckpt250": (25, 0.884, 0.883),
    "f1sim-ckpt500": (50, 0.8737, 0.8895),
    "xling-a2-vi-42": (10, 0.174, 0.2104),
}


@pytest.fixture(scope="module")
def trl(shared_data: Path) -> Path:
    return shared_data / "trl"


def train(run: RunLog, column: str) -> list[Any]:
    return list(run.steps.filter(pc.equal(run.steps["split"], "train"))[column].to_pylist())


@pytest.mark.parametrize("name", RUNS)
def test_every_run_reads_with_its_steps_and_graders_and_no_surprise(name: str, trl: Path) -> None:
    steps, graders, warnings = RUNS[name]
    run = read_run(trl / name)
    assert run.framework == "trl_grpo"
    assert run.name == name
    every = 10 if name == "defaults-grad-accum" else 1
    assert train(run, "step") == list(range(every, steps + 1, every))
    assert run.graders == graders
    assert run.warnings == warnings
    assert run.repeated_steps == 0
    assert run.planned_steps == (60 if name == "nan-crash" else steps)
    semantics = "within_group" if name.startswith(("old-", "mid-")) else "batch"
    assert run.facts["reward_std_semantics"] == semantics


@pytest.mark.parametrize("name", [name for name in RUNS if not name.startswith(("old-", "mid-"))])
def test_the_logged_answers_of_every_run_are_read(name: str, trl: Path) -> None:
    run = read_run(trl / name)
    answers = run.completions
    assert len(answers) > 100
    assert answers["prompt"].null_count == answers["completion"].null_count == 0
    assert set(answers["step"].to_pylist()) <= set(train(run, "step"))
    scored = [dict(rewards) for rewards in answers["rewards"].to_pylist()]
    assert {name for scores in scored for name in scores} == set(run.graders)


def test_of_old_keys_what_was_not_logged_is_named(trl: Path) -> None:
    run = read_run(trl / "old-healthy-kl")
    assert {"clipped_ratio", "zero_std_fraction"} <= set(run.facts["metrics_not_loggable"].split(","))
    assert None not in train(run, "kl") + train(run, "mean_length")


def test_eval_values_are_kept_apart_as_validation(trl: Path) -> None:
    run = read_run(trl / "two-rewards-conv-eval")
    checks = run.validation.to_pylist()
    assert [(c["step"], c["grader"]) for c in checks] == [
        (step, grader) for step in (20, 40, 60) for grader in (None, "accuracy_reward", "format_reward")
    ]
    totals = {c["step"]: c["score"] for c in checks if c["grader"] is None}
    rewards = dict(zip(train(run, "step"), train(run, "reward"), strict=True))
    assert all(totals[step] != rewards[step] for step in totals)
    evaluated = {row["step"] for row in run.completions.to_pylist() if row["split"] == "eval"}
    assert evaluated == {60}


def test_rewards_that_were_not_given_stay_missing(trl: Path) -> None:
    run = read_run(trl / "reward-none")
    missing = [step for step, reward in zip(train(run, "step"), train(run, "reward"), strict=True) if reward is None]
    assert missing == [8, 18, 28, 38, 48, 58]
    fractions = dict(zip(train(run, "step"), train(run, "zero_std_fraction"), strict=True))
    assert [step for step, fraction in fractions.items() if fraction is None] == missing


def test_infinite_rewards_stay_infinite(trl: Path) -> None:
    rewards = train(read_run(trl / "reward-inf"), "reward")
    assert rewards[30:34] == [math.inf, math.inf, math.inf, -math.inf]
    assert all(map(math.isfinite, rewards[:30] + rewards[34:]))


def test_nan_and_null_stay_apart(trl: Path) -> None:
    run = read_run(trl / "nan-survives")
    assert math.isnan(train(run, "grad_norm")[10])
    assert train(run, "kl")[10] is None


def test_the_tree_of_runs_holds_each_once(trl: Path) -> None:
    found = find_runs(trl)
    assert [source.path.name for source in found.sources] == sorted(RUNS)
    # What is beside the logs of runs, and of each that has checkpoints alone.
    assert {refusal.kind for refusal in found.refused} == {"copy"}
    assert all(refusal.reason.startswith("taken for one more log of the run ") for refusal in found.refused)
    alone = [name for name in RUNS if not (trl / name / "trainer_state.json").is_file()]
    assert len(found.refused) == 1 + len(alone)


@pytest.mark.parametrize("name", PUBLIC_STATES)
def test_public_states_read_with_their_rewards(name: str, shared_data: Path) -> None:
    count, first, last = PUBLIC_STATES[name]
    run = read_run(shared_data / "public" / "trl_state" / name)
    rewards = train(run, "reward")
    fifth = count // 5
    assert len(rewards) == count
    assert mean(rewards[:fifth]) == pytest.approx(first, rel=6e-4)
    assert mean(rewards[-fifth:]) == pytest.approx(last, rel=6e-4)
    assert run.warnings == ()
    assert run.facts["reward_std_semantics"] == "within_group"


def test_another_trainers_public_state_is_no_run(shared_data: Path) -> None:
    with pytest.raises(NotARunError, match="216 logged rows, none with a reward"):
        read_run(shared_data / "public" / "trl_state" / "viz-demo" / "trainer_state.json")


def test_of_two_public_checkpoints_of_one_run_the_later_is_read(shared_data: Path) -> None:
    found = find_runs(shared_data / "public" / "trl_state")
    assert len(found.sources) == 6
    assert [(refusal.source.name, refusal.kind) for refusal in found.refused] == [
        ("f1sim-ckpt250", "copy"),
        ("viz-demo", "not_a_run"),
    ]


def test_public_tables_are_read_by_their_plain_names(shared_data: Path) -> None:
    run = read_run(shared_data / "public" / "custom_jsonl" / "countdown-grpo" / "metrics.jsonl")
    rewards = train(run, "reward")
    assert len(rewards) == 500
    assert (mean(rewards[:100]), mean(rewards[-100:])) == pytest.approx((0.975, 1.133), rel=6e-4)
    assert mean(train(run, "zero_std_fraction")[:100]) == pytest.approx(0.2975, rel=6e-4)
    assert set(train(run, "kl")) == {None}
    run = read_run(shared_data / "public" / "custom_jsonl" / "rookworld" / "training_history.jsonl")
    assert run.repeated_steps == 12
