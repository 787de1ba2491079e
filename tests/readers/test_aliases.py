from __future__ import annotations

import copy
import tomllib
from importlib.resources import files
from typing import Any

import pytest

from rlchecks.errors import UsageError
from rlchecks.metrics import METRICS
from rlchecks.readers.aliases import framework, parse, recognise

DOCUMENT: dict[str, Any] = tomllib.loads(files("rlchecks.readers").joinpath("aliases.toml").read_text("utf-8"))
NAMES = list(DOCUMENT)


def name_of(framework_name: str, key: str) -> str | None:
    target = framework(framework_name).target(key)
    return None if target is None else target.name


@pytest.mark.parametrize("name", NAMES)
def test_a_key_that_is_another_metric_is_never_taken_for_its_look_alike(name: str) -> None:
    never = {**DOCUMENT["trl_grpo"]["never"], **DOCUMENT["table"]["never"], **DOCUMENT[name].get("never", {})}
    for canonical, keys in never.items():
        for key in keys:
            for form in (key, f"train/{key}", f"eval_{key}"):
                assert name_of(name, form) != canonical


@pytest.mark.parametrize("name", ["trl_grpo", "unsloth", "trl_async_grpo", "table"])
def test_policy_clipping_is_not_truncation(name: str) -> None:
    assert name_of(name, "clip_ratio/region_mean") == "policy_clip_fraction"
    assert name_of(name, "completions/clipped_ratio") == "clipped_ratio"
    assert name_of(name, "clip_ratio/high_mean") is None


def test_the_bare_clip_ratio_is_policy_clipping_in_trl_and_unused_elsewhere() -> None:
    assert name_of("trl_grpo", "clip_ratio") == "policy_clip_fraction"
    assert name_of("table", "clip_ratio") is None
    assert "clip_ratio" in framework("table").ambiguous


def test_kl_of_the_asynchronous_trainer_compares_with_the_sampler() -> None:
    assert name_of("trl_grpo", "kl") == "kl"
    assert name_of("trl_async_grpo", "kl") == "kl_sampler"


@pytest.mark.parametrize("key", ["actor/ppo_kl", "ppo_kl", "approx_kl", "mismatch_kl/mean", "train/ppo_kl"])
def test_kl_to_the_old_policy_is_not_kl_to_the_starting_model(key: str) -> None:
    assert name_of("table", key) == "kl_sampler"


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("rewards/accuracy/mean", "reward/accuracy"),
        ("rewards/accuracy", "reward/accuracy"),
        ("rewards/accuracy/std", "reward_std/accuracy"),
        ("rewards/org/model/mean", "reward/org/model"),
        ("rewards/mean/mean", "reward/mean"),
        ("rewards/mean", "reward/mean"),
        ("train/rewards/f/mean", "reward/f"),
        ("rewards/chosen", None),
        ("rewards/rejected", None),
        ("rewards/margins", None),
        ("rewards/accuracies", None),
        ("rewards/a/b", None),
        ("my_rewards/f/mean", None),
        ("reward", "reward"),
        ("train/reward", "reward"),
        ("train/train/reward", None),
        ("total_reward", None),
    ],
)
def test_reward_functions_of_trl_are_found_by_anchored_patterns(key: str, name: str | None) -> None:
    assert name_of("trl_grpo", key) == name


@pytest.mark.parametrize("canonical", METRICS)
def test_canonical_names_are_columns_of_tables(canonical: str) -> None:
    assert name_of("table", canonical) == canonical


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("reward/format", "reward/format"),
        ("reward_std/format", "reward_std/format"),
        ("reward/mean", "reward"),
        ("reward/max", None),
        ("reward/avg_pass_at_4", None),
        ("rewards/mean", None),
        ("rollout/rewards", None),
        ("critic/rewards/mean", None),
        ("critic/score/mean", "reward"),
        ("train_reward", "reward"),
        ("train_loss", "loss"),
        ("response_length/clip_ratio", "clipped_ratio"),
        ("prompt_length/clip_ratio", None),
        ("length", None),
        ("total_length", None),
        ("kl_loss", None),
        ("entropy_loss", None),
    ],
)
def test_keys_of_tables(key: str, name: str | None) -> None:
    assert name_of("table", key) == name


