"""What run logs tell of the models in the training."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rlchecks.heldout.scorer import Scorer, parse_scorer
from rlchecks.heldout.trained import base_models, graders_told
from rlchecks.readers.settings import settings
from rlchecks.readers.trl_neighbours import look_around
from rlchecks.run import RunLog
from rlchecks.schema import STEPS


def run(**facts: str) -> RunLog:
    return RunLog("r", "r", "r", "trl_grpo", STEPS.empty_table(), facts=facts)


@pytest.mark.parametrize(
    ("config", "facts"),
    [
        ({"_name_or_path": "Qwen/Qwen2.5-7B"}, {"base_model": "Qwen/Qwen2.5-7B"}),
        ({"model_name_or_path": "a", "_name_or_path": "b"}, {"base_model": "a"}),
        ({"model_name_or_path": "None", "_name_or_path": ""}, {}),
        ({"actor_rollout_ref/model/path": "a"}, {"base_model": "a"}),
        ({"actor_rollout_ref": {"model": {"path": "a"}}}, {"base_model": "a"}),
        ({"actor_rollout_ref": {"model": "a"}}, {}),
        ({"reward_model_path": "org/rm"}, {"reward_model": "org/rm"}),
        # verl's default configuration names a reward model that is not used.
        ({"reward_model": {"enable": False, "model": {"path": "org/rm"}}}, {}),
        ({"reward_model/model/path": "org/rm"}, {}),
        ({"reward_model": {"enable": True, "model": {"path": "org/rm"}}}, {"reward_model": "org/rm"}),
        ({"reward_model/enable": "True", "reward_model/model/path": "org/rm"}, {"reward_model": "org/rm"}),
    ],
)
def test_settings_name_the_models(config: dict[str, Any], facts: dict[str, str]) -> None:
    assert settings(config).facts == facts


@pytest.mark.parametrize(
    ("name", "content", "model"),
    [
        ("README.md", "---\nbase_model: Qwen/Qwen2.5-0.5B\nlibrary_name: trl\n---\n", "Qwen/Qwen2.5-0.5B"),
        ("README.md", "---\nbase_model: [a, b]\n---\n", None),
        ("adapter_config.json", json.dumps({"base_model_name_or_path": "org/base"}), "org/base"),
        ("args.json", json.dumps({"model": "org/base"}), "org/base"),
        ("config.json", json.dumps({"_name_or_path": "org/base"}), "org/base"),
        ("config.json", json.dumps({"_name_or_path": 3}), None),
    ],
)
def test_the_files_beside_a_log_name_the_model(tmp_path: Path, name: str, content: str, model: str | None) -> None:
    (tmp_path / name).write_text(content)
    assert look_around([tmp_path]).facts.get("base_model") == model


def test_an_adapters_base_counts_before_the_models_own_path(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": "org/base", "beta": 9}))
    (tmp_path / "config.json").write_text(json.dumps({"_name_or_path": "out/checkpoint-10"}))
    assert look_around([tmp_path]).facts == {"base_model": "org/base"}


def test_the_base_model_of_a_run() -> None:
    assert base_models(run(base_model="org/base")) == ("org/base",)
    assert base_models(run()) == base_models(run(base_model="")) == ()


@pytest.mark.parametrize(
    ("graders", "name"),
    [
        ((), "Skywork-RM"),
        ((Scorer("lazy"),), "Skywork-RM"),
        ((Scorer("lazy"), Scorer("rewards/skywork_rm")), "rewards/skywork_rm"),
        ((parse_scorer("helpfulness:0..10:model=Skywork-RM"),), "helpfulness"),
    ],
)
def test_a_reward_model_is_the_grader_of_its_name_or_another_one(graders: tuple[Scorer, ...], name: str) -> None:
    (told,) = graders_told(run(reward_model="Skywork/Skywork-RM"), graders)
    assert (told.name, told.kind, told.models) == (name, "model", ("Skywork/Skywork-RM",))
    assert graders_told(run(), graders) == ()
