from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest

from rlchecks.errors import InputError, NotARunError, UsageError
from rlchecks.readers import assemble as assemble_module
from rlchecks.readers.aliases import framework
from rlchecks.readers.assemble import Logged, assemble
from rlchecks.readers.budget import MAX_KEYS
from rlchecks.readers.registry import ReadOptions
from rlchecks.run import RunLog
from rlchecks.schema import STEPS, VALIDATION


def run_of(*rows: dict[str, Any], name: str = "trl_grpo", columns: dict[str, str] | None = None) -> RunLog:
    logged = Logged(Path("x/log"), "log", framework(name), rows, ())
    return assemble(logged, ReadOptions(columns=columns or {}))


def split(run: RunLog, name: str) -> list[dict[str, Any]]:
    return list(run.steps.filter(pc.equal(run.steps["split"], name)).to_pylist())


def test_splits_stand_in_their_order_and_steps_within() -> None:
    run = run_of(
        {"step": 2, "reward": 0.2},
        {"step": 2, "eval_reward": 0.3},
        {"step": 1, "reward": 0.1},
        {"step": 2, "train_runtime": 1.0},
    )
    assert run.steps.schema.equals(STEPS)
    assert run.steps.select(["split", "step"]).to_pylist() == [
        {"split": "train", "step": 1},
        {"split": "train", "step": 2},
        {"split": "eval", "step": 2},
        {"split": "summary", "step": 2},
    ]


def test_evaluations_become_validation_checks_in_total_and_by_function() -> None:
    row = {"eval_reward": 0.6, "eval_rewards/a/mean": 0.2, "eval_rewards/b/mean": 1.0, "eval_rewards/a/std": 0.4}
    run = run_of({"step": 5, "reward": 0.5}, {"step": 5, **row}, {"step": 10, "eval_reward": None})
    assert run.validation.schema.equals(VALIDATION)
    checks = [(c["step"], c["question_id"], c["grader"], c["score"]) for c in run.validation.to_pylist()]
    assert checks == [(5, None, None, 0.6), (5, None, "a", 0.2), (5, None, "b", 1.0)]
    assert run.graders == ("a", "b")
    assert [row["reward"] for row in split(run, "train")] == [0.5]


def test_evaluation_alone_makes_no_training_reward() -> None:
    run = run_of({"step": 5, "eval_reward": 0.6})
    assert split(run, "train") == []
    assert run.validation["score"].to_pylist() == [0.6]


def test_metrics_flushed_into_the_closing_row_are_the_last_training_row() -> None:
    closing = {"step": 25, "reward": 0.7, "kl": 0.1, "train_runtime": 9.0, "train_loss": 0.2}
    run = run_of({"step": 20, "reward": 0.5, "loss": 0.1}, closing)
    assert [(row["step"], row["reward"]) for row in split(run, "train")] == [(20, 0.5), (25, 0.7)]
    (summary,) = split(run, "summary")
    assert summary["reward"] is None
    assert dict(summary["extra"]) == {"train_runtime": 9.0, "train_loss": 0.2}
    assert run.repeated_steps == 0


def test_metrics_in_the_closing_row_complete_the_row_of_their_step() -> None:
    run = run_of({"step": 20, "loss": 0.1}, {"step": 20, "reward": 0.7, "train_runtime": 9.0})
    (row,) = split(run, "train")
    assert (row["loss"], row["reward"]) == (0.1, 0.7)


def test_metrics_in_the_closing_row_never_replace_a_logged_row() -> None:
    run = run_of({"step": 20, "reward": 0.5}, {"step": 20, "reward": 0.7, "train_runtime": 9.0})
    assert [row["reward"] for row in split(run, "train")] == [0.5]
    assert [row["reward"] for row in split(run, "summary")] == [0.7]
    assert run.repeated_steps == 0


def test_a_closing_row_without_step_takes_the_last_step() -> None:
    run = run_of({"step": 20, "reward": 0.5}, {"train_runtime": 9.0})
    assert [row["step"] for row in split(run, "summary")] == [20]


def test_repeated_evaluations_and_several_evaluation_sets_are_told() -> None:
    train = {"step": 5, "reward": 0.5}
    run = run_of(train, {"step": 5, "eval_reward": 0.1}, {"step": 5, "eval_reward": 0.2})
    assert run.validation["score"].to_pylist() == [0.2]
    assert run.warnings == ("1 evaluation row for a step evaluated before: the last of each step is kept",)
    run = run_of(train, {"step": 5, "eval_a_loss": 1.0, "eval_reward": 0.1}, {"step": 5, "eval_b_loss": 1.0})
    assert run.warnings == ()
    sets = [{"step": 5, "eval_a_loss": 1.0, "eval_reward": 0.1}, {"step": 5, "eval_b_loss": 1.0, "eval_reward": 0.2}]
    run = run_of(train, *sets)
    assert run.warnings == ("several evaluation sets at one step: of a metric that they share, the last value is kept",)


