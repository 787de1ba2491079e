"""Evaluations against a server on loopback."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rlchecks.evaluation.request import EvaluateRequest
from rlchecks.evaluation.run import evaluate
from rlchecks.runner import LocalRunner

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """Six questions: what is 0+1, 1+1, ...; two share a source."""
    path = tmp_path / "sums.jsonl"
    rows = [
        {
            "question_id": f"q{i}",
            "prompt": f"what is {i}+1?",
            "target": i + 1,
            "category": "sum",
            "cluster": f"c{i // 2}",
        }
        for i in range(6)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def run(tmp_path: Path, questions: Path) -> Run:
    """Run an evaluation with short waits; options as those of the request."""

    def go(**options: Any) -> dict[str, Any]:
        given = {
            "out": str(tmp_path / "out"),
            "questions": str(questions),
            "judges": ("numeric",),
            "backoff": 0.01,
            "retries": 2,
            "timeout": 20,
            **options,
        }
        return evaluate(EvaluateRequest(**given), LocalRunner(), lambda done, total: None)

    return go
