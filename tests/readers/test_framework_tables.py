"""Frameworks' logs that are plain tables end with the right metrics, and their files of answers do not pass."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rlchecks.errors import NotARunError
from rlchecks.readers import find_runs, read_run
from rlchecks.readers.samples import answers

Write = Callable[[str, str | bytes], Path]
Rows = list[dict[str, Any]]


def lines(rows: Rows) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


TORCHTUNE: Rows = [
    {"step": step, "rewards": 0.1 * step, "successes": 0.5, "clipfrac": 0.02, "kl_loss": 0.01, "response_lengths": 90.0}
    for step in range(1, 4)
]
LLAMA_FACTORY: Rows = [
    {
        **{"current_steps": 10 * step, "total_steps": 100, "loss": 0.5, "reward": 0.1 * step, "lr": 1e-6, "epoch": 0.1},
        **{"percentage": 10.0 * step, "elapsed_time": "0:00:10", "remaining_time": "0:01:00"},
    }
    for step in range(1, 4)
]
ART: Rows = [
    {
        "step": step,
        "train/reward": 0.1 * step,
        "train/reward_std_dev": 0.2,
        "train/exception_rate": 0.05,
        "loss/kl_div": 0.1,
    }
    for step in range(1, 4)
]
SKYRL: Rows = [
    {
        **{"trainer/global_step": step, "reward/avg_raw_reward": 0.1 * step, "generate/avg_num_tokens": 200.0},
        **{"policy/policy_kl": 0.01, "policy/loss_metrics/clip_ratio": 0.3, "policy/response_length": 512},
    }
    for step in range(1, 4)
]
NEMO: Rows = [
    {"step": step, "train/reward": 0.1 * step, "train/probs_ratio_clamped": 1.0, "train/truncation_rate": 0.25}
    for step in range(1, 4)
]
GOOGLE: Rows = [
    {"step": step, "/train_mean_reward": 0.1 * step, "/eval_mean_reward": 0.2 * step, "/train_generation_length": 300.0}
    for step in range(1, 4)
]
SLASH_CSV = "step,/train_mean_reward,/eval_mean_reward\n1,0.1,\n2,0.2,0.4\n3,0.3,\n"


@pytest.mark.parametrize(
    ("framework", "rows", "steps", "metrics"),
    [
        ("torchtune", TORCHTUNE, [1, 2, 3], {"mean_length": 90.0, "policy_clip_fraction": 0.02}),
        ("llama_factory", LLAMA_FACTORY, [10, 20, 30], {"learning_rate": 1e-6, "clipped_ratio": None}),
        ("art", ART, [1, 2, 3], {"reward_std": 0.2, "aborted_ratio": 0.05}),
        ("skyrl", SKYRL, [1, 2, 3], {"mean_length": 200.0, "policy_clip_fraction": 0.3, "clipped_ratio": None}),
        ("nemo_rl", NEMO, [1, 2, 3], {"clipped_ratio": 0.25}),
        ("google_rl_tuning", GOOGLE, [1, 2, 3], {"mean_length": 300.0}),
    ],
)
def test_metrics_logs(
    write: Write, framework: str, rows: Rows, steps: list[int], metrics: dict[str, float | None]
) -> None:
    run = read_run(write("log.jsonl", lines(rows)))
    assert run.framework == framework
    table = run.training_steps
    assert table["step"].to_pylist() == steps
    assert table["reward"].to_pylist() == pytest.approx([0.1, 0.2, 0.3])
    for metric, value in metrics.items():
        assert table[metric].to_pylist() == [value] * 3, metric


def test_slash_keys_in_a_table(write: Write) -> None:
    run = read_run(write("tuning.csv", SLASH_CSV))
    assert run.training_steps["reward"].to_pylist() == [0.1, 0.2, 0.3]
    assert [row["reward"] for row in run.steps.to_pylist() if row["split"] == "eval"] == [0.4]


ANSWERS: dict[str, Rows] = {
    "answers that verifiers evaluated": [
        {"example_id": n, "prompt": [], "completion": [], "answer": "", "reward": 1.0, "is_truncated": False}
        for n in range(3)
    ],
    "answers that SkyRL evaluated": [
        {"input_prompt": "p", "output_response": "r", "score": 1.0, "stop_reason": "stop", "data_source": "x"}
        for _ in range(3)
    ],
    "answers that NeMo-RL dumped": [
        {"content": ["text"], "rewards": [1.0], "input_lengths": [5], "advantages": [0.5], "idx": n} for n in range(3)
    ],
    "answers that verl dumped": [{"input": "p", "output": "r", "gts": "", "score": 1.0, "step": 1} for _ in range(3)],
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_answers_are_known_by_their_fields(kind: str) -> None:
    said = answers(ANSWERS[kind][0])
    assert said is not None
    assert said.startswith(kind)
    assert answers(["step", "reward", "prompt"]) is None


@pytest.mark.parametrize("kind", ANSWERS)
def test_answers_are_no_run(write: Write, kind: str) -> None:
    path = write("results.jsonl", lines(ANSWERS[kind]))
    assert find_runs(path.parent).sources == []
    with pytest.raises(NotARunError):
        read_run(path)