def test_what_was_noticed_is_told_in_sentences() -> None:
    run = run_of(
        {"step": 1, "reward": "0.5", "clip_ratio": 0.2, "truncated": 3, "kl": "off"},
        {"step": 2, "reward": 0.6, "mean_reward": 0.9},
        name="table",
    )
    assert run.warnings == (
        "1 number logged as text: read as numbers",
        "'kl': 1 value not numeric, kept as text",
        "'reward' and 'mean_reward' are both logged and differ: 'reward' is used",
        "'truncated' has values outside 0 to 1, so it cannot be clipped_ratio: left unmapped;"
        " if it is in per cent, divide it by 100 in the log",
        "'clip_ratio' is not used, since its name does not tell whether it is clipped_ratio or policy_clip_fraction",
    )
    assert run.unmapped == ("clip_ratio", "truncated")


def test_a_column_that_the_user_declares_needs_no_guess() -> None:
    run = run_of({"step": 1, "score": 0.5, "clip_ratio": 0.2}, name="table", columns={"score": "reward"})
    assert [row["reward"] for row in split(run, "train")] == [0.5]
    run = run_of(
        {"n": 7, "reward": 0.5, "clip_ratio": 0.2}, name="table", columns={"clip_ratio": "clipped_ratio", "n": "step"}
    )
    assert [(row["step"], row["clipped_ratio"]) for row in split(run, "train")] == [(7, 0.2)]
    assert run.warnings == ()


def test_a_column_that_does_not_exist_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match=r"x/log has no column 'scor'; it has 'score', 'step'\."):
        run_of({"step": 1, "score": 0.5}, name="table", columns={"scor": "reward"})


def test_rows_without_reward_are_no_run() -> None:
    with pytest.raises(NotARunError, match=r"x/log: 1 logged row, none with a reward \(keys: 'eval_g0_loss', 'step'\)"):
        run_of({"step": 1, "eval_g0_loss": 0.5})


@pytest.mark.parametrize("key", ["rewards/chosen", "rewards/margins", "objective/rlhf_reward", "eval_loss"])
def test_quantities_of_other_trainers_are_no_reward(key: str) -> None:
    with pytest.raises(NotARunError):
        run_of({"step": 1, key: 0.5})


def test_a_reward_that_is_always_null_is_a_run_without_rewards() -> None:
    run = run_of({"step": 1, "reward": None}, {"step": 2, "reward": None})
    assert [row["reward"] for row in split(run, "train")] == [None, None]


def test_too_many_keys_are_no_log() -> None:
    with pytest.raises(InputError, match=r"20,002 different keys"):
        run_of({"step": 1, "reward": 1, **{f"k{number}": 1 for number in range(MAX_KEYS)}})


def test_names_that_take_more_than_the_values_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assemble_module, "MAX_NAMES", 99)
    rows = [{"step": step, "reward": 0.5, "x" * 25: 0.1} for step in range(4)]
    assert len(run_of(*rows[:3]).steps) == 3
    with pytest.raises(InputError, match="x/log: 100 bytes of names for the values without a metric, more than the 99"):
        run_of(*rows)


def test_a_counter_that_is_not_used_is_no_unmapped_metric() -> None:
    run = run_of({"step": 3, "_step": 7, "reward": 0.5, "odd": 1}, {"step": 4, "_step": 9, "reward": 0.5}, name="table")
    assert run.unmapped == ("odd",)
    assert dict(split(run, "train")[1]["extra"]) == {"_step": 9.0}


def test_the_meaning_of_a_spread_is_told_where_its_key_tells_it() -> None:
    assert run_of({"step": 1, "reward": 0.5}, name="table").facts == {}
    for key, meaning in [("group_reward_std", "within_group"), ("reward_std", "unknown")]:
        run = run_of({"step": 1, "reward": 0.5, key: 0.1}, name="table")
        assert run.facts["reward_std_semantics"] == meaning
    run = run_of({"step": 1, "reward": 0.5, "reward_std": 0.1}, name="trl_async_grpo")
    assert run.facts["reward_std_semantics"] == "within_group"


def test_a_growing_log_keeps_its_id() -> None:
    rows = [{"step": step, "reward": step / 10} for step in range(1, 6)]
    assert run_of(*rows).run_id == run_of(*rows[:2]).run_id
    assert run_of(*rows[1:]).run_id != run_of(*rows).run_id
