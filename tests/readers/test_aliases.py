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


# Every key that any framework's section says may never be a metric, and those that all sources warn of.
TRAPS: dict[str, set[str]] = {
    "clipped_ratio": {"clip_ratio/low_mean", "clip_ratio/high_mean", "cispo_clip_ratio", "loss/clipped_token_fraction"},
    "policy_clip_fraction": {
        *("completions/clipped_ratio", "response_length/clip_ratio", "response_clip_ratio", "truncation_rate"),
        *("is_truncated/mean", "rollout/truncated_ratio", "ppo_actor/no_eos_ratios/avg", "prompt_length/clip_ratio"),
    },
    "kl": {"ppo_kl", "approx_kl", "optim/kl_sample_train_v2", "train/kl_sample_train_v1", "kl_pre_post_v1"},
    "reward": {"critic/rewards/mean", "rollout/rewards", "objective/rlhf_reward", "filtered_reward", "return"},
}
for section in DOCUMENT.values():
    for metric, traps in section.get("never", {}).items():
        TRAPS.setdefault(metric, set()).update(traps)
# What the same key is in another framework.
MEANT = {
    ("trl_nash_md", "rewards/chosen"),
    # Only where kl compares with the sampler is it another metric.
    *((name, "kl") for name in NAMES if name != "trl_async_grpo"),
    # In torchtune's PPO the score of the grader, in OpenRLHF one after shaping.
    *((name, "score") for name in NAMES if name != "openrlhf"),
    *((name, "return") for name in NAMES if name != "openrlhf"),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_key_that_is_another_metric_is_never_taken_for_its_look_alike(name: str) -> None:
    known = framework(name)
    for canonical, keys in TRAPS.items():
        for key in keys:
            if (name, key) in MEANT:
                continue
            for form in (key, f"train/{key}", f"eval_{key}", f"eval/{key}", f"val/{key}", f"test/{key}"):
                assert name_of(name, form) != canonical, form
                target = known.eval_target(form)
                assert target is None or target.name != canonical, form
            for formula in known.derived.get(canonical, ()):
                if formula.name == "times":
                    assert key not in formula.operands


def test_the_traps_are_those_of_every_source() -> None:
    policy = {"actor/pg_clipfrac", "train/pg_clipfrac", "ppo_clip_ratio", "clipfrac", "policy/clipfrac_avg"}
    assert policy <= TRAPS["clipped_ratio"]
    old = {"actor/ppo_kl", "train/ppo_kl", "vllm_kl", "gen_kl_error", "mismatch_kl/mean", "policy/approxkl_avg"}
    assert old <= TRAPS["kl"]
    assert "ppo_actor/kl_rewards/avg" in TRAPS["kl"]


@pytest.mark.parametrize("name", NAMES)
def test_no_framework_mixes_up_the_two_kinds_of_clipping(name: str) -> None:
    for canonical in ("clipped_ratio", "policy_clip_fraction"):
        assert canonical not in {name_of(name, key) for key in TRAPS[canonical]}


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


@pytest.mark.parametrize(
    ("name", "key"),
    [("table", "eval_score"), ("verl", "val-core/gsm8k/acc/mean@1"), ("rllm", "reward/solver/mean")],
)
def test_a_column_that_the_user_calls_the_reward_is_that_of_training(name: str, key: str) -> None:
    own = framework(name).among([key, "reward/judge/mean"]).with_columns({key: "reward"})
    assert not own.is_eval(key)
    assert own.target(key) == own.eval_target(key) == ("reward", -1)
    assert own.is_reward(key)


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


def changed(section: str, table: str, **entries: Any) -> dict[str, Any]:
    document = copy.deepcopy(DOCUMENT)
    document[section].setdefault(table, {}).update(entries)
    return document


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (changed("trl_grpo", "metrics", clipped_ratio=["clip_ratio/low_mean"]), "may never be clipped_ratio"),
        (changed("trl_grpo", "metrics", kl=["entropy"]), "entropy is both"),
        (changed("table", "metrics", rewardd=["x"]), r"\['rewardd'\] is no canonical metric"),
        (changed("table", "validation", rewardd=["x"]), r"\['rewardd'\] is no canonical metric"),
        (changed("tinker", "patterns", kl=["teacher_.+"]), "may never be kl"),
        (changed("slime", "derived", rewardd=[]), r"\['rewardd'\] is no canonical metric"),
        (changed("slime", "derived", kl=[{"product": ["a", "b"]}]), "product of 2 keys is no formula"),
        (changed("slime", "derived", kl=[{"ratio": ["a"]}]), "ratio of 1 keys is no formula"),
        (changed("slime", "derived", kl=[{"ratio": ["a", "b"], "sum": ["a", "b"]}]), "is no formula"),
        (changed("slime", "semantics", reward="batch"), "batch is nothing that reward could mean"),
        (changed("slime", "semantics", **{"rollout/raw_reward": "batch"}), "could mean"),
        ({**DOCUMENT, "own": {"title": "t", "versions": "v", "metrix": {}}}, r"no entry is named \['metrix'\]"),
        ({**DOCUMENT, "own": {"title": "t", "versions": "v", "not_loggable": ["x"]}}, "is no canonical metric"),
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
    own = DOCUMENT[name]
    logged = {metric for metric, keys in own.get("metrics", {}).items() if set(keys) - {metric}}
    logged |= own.get("patterns", {}).keys() | own.get("derived", {}).keys()
    assert not logged & set(own.get("not_loggable", ()))
    assert not known.ambiguous.keys() & known.metrics.keys()


def test_many_different_keys_do_not_fill_the_memory() -> None:
    known = framework("table")
    for number in range(25_000):
        known.target(f"k{number}")
    assert len(known._found) <= 10_000


@pytest.mark.parametrize("prefix", ["", "train/"])
@pytest.mark.parametrize("name", ["trl_grpo", "trl_ppo", "table"])
def test_the_closing_row_is_known_with_and_without_a_trackers_prefix(name: str, prefix: str) -> None:
    known = framework(name)
    assert known.is_marker(f"{prefix}train_runtime")
    assert not known.is_marker(f"{prefix}runtime")
    assert known.sums_up(f"{prefix}train_loss")
    assert known.sums_up(f"{prefix}total_flos")
    assert not known.sums_up(f"{prefix}reward")


def test_a_framework_without_a_marker_has_no_closing_row() -> None:
    assert not any(map(framework("verl").is_marker, ("", "critic/score/mean")))


@pytest.mark.parametrize(
    ("keys", "name"),
    [
        (["mismatch_kl/mean", "optim/lr", "mean_reward"], "table"),
        (["mismatch_kl/mean", "optim/lr"], "prime_rl"),
        (["mismatch_kl/mean", "optim/lr", "reward/mean"], "prime_rl"),
        (["probs_ratio_clamped", "avg_reward"], "table"),
    ],
)
def test_a_framework_that_finds_no_reward_yields_to_one_that_does(keys: list[str], name: str) -> None:
    assert recognise(keys, "table").name == name


@pytest.mark.parametrize(
    ("name", "key", "meaning"),
    [
        ("openrlhf", "group_reward_std", "within_group"),
        ("openrlhf", "train/group_reward_std", "within_group"),
        ("openrlhf", "train/rollout/reward_std", "batch"),
        ("rllm", "reward/solver/std", "batch"),
        ("rllm", "batch/solver/group_reward_std/p50", "within_group_median"),
        ("trl_grpo", "reward_std", None),
        ("trl_ppo", "train/objective/kl", "sum_per_sequence"),
        ("torchtune", "kl_loss", None),
        ("table", "group_reward_std", "within_group"),
        ("table", "xgroup_reward_std", None),
    ],
)
def test_a_key_says_which_spread_or_divergence_it_is(name: str, key: str, meaning: str | None) -> None:
    assert framework(name).meaning(key) == meaning
