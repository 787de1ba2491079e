"""Files of public repositories: each is read, or refused, as the README beside them says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rlchecks.archive import Archive
from rlchecks.ingest import ingest
from rlchecks.requests import IngestRequest
from rlchecks.runner import LocalRunner

# Run by its file or directory: steps with a reward, framework.
READ = {
    "trl_state/sqlgen-1000steps/trainer_state_1000steps.json": (200, "trl_grpo"),
    "trl_state/sqlgen-ckpt75/trainer_state_checkpoint-75.json": (15, "trl_grpo"),
    "trl_state/unsloth-grpo-250": (250, "trl_grpo"),
    "trl_state/gemma3-rl-250": (25, "trl_grpo"),
    "trl_state/f1sim-ckpt500": (50, "unsloth"),
    "trl_state/xling-a2-vi-42": (10, "trl_grpo"),
    "trl_console/openenv-hack-output1/output1.txt": (200, "trl_grpo"),
    # Thirty steps; the others learn from the answers of these once more.
    "trl_console/budget-router-len3500/grpo_probe_0.6b_n8_t12_len3500.log": (4, "trl_grpo"),
    "trl_console/medicalgpt/grpo_log.txt": (2, "trl_grpo"),
    "trl_console/sqlgen-slurm/3b_3lvl_1639580.out": (15, "trl_grpo"),
    "trl_console/xling-a2/training.log": (10, "trl_grpo"),
    "verl/getting-started-ipynb/verl_getting_started.ipynb": (61, "verl"),
    "tinker/arithmetic-metrics/arithmetic_metrics.jsonl": (100, "tinker"),
    "tinker/distillation-on-metrics/distillation_on_metrics.jsonl": (35, "tinker"),
    "custom_jsonl/countdown-grpo/metrics.jsonl": (500, "table"),
    # Fourteen rows, twelve of which repeat a step.
    "custom_jsonl/rookworld/training_history.jsonl": (2, "table"),
}
# What is no run, and why.
SKIPPED = {
    # The 250 steps of the run that is read from f1sim-ckpt500.
    "trl_state/f1sim-ckpt250": "an earlier checkpoint of ",
    "trl_state/viz-demo": "216 logged rows, none with a reward",
    "tinker/distillation-off-metrics/distillation_off_metrics.jsonl": "no training log that is known: found rows with",
    "verl/logic-rl-grpo-log/grpo.log": "no training log that is known: found text without a logged step",
    "verl/kg-entropy-kl/task13_entropy_kl_data.json": "3 runs in it, none",
}


@pytest.fixture(scope="module")
def public(shared_data: Path) -> Path:
    return shared_data / "public"


def ingested(archive: Path, *paths: Path) -> dict[str, Any]:
    return ingest(IngestRequest(tuple(map(str, paths)), str(archive), workers=1), LocalRunner())


def named(document: dict[str, Any], key: str, public: Path) -> dict[str, dict[str, Any]]:
    return {str(Path(one["source"]).relative_to(public)): one for one in document[key]}


@pytest.fixture(scope="module")
def document(public: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return ingested(tmp_path_factory.mktemp("public") / "archive", public)


def test_every_run_is_read_with_the_steps_it_has(document: dict[str, Any], public: Path) -> None:
    found = named(document, "runs", public)
    assert {name: (run["metrics"]["reward"]["count"], run["framework"]) for name, run in found.items()} == READ


def test_every_log_that_is_no_run_is_skipped_with_the_reason(document: dict[str, Any], public: Path) -> None:
    skipped = named(document, "skipped", public)
    assert skipped.keys() == SKIPPED.keys()
    for name, reason in SKIPPED.items():
        assert skipped[name]["reason"].startswith(reason)
        assert "\n" not in skipped[name]["reason"]
    assert not document["refused"]


@pytest.mark.parametrize("name", [name for name in SKIPPED if "ckpt" not in name])
def test_what_is_no_run_is_refused_when_it_is_named(name: str, public: Path, tmp_path: Path) -> None:
    document = ingested(tmp_path / "archive", public / name)
    assert not document["runs"]
    assert document["refused"]
    assert not Archive(tmp_path / "archive").run_ids()


@pytest.mark.parametrize("folder", ["evals", "inspect", "judges"])
def test_results_of_evaluations_are_not_mentioned(folder: str, public: Path, tmp_path: Path) -> None:
    document = ingested(tmp_path / "archive", public / folder)
    assert (document["runs"], document["refused"], document["skipped"]) == ([], [], [])


def test_results_of_evaluations_are_refused_when_they_are_named(public: Path, tmp_path: Path) -> None:
    files = [
        file for folder in ("evals", "inspect", "judges") for file in (public / folder).rglob("*.*") if file.is_file()
    ]
    document = ingested(tmp_path / "archive", *files)
    assert not document["runs"]
    assert len(document["refused"]) == len(files) > 30


def test_the_tree_that_nobody_touched_is_not_read_again(public: Path, tmp_path: Path) -> None:
    first = ingested(tmp_path / "archive", public)
    second = ingested(tmp_path / "archive", public)
    assert all(run.pop("unchanged") for run in second["runs"])
    assert second == first
