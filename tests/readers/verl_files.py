"""Logs and samples as verl writes them, built from its source."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

KEYS = ("critic/score/mean", "critic/rewards/mean", "actor/ppo_kl", "actor/entropy", "response_length/clip_ratio")


def metrics(step: int, score: float, **extra: Any) -> dict[str, Any]:
    """The metrics of one step."""
    return {
        "training/global_step": step,
        "training/epoch": 0,
        "critic/score/mean": score,
        "critic/rewards/mean": score - 0.1,
        "actor/ppo_kl": 0.001 * step,
        "actor/kl_loss": 0.01 * step,
        "actor/entropy": 1.0 / step,
        "actor/pg_clipfrac": 0.02,
        "actor/lr": 1e-06,
        "response_length/mean": 200.0 + step,
        "response_length/clip_ratio": 0.05,
        **extra,
    }


def write_log(path: Path, rows: Iterable[tuple[int, dict[str, Any]]]) -> Path:
    """Write what the file logger writes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps({"step": step, "data": data}) + "\n" for step, data in rows))
    return path


def rollout(step: int, question: str, score: Any, number: int = 0) -> dict[str, Any]:
    """One sample of a rollout."""
    return {
        "input": f"user\n{question}\nassistant\n",
        "output": f"answer {number} to {question}",
        "gts": "42",
        "score": score,
        "step": step,
        "acc": bool(score),
        "request_id": f"{step}-{question}-{number}",
    }


def validation(step: int, question: str, score: Any, number: int = 0) -> dict[str, Any]:
    """One sample of validation."""
    sample = {"input": f"user\n{question}\nassistant\n", "output": f"answer {number}", "gts": None, "score": score}
    return {**sample, "step": step, "reward": score, "acc": score}


def write_samples(directory: Path, step: int, samples: Sequence[dict[str, Any]]) -> Path:
    """Write what the trainer dumps of one step."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{step}.jsonl"
    path.write_text("".join(json.dumps(sample, ensure_ascii=False) + "\n" for sample in samples))
    return path


def write_rollouts(directory: Path, scores: dict[int, dict[str, Sequence[Any]]]) -> Path:
    """Write rollouts: step to question to the scores of its answers."""
    for step, questions in scores.items():
        samples = [rollout(step, q, s, n) for q, some in questions.items() for n, s in enumerate(some)]
        write_samples(directory, step, samples)
    return directory


def write_validation(directory: Path, scores: dict[int, dict[str, Sequence[Any]]]) -> Path:
    """Write validation samples in the same way."""
    for step, questions in scores.items():
        samples = [validation(step, q, s, n) for q, some in questions.items() for n, s in enumerate(some)]
        write_samples(directory, step, samples)
    return directory
