"""All checkpoints of the held-out rows against the best: from rows to the table of the verdict."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlchecks.errors import UsageError
from rlchecks.heldout import ComparisonRequest, Scorer, read_rows
from rlchecks.heldout.checkpoint_curve import MOST, checkpoint_curve
from rlchecks.readers import read_run
from rlchecks.signals.kl_curve import distances

ASKED = ComparisonRequest(graders=(Scorer("grader"),), graders_known=True)
Answers = Callable[..., list[dict[str, Any]]]


def scores(chance: float, questions: int = 200) -> list[float]:
    """Correct answers to the first share of the questions: checkpoints differ by questions gained only."""
    return [float(number < round(chance * questions)) for number in range(questions)]


@pytest.fixture
def several(make_rows: Any, answers: Answers) -> Callable[..., Any]:
    """Rows of checkpoints 0, 40, 80, ... with these shares of correct answers."""

    def build(*chances: float, **fields: Any) -> Any:
        groups = [
            answers("base" if not at else f"checkpoint-{40 * at}", scores(chance), step=40 * at, **fields)
            for at, chance in enumerate(chances)
        ]
        return make_rows(*groups)

    return build


def found(rows: Any, request: ComparisonRequest = ASKED, **options: Any) -> dict[str, Any]:
    document = checkpoint_curve(rows, request, **options)
    assert document is not None
    json.dumps(document, allow_nan=False)
    return document


def test_the_earliest_that_is_as_good_is_named(several: Any) -> None:
    document = found(several(0.3, 0.69, 0.7))
    assert (document["best"], document["as_good"], document["reason"]) == ("checkpoint-80", "checkpoint-40", None)
    assert (document["judge"], document["decoding"], document["confidence"]) == ("exact", "greedy", 0.95)
    base, early, late = document["rows"]
    assert [row["step"] for row in document["rows"]] == [0, 40, 80]
    assert (base["mean"], late["n_questions"]) == (pytest.approx(0.3), 200)
    assert (base["may_be_best"], early["may_be_best"], late["may_be_best"]) == (False, True, True)
    assert early["difference"] == pytest.approx(-0.01)
    assert -0.05 < early["ci_lower"] < early["difference"]
    assert base["kl"] is None
    assert document["kl_curve"] is None


def test_a_margin_is_the_tolerance(several: Any) -> None:
    rows = several(0.3, 0.6, 0.7)
    assert found(rows)["as_good"] == "checkpoint-80"
    wide = ComparisonRequest(graders=ASKED.graders, graders_known=True, margin=0.2)
    assert found(rows, wide)["as_good"] == "checkpoint-40"


def test_too_few_questions_leave_it_open(make_rows: Any, answers: Answers) -> None:
    rows = make_rows(*(answers(name, scores(0.5, 20), step=at) for at, name in enumerate("abc")))
    document = found(rows)
    assert document["as_good"] is None
    assert "20 questions" in document["reason"]
    assert all(row["may_be_best"] for row in document["rows"])


def test_two_checkpoints_or_no_judge_make_no_table(several: Any) -> None:
    assert checkpoint_curve(several(0.3, 0.7), ASKED) is None
    nobody = ComparisonRequest(graders=(Scorer("exact"),), graders_known=True)
    assert checkpoint_curve(several(0.3, 0.5, 0.7), nobody) is None


def test_a_checkpoint_without_a_place_is_left_out(make_rows: Any, answers: Answers) -> None:
    rows = make_rows(
        answers("start", scores(0.2)),
        answers("checkpoint-40", scores(0.5), step=40),
        answers("checkpoint-80", scores(0.6), step=80),
        answers("merged", scores(0.9)),
    )
    asked = ComparisonRequest(baseline="start", candidate="checkpoint-80", graders=ASKED.graders, graders_known=True)
    document = found(rows, asked)
    # A baseline without a step is the starting model.
    assert [(row["checkpoint"], row["step"]) for row in document["rows"]] == [
        ("start", None), ("checkpoint-40", 40), ("checkpoint-80", 80),
    ]  # fmt: skip


def test_names_that_end_in_steps_have_places(make_rows: Any, answers: Answers) -> None:
    rows = make_rows(*(answers(f"checkpoint-{at}", scores(0.5)) for at in (100, 20, 3)))
    assert [row["step"] for row in found(rows)["rows"]] == [3, 20, 100]


def test_names_as_trainers_write_them_have_places_beside_others(make_rows: Any, answers: Answers) -> None:
    rows = make_rows(*(answers(name, scores(0.5)) for name in ("start", "checkpoint-80", "checkpoint-40", "v-2024")))
    asked = ComparisonRequest(baseline="start", candidate="checkpoint-80", graders=ASKED.graders, graders_known=True)
    assert [row["checkpoint"] for row in found(rows, asked)["rows"]] == ["start", "checkpoint-40", "checkpoint-80"]


def test_training_prompts_do_not_count(several: Any) -> None:
    asked = ComparisonRequest(
        graders=ASKED.graders, graders_known=True, training_prompts=[f"prompt {number}" for number in range(50)]
    )
    assert {row["n_questions"] for row in found(several(0.3, 0.5, 0.7), asked)["rows"]} == {150}


def test_unscored_and_doubled_answers_do_not_count(make_rows: Any, answers: Answers) -> None:
    late = [None if number < 10 else score for number, score in enumerate(scores(0.7))]
    rows = make_rows(
        answers("base", scores(0.3), step=0),
        answers("checkpoint-40", scores(0.6), step=40),
        answers("checkpoint-40", [0.0] * 200, step=40),
        answers("checkpoint-80", late, step=80),
    )
    _, early, last = found(rows)["rows"]
    assert (early["mean"], early["n_questions"]) == (pytest.approx(0.6), 200)
    assert last["n_questions"] == 190


def test_a_lower_is_better_judge_and_its_range(make_rows: Any, answers: Answers) -> None:
    noise = np.random.default_rng(2)
    groups = [answers(f"checkpoint-{at}", list(noise.normal(9 - at, 0.5, 200).clip(0, 10)), step=at) for at in range(4)]
    asked = ComparisonRequest(judges=(Scorer("exact", 0, 10, higher_is_better=False),), graders_known=True)
    document = found(make_rows(*groups), asked)
    assert (document["best"], document["as_good"]) == ("checkpoint-3", "checkpoint-3")
    assert document["tolerance"] == pytest.approx(0.5)
    assert document["rows"][0]["mean"] == pytest.approx(9, abs=0.1)
    assert document["rows"][0]["difference"] == pytest.approx(-3, abs=0.2)


def test_a_score_out_of_range_elsewhere_does_not_stop_the_gate(make_rows: Any, answers: Answers) -> None:
    rows = make_rows(
        answers("base", scores(0.3), step=0), answers("mid", [5.0] * 200, step=1), answers("late", scores(0.7), step=2)
    )
    asked = ComparisonRequest(judges=(Scorer("exact", 0, 1),), graders_known=True)
    document = found(rows, asked)
    assert document["rows"] == []
    assert "declared 0..1" in document["reason"]


def test_one_checkpoint_of_several_steps_is_refused(make_rows: Any, answers: Answers) -> None:
    rows = make_rows(
        answers("a", scores(0.3), step=0), answers("b", scores(0.3), step=1), answers("b", scores(0.3), step=2)
    )
    with pytest.raises(UsageError, match="several steps"):
        checkpoint_curve(rows, ASKED)


def test_very_many_checkpoints_are_not_compared(make_rows: Any, answers: Answers) -> None:
    rows = make_rows(*(answers(f"checkpoint-{at}", [0.0, 1.0], step=at) for at in range(MOST + 1)))
    assert found(rows)["reason"] == f"{MOST + 1} checkpoints, more than {MOST}"


def test_six_checkpoints_with_kl_have_a_curve(make_rows: Any, answers: Answers) -> None:
    noise, d = np.random.default_rng(3), np.linspace(0, 1.2, 8)
    chance = 0.3 + np.where(d > 0, d * (0.25 - 0.5 * np.log(np.where(d > 0, d, 1))), 0)
    groups = [
        answers(f"checkpoint-{at}", (noise.random(400) < p).astype(float).tolist(), step=at)
        for at, p in enumerate(chance)
    ]
    document = found(make_rows(*groups), kl=lambda step: float(d[step] ** 2))
    curve = document["kl_curve"]
    assert curve["n"] == 8
    assert curve["reason"] is None
    assert curve["peak_kl_low"] < np.exp(0.5 - 1) ** 2 < curve["peak_kl_high"]
    assert [row["kl"] for row in document["rows"]] == pytest.approx(list(d**2))
    few = found(make_rows(*groups[:5]), kl=lambda step: float(d[step] ** 2))["kl_curve"]
    assert few["peak_kl"] is None
    assert few["reason"] == "5 checkpoints with a score and a KL, fewer than 6"
    assert found(make_rows(*groups), kl=lambda step: None)["kl_curve"]["reason"].startswith("the log has no KL")


@pytest.mark.parametrize(
    ("name", "grader", "best", "possible", "kl"),
    [
        ("healthy-s1", "accuracy_reward", "checkpoint-120", [False, False, False, True], None),
        ("kl-drift", "saturating_reward", "base", [True, False, False], [0.0, 0.71, 1.65]),
        ("hack-lazy-s30", "lazy_grader_reward", "base", [True, False, False], [0.0, 0.09, 0.44]),
    ],
)
def test_real_runs(
    shared_data: Path, name: str, grader: str, best: str, possible: list[bool], kl: list[float] | None
) -> None:
    rows = read_rows([shared_data / "trl" / name / "eval"])
    asked = ComparisonRequest(graders=(Scorer(grader),), graders_known=True)
    document = found(rows, asked, kl=distances(read_run(shared_data / "trl" / name)))
    assert (document["best"], document["as_good"]) == (best, best)
    assert [row["may_be_best"] for row in document["rows"]] == possible
    if kl is not None:
        assert [row["kl"] for row in document["rows"]] == pytest.approx(kl, abs=0.01)
    assert document["kl_curve"]["peak_kl"] is None


def test_greedy_answers_of_a_sharpened_model_do_not_differ(shared_data: Path) -> None:
    rows = read_rows([shared_data / "trl" / "healthy-s1" / "eval"])
    asked = ComparisonRequest(graders=(Scorer("accuracy_reward"),), graders_known=True, decoding="greedy")
    document = found(rows, asked)
    assert (document["best"], document["as_good"]) == ("checkpoint-40", "checkpoint-40")
    assert all(row["may_be_best"] for row in document["rows"])
