"""The vocabulary against the list of aliases that was gathered from the frameworks' sources, where that list is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from rlchecks.readers.aliases import Framework, framework, frameworks

# Their names for our metrics.
OURS = {
    "sampler_ratio_mean": "sampler_ratio",
    "sampler_logp_diff_mean": "sampler_logp_difference",
    "validation_reward": "reward",
}
# Not part of the vocabulary: nothing judges them.
OTHERS = {"policy_clip_low", "policy_clip_high", "max_terminated_length", "min_terminated_length", "grader_error_rate"}
# What is read as the section of another framework, since it logs the very same keys.
READ_AS = {"trl_rloo": ("trl_rloo", "trl_grpo")}
DEVIATIONS = {
    ("trl_rloo", "objective/entropy"): "a sum over an answer; policy/entropy_avg, always beside it, is per token",
    ("verl", "perf/total_num_tokens"): "the tokens of one step, not those so far",
    ("areal", "ppo_actor/kl_rewards/avg"): "minus the coefficient times the estimate: no divergence",
    ("tinker", "env/all/stop/max_tokens"): "averaged only over the answers that were cut: 1 or absent",
}
# A pattern stands for keys like these.
EXAMPLES = {
    "dataset": "openai",
    "benchmark": "gsm8k",
    "var": "acc",
    "func": "correct",
    "env": "agg",
    "subset": "all",
    "agent": "solver",
    "role": "default",
    "reward": "1.0",
    "n": "8",
    "k": "8",
}


@pytest.fixture(scope="module")
def listed(shared_data: Path) -> dict[str, Any]:
    path = shared_data.parent / "docs" / "metric_aliases.yaml"
    if not path.is_file():
        pytest.skip("the list of aliases is not there")
    yaml = pytest.importorskip("yaml")
    document: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return document


def means(known: Framework, key: str, metric: str) -> bool:
    """Whether a key is read as a metric, from its own value or by a formula."""
    found = {target.name for target in (known.target(key), known.eval_target(key)) if target}
    return metric in found or any(key in one.operands for one in known.derived.get(metric, ()))


def example(pattern: str) -> str:
    """Make a key that a pattern of the list describes."""
    key = re.sub(r"\(\?P<(\w+)>(?:[^()]|\([^()]*\))*\)", lambda found: EXAMPLES[found[1]], pattern.strip("^$"))
    key = key.replace("[^/]+/all/[^/]+", "agg/all/solver").replace(r"\d+", "0")
    key = re.sub(r"\(([^|()]+)\|[^()]*\)", r"\1", key)
    return key.replace("\\", "")


def test_every_framework_of_the_list_has_a_section(listed: dict[str, Any]) -> None:
    assert listed["frameworks"].keys() <= frameworks().keys()


def test_every_listed_key_is_read_as_its_metric(listed: dict[str, Any]) -> None:
    wrong = []
    for metric, entry in listed["metrics"].items():
        if metric in OTHERS or metric.startswith("reward_func"):
            continue
        for name, alias in entry["aliases"].items():
            name = alias.get("framework", name)
            keys = [*alias.get("keys", ()), *map(example, alias.get("patterns", ()))]
            wrong += [(name, key, metric) for key in keys if not read_as(name, key, OURS.get(metric, metric))]
    assert {(name, key) for name, key, _ in wrong} == DEVIATIONS.keys()


def read(name: str) -> list[Framework]:
    """The sections as which the logs of a framework are read."""
    return [framework(one) for one in READ_AS.get(name, (name,))]


def read_as(name: str, key: str, metric: str) -> bool:
    if any(means(one, key, metric) for one in read(name)):
        return True
    # The validation reward of one of several sets.
    targets = [one.eval_target(key) for one in read(name)]
    return metric == "reward" and any(one and one.name.startswith("reward/") for one in targets)


def test_what_a_derived_metric_follows_from_is_used_where_it_suffices(listed: dict[str, Any]) -> None:
    useless = {"slime": "counts without the number of groups", "skyrl": "a count without the number of groups"}
    for name, alias in listed["metrics"]["zero_std_fraction"]["aliases"].items():
        keys = [*alias.get("component_keys", ()), *map(example, alias.get("component_patterns", ()))]
        formulas = framework(name).derived.get("zero_std_fraction", ())
        assert any(one.choices(keys) for one in formulas) == (bool(keys) and name not in useless), name


def test_every_listed_reward_function_is_found(listed: dict[str, Any]) -> None:
    for metric, prefix in (("reward_func", "reward/"), ("reward_func_std", "reward_std/")):
        for name, alias in listed["metrics"][metric]["aliases"].items():
            for key in map(example, alias.get("patterns", ())):
                found = {target.name for one in read(name) if (target := one.target(key))}
                assert found == {f"{prefix}correct"}, (name, key)
            for key in alias.get("exclude", ()):
                target = framework(name).target(key)
                assert target is None or not target.name.startswith(prefix)


def test_what_the_list_says_may_never_be_truncation_is_none(listed: dict[str, Any]) -> None:
    for key in listed["metrics"]["clipped_ratio"]["never"]:
        for known in frameworks().values():
            target = known.target(key)
            assert target is None or target.name != "clipped_ratio"


@pytest.mark.parametrize("kind", ["fingerprint_any", "fingerprint_all", "fingerprint_all_old"])
def test_the_listed_fingerprints_are_keys_that_we_know(listed: dict[str, Any], kind: str) -> None:
    for name, entry in listed["frameworks"].items():
        keys = entry.get(kind, [])
        known = framework(name)
        fingerprints = {key for fingerprint in known.fingerprints for key in fingerprint}
        assert not keys or any(known.bare(key) in fingerprints or known.target(key) for key in keys), name
