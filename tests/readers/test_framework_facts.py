from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from rlchecks.readers.aliases import framework
from rlchecks.readers.columns import Notes
from rlchecks.readers.framework_facts import framework_facts, not_logged
from rlchecks.readers.remarks import remarks
from rlchecks.schema import STEPS


def steps(**metrics: float) -> pa.Table:
    row = {"run_id": "r", "split": "train", "step": 1, "extra": [], "extra_text": [], **metrics}
    return pa.Table.from_pylist([row], schema=STEPS)


def facts(name: str, metrics: dict[str, float] | None = None, **notes: Any) -> dict[str, str]:
    return framework_facts(framework(name), Notes(**notes), steps(**(metrics or {})))


def test_a_metric_that_is_there_can_be_logged_whatever_the_file_says() -> None:
    assert not_logged(("kl", "reward_std", "clipped_ratio"), steps(kl=0.1)) == "reward_std,clipped_ratio"
    assert not_logged(("kl",), steps(kl=0.1)) == ""
    assert "metrics_not_loggable" in facts("verl")
    assert "reward_std" not in facts("verl", {"reward_std": 0.2})["metrics_not_loggable"]
    assert "metrics_not_loggable" not in facts("table")


@pytest.mark.parametrize(
    ("name", "keys", "meaning"),
    [
        ("openrlhf", ["train/group_reward_std", "train/rollout/reward_std"], "within_group"),
        ("openrlhf", ["train/rollout/reward_std"], "batch"),
        ("trl_grpo", ["reward_std"], "unknown"),
        ("table", ["std_reward"], "unknown"),
    ],
)
def test_the_spread_is_what_its_best_key_is(name: str, keys: list[str], meaning: str) -> None:
    assert facts(name, mapped={"reward_std": dict.fromkeys(keys)})["reward_std_semantics"] == meaning


def test_without_a_spread_or_a_divergence_nothing_is_said_of_them() -> None:
    assert facts("openrlhf").keys() == {"metrics_not_loggable"}
    assert "kl_semantics" not in facts("verl", mapped={"kl": {"actor/kl_loss": None}})
    assert facts("trl_ppo", mapped={"kl": {"objective/kl": None}})["kl_semantics"] == "sum_per_sequence"


def test_what_was_computed_is_written_down_with_its_formula() -> None:
    told = facts("tinker", derived={"mean_length": "a / b", "zero_std_fraction": "1 - \ud800"})
    assert told["metrics_derived"] == "mean_length = a / b; zero_std_fraction = 1 - \\ud800"


def test_what_is_off_or_unreadable_is_listed() -> None:
    told = facts("table", switched_off={"kl": ("kl", 9), "entropy": ("entropy", 9)}, unreadable={"clipped_ratio"})
    assert (told["metrics_switched_off"], told["metrics_unreadable"]) == ("kl,entropy", "clipped_ratio")


@pytest.mark.parametrize(("name", "told"), [("table", True), ("trl_grpo", True), ("unsloth", True), ("verl", False)])
def test_keys_that_should_agree_and_do_not_are_named(name: str, told: bool) -> None:
    notes = Notes(differing={"actor/loss": "actor/pg_loss"})
    sentence = "'actor/pg_loss' and 'actor/loss' are both logged and differ: 'actor/pg_loss' is used"
    assert remarks(notes, framework(name), quoted=True) == ([sentence] if told else [])


def test_what_is_switched_off_is_said_with_its_key() -> None:
    notes = Notes(switched_off={"kl": ("train/kl_penalty", 6)})
    assert remarks(notes, framework("nemo_rl"), quoted=True) == [
        "'train/kl_penalty' is exactly 0 in all 6 training rows: kl taken as not measured"
    ]
