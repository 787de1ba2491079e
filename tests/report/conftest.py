"""A small run and a verdict document with every field filled in, for the tests of the report."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from rlchecks.run import RunLog
from rlchecks.schema import COMPLETIONS, STEPS, VALIDATION

HASH = "0f" * 32

DOCUMENT: dict[str, Any] = {
    "version": 1,
    "id": "0123456789abcdef",
    "created_at": "2026-11-30T16:04:12+00:00",
    "decision": "REJECT",
    "summary": "Reward hacking.",
    "run": {"id": "toy-1", "name": "toy", "framework": "trl_grpo"},
    "candidate": "checkpoint-40",
    "baseline": "base",
    "profile": "chat",
    "judge": {"name": "strict", "low": 0.0, "high": 1.0, "decisive": ["strict"], "candidates": ["strict"]},
    "graders": [{"name": "lazy", "low": None, "high": None}],
    "reasons": [
        {
            "code": "reward_hacking",
            "status": "failed",
            "effect": "reject",
            "title": "Reward hacking.",
            "observed": "The grader gained 0.51, the judge lost 0.36.",
            "expected": "in {False}",
            "advice": "Do not promote.",
        },
        {
            "code": "gain_gap",
            "status": "missing",
            "effect": "warn",
            "title": "Gap of the gains.",
            "observed": None,
            "expected": "<= 0.1",
            "advice": "Declare the range.",
        },
        {
            "code": "too_few_questions",
            "status": "passed",
            "effect": "pass",
            "title": "Number of held-out questions.",
            "observed": 200,
            "expected": ">= 100",
            "advice": "",
        },
    ],
    "findings": [
        {
            "code": "learning",
            "severity": "information",
            "title": "The reward rose",
            "meaning": "Learning.",
            "advice": "Let it run.",
            "evidence": {"reward_end": 0.8},
            "onset_step": None,
        },
        {
            "code": "reward_hacking",
            "severity": "critical",
            "title": "The grader gained, the judge lost",
            "meaning": "It pleases its grader.",
            "advice": "Change the grader.",
            "evidence": {"grader_gain": 0.51, "clipped_ratio_late": 0.25},
            "onset_step": 12,
        },
    ],
    "comparison": {
        "difference": -0.358,
        "ci_lower": -0.396,
        "ci_upper": -0.319,
        "confidence": 0.95,
        "n_questions": 200,
        "n_clusters": None,
        "method": "t",
        "decoding": "sample",
        "minimum_detectable": 0.06,
        "margin": 0.02,
        "flips": {"improved": 4, "worsened": 96, "unchanged": 100},
        "gain_gap": {"estimate": 0.87, "ci_lower": 0.82, "ci_upper": 0.92},
        "largest_losses": [
            {
                "question_id": "q-1",
                "prompt": "1+1",
                "baseline_score": 1.0,
                "candidate_score": 0.0,
                "baseline_answer": "2",
                "candidate_answer": "it is 3",
            }
        ],
        "parts": [
            {
                "judge": judge,
                "decoding": decoding,
                "role": role,
                "difference": difference,
                "ci_lower": lower,
                "ci_upper": upper,
                "n_questions": 200,
                "method": "t",
                "reason": reason,
            }
            for judge, decoding, role, difference, lower, upper, reason in (
                ("strict", "sample", "decisive", -0.358, -0.396, -0.319, None),
                ("strict", "greedy", "guard", 0.0, None, None, "the scores never differ"),
                ("lazy", "sample", "grader", 0.514, 0.479, 0.549, None),
            )
        ],
    },
    "checks": [
        {
            "suite": suite,
            "code": "too_few_questions",
            "column": column,
            "title": "Enough.",
            "why": "Too few decide nothing.",
            "outcome": outcome,
            "observed": observed,
            "expected": ">= 100",
            "effect": effect,
        }
        for suite, column, outcome, observed, effect in (
            ("promotion", "n_questions", "passed", 200, "pass"),
            ("promotion", "guard_upper", "not_applicable", None, "ignore"),
            ("training_health", "clipped_ratio_late", "failed", 0.4, "warn"),
        )
    ],
    "override": {"reason": "shown to the board", "who": "somebody"},
    "orchestrator": "recorded",
    "not_measured": ["entropy"],
    "provenance": {
        "inputs": [{"path": "runs/toy/trainer_state.json", "sha256": HASH}],
        "suites": [{"name": "promotion", "sha256": HASH}],
        "versions": {"prefect": "3.9.1"},
        "rlchecks": "0.1.0",
        "command": "rlchecks gate runs/toy",
    },
}


@pytest.fixture
def document() -> dict[str, Any]:
    return copy.deepcopy(DOCUMENT)


@pytest.fixture(scope="session")
def make_run() -> Callable[..., RunLog]:
    """Rows of the steps table, as mappings that leave out what was not logged, to a run."""

    def make(rows: list[dict[str, Any]], **facts: Any) -> RunLog:
        complete = [{"run_id": "toy-1", "split": "train", "extra": [], "extra_text": [], **row} for row in rows]
        given = {"name": "toy", "source": "runs/toy", "framework": "trl_grpo"} | facts
        return RunLog("toy-1", steps=pa.Table.from_pylist(complete, STEPS), **given)

    return make


@pytest.fixture(scope="session")
def run(make_run: Callable[..., RunLog]) -> RunLog:
    """Forty steps with everything logged: two reward functions, validation, answers."""
    rows = [
        {
            "step": step,
            "reward": 0.3 + step / 100,
            "reward_std": 0.4,
            "zero_std_fraction": 0.1,
            "clipped_ratio": 0.02,
            "mean_length": 20.0 + step,
            "kl": step / 1000,
            "extra": [("reward/lazy", 0.3), ("reward/format", 0.6)],
        }
        for step in range(1, 41)
    ]
    answers = [
        {
            "run_id": "toy-1",
            "split": "train",
            "step": step,
            "prompt": f"prompt {n}",
            "completion": f"answer {n}",
            "rewards": [("lazy", n / 10)],
        }
        for step in (10, 40)
        for n in range(6)
    ]
    checks = [
        {"run_id": "toy-1", "step": step, "question_id": question, "score": step / 50}
        for step in (0, 20, 40)
        for question in ("a", "b")
    ]
    return make_run(
        rows,
        planned_steps=40,
        facts={"max_completion_length": "64", "reward_std_semantics": "batch"},
        completions=pa.Table.from_pylist(answers, COMPLETIONS),
        validation=pa.Table.from_pylist(checks, VALIDATION),
    )


@pytest.fixture(scope="session")
def signals() -> dict[str, Any]:
    return {"reward_start": 0.32, "reward_end": 0.68, "clipped_ratio_start": 0.02, "clipped_ratio_late": 0.02}


@pytest.fixture(scope="session")
def trl_run(shared_data: Path, make_run: Callable[..., RunLog]) -> Callable[[str], RunLog]:
    """A real run, its main metrics read by hand from its trainer state."""
    names = {
        "reward": "reward",
        "reward_std": "reward_std",
        "frac_reward_zero_std": "zero_std_fraction",
        "completions/clipped_ratio": "clipped_ratio",
        "completions/mean_length": "mean_length",
        "kl": "kl",
    }

    def read(name: str) -> RunLog:
        state = json.loads((shared_data / "trl" / name / "trainer_state.json").read_text())
        rows = [
            {"step": row["step"], **{ours: row.get(theirs) for theirs, ours in names.items()}}
            for row in state["log_history"]
            if "loss" in row
        ]
        return make_run(rows)

    return read