@pytest.mark.parametrize("key", ["eval_reward", "eval/reward", "validation_reward", "val/reward", "test_mean_reward"])
def test_rewards_of_an_evaluation_are_no_training_rewards(key: str) -> None:
    table = framework("table")
    assert table.is_eval(key)
    target = table.eval_target(key)
    assert target is not None
    assert target.name == "reward"
    assert table.target(key) is None


@pytest.mark.parametrize("key", ["valid_fraction", "value_loss", "test_split", "evaluation_reward"])
def test_a_prefix_makes_no_evaluation_of_other_keys(key: str) -> None:
    assert not framework("table").is_eval(key)


@pytest.mark.parametrize(
    ("keys", "name"),
    [
        (["reward", "reward_std", "completions/mean_length", "completions/clipped_ratio"], "trl_grpo"),
        (["reward", "reward_std", "completion_length", "epoch", "grad_norm", "learning_rate"], "trl_grpo"),
        (["reward", "completion_length", "completions/mean_length"], "unsloth"),
        (["reward", "completions/mean_length", "weight_sync_time_s"], "trl_async_grpo"),
        (["mean_reward", "frac_reward_zero_std", "reward_std"], "table"),
        ([], "table"),
    ],
)
def test_frameworks_are_told_by_their_fingerprints(keys: list[str], name: str) -> None:
    assert recognise(keys, "table").name == name


def test_columns_of_the_user_win() -> None:
    own = framework("table").with_columns({"score": "reward", "kl": "kl_sampler", "check": "validation_reward"})
    assert own.target("score") == ("reward", -1)
    assert own.target("kl") == ("kl_sampler", -1)
    assert own.is_eval("check")
    assert own.eval_target("check") == ("reward", -1)
    assert "score" not in own.ambiguous
    assert name_of("table", "score") is None


def test_columns_can_be_steps_epochs_and_reward_functions() -> None:
    own = framework("table").with_columns({"n": "step", "pass_no": "epoch", "acc": "reward/accuracy"})
    assert (own.step[0], own.epoch[0]) == ("n", "pass_no")
    assert own.target("acc") == ("reward/accuracy", -1)


def test_unknown_canonical_names_are_refused_with_the_list() -> None:
    with pytest.raises(UsageError, match=r"'rewardd' is no canonical metric; there are: step, epoch, reward, "):
        framework("table").with_columns({"a": "rewardd"})
    with pytest.raises(UsageError, match="no canonical metric"):
        framework("table").with_columns({"a": "reward/"})


def test_one_canonical_name_takes_one_column() -> None:
    with pytest.raises(UsageError, match="two columns are declared to be 'kl'"):
        framework("table").with_columns({"a": "kl", "b": "kl", "c": "reward"})


def changed(section: str, table: str, **entries: list[str]) -> dict[str, Any]:
    document = copy.deepcopy(DOCUMENT)
    document[section].setdefault(table, {}).update(entries)
    return document


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (changed("trl_grpo", "metrics", clipped_ratio=["clip_ratio/low_mean"]), "may never be clipped_ratio"),
        (changed("trl_grpo", "metrics", kl=["entropy"]), "entropy is both"),
        (changed("table", "metrics", rewardd=["x"]), "rewardd is no canonical metric"),
        (changed("table", "validation", rewardd=["x"]), "rewardd is no canonical metric"),
    ],
)
def test_contradictions_in_the_file_are_refused(document: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse(document)


@pytest.mark.parametrize("name", NAMES)
def test_every_framework_has_title_and_versions_and_known_meanings(name: str) -> None:
    known = framework(name)
    assert known.title
    assert known.versions
    assert all(set(meanings) <= METRICS.keys() for meanings in known.ambiguous.values())
    assert set(known.semantics.values()) <= {"within_group", "batch"}
    assert all(name_of(name, key) == "reward_std" for key in known.semantics)
    assert not known.ambiguous.keys() & known.metrics.keys()


def test_many_different_keys_do_not_fill_the_memory() -> None:
    known = framework("table")
    for number in range(25_000):
        known.target(f"k{number}")
    assert len(known._found) <= 10_000
