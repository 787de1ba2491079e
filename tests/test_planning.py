"""What ``rlchecks plan`` says, without and with a pilot."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from rlchecks.errors import UsageError
from rlchecks.heldout import ComparisonRequest, Scorer
from rlchecks.planning import plan

ASKED = ComparisonRequest(baseline="base", candidate="tuned-1", judges=(Scorer("judge", 0.0, 1.0),))


def pilot(path: Path, base: np.ndarray, tuned: np.ndarray) -> tuple[str, ...]:
    """Files of both sides; scores of shape (questions, repeats)."""
    files = []
    for name, scores in (("base", base), ("tuned-1", tuned)):
        rows = [
            {
                "question_id": f"q{question}",
                "checkpoint": name,
                "judge": "judge",
                "score": float(score),
                "epoch": epoch,
                "answer": f"{name} {question} {epoch}",
            }
            for question, row in enumerate(scores)
            for epoch, score in enumerate(row)
        ]
        file = path / f"{name}.jsonl"
        file.write_text("\n".join(map(json.dumps, rows)))
        files.append(str(file))
    return tuple(files)


def scores(questions: int, repeats: int, *, between: float, within: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    gain = between * rng.standard_normal((questions, 1))
    base = 0.5 - gain / 2 + within * rng.standard_normal((questions, repeats))
    tuned = 0.5 + gain / 2 + within * rng.standard_normal((questions, repeats))
    return base.clip(0, 1), tuned.clip(0, 1)


def test_the_variance_between_and_within_is_told_from_a_pilot(tmp_path: Path) -> None:
    files = pilot(tmp_path, *scores(2000, 4, between=0.1, within=0.15))
    found = plan(0.02, 0.0, files, ASKED)
    # .01 + 2 x .0225 / 4, and its upper limit with 1,999 degrees of freedom is 1.066 times that.
    assert found["plans"][0]["variance"] == pytest.approx(0.02125 * 1.066, rel=0.08)
    single = plan(0.02, 0.0, files, ASKED, repeats=1)["plans"][0]
    assert single["variance"] == pytest.approx(0.055 * 1.066, rel=0.08)
    needed = {row["repeats"]: row["questions"] for row in found["repeats"]}
    assert needed[1] == single["questions"]
    assert needed[1] > needed[2] > needed[4] > needed[8] > needed[None] >= 100
    assert needed[None] == pytest.approx(7.8489 * 0.01 * 1.066 / 0.02**2, rel=0.15)


def test_a_pilot_of_single_answers_counts_what_differs(tmp_path: Path) -> None:
    base = np.zeros((200, 1))
    tuned = base.copy()
    tuned[:10] = 1.0
    found = plan(0.05, 0.0, pilot(tmp_path, base, tuned), ASKED)
    # Wilson's upper limit of 10 in 200 is .0896.
    assert found["plans"] == [{"differing_share": pytest.approx(0.0896, abs=5e-5), "questions": 300}]
    assert found["repeats"] == []


def test_few_questions_never_pass() -> None:
    found = plan(0.02, 0.0, (), ASKED, questions=80)
    assert found["never"] == ["80 questions are fewer than 100, and fewer always hold."]
    assert found["lines"][-1].startswith("Never: 80 questions")


def test_repeats_that_cannot_help_are_said_to() -> None:
    found = plan(0.01, 0.0, (), ASKED, questions=500)
    assert len(found["never"]) == 2
    assert "500 questions confirm this with a probability of" in found["never"][0]
    assert "even any number asks for" in found["never"][1]


def test_enough_questions_for_some_share_are_not_never() -> None:
    assert plan(0.05, 0.0, (), ASKED, questions=1000)["never"] == []


def test_a_pilot_that_lost_more_than_the_margin_says_so(tmp_path: Path) -> None:
    base, tuned = scores(300, 2, between=0.05, within=0.1)
    found = plan(0.02, 0.0, pilot(tmp_path, base, (tuned - 0.2).clip(0, 1)), ASKED)
    assert "already shows a loss beyond the margin" in found["never"][0]


def test_many_candidates_ask_for_more() -> None:
    one, twenty = plan(0.02, 0.0, (), ASKED), plan(0.02, 0.0, (), ASKED, candidates=20)
    assert twenty["confidence"] == pytest.approx(0.9975)
    # (3.0233 + .8416)^2 / 7.8489, with the .99875 quantile of the normal distribution
    assert twenty["plans"][3]["questions"] / one["plans"][3]["questions"] == pytest.approx(1.903, abs=0.002)


def test_more_answers_ask_for_fewer_questions_down_to_the_spread_between_them() -> None:
    needed = [plan(0.02, 0.0, (), ASKED, repeats=k)["plans"][3]["questions"] for k in (1, 2, 4, 8, 1000)]
    assert needed == sorted(needed, reverse=True)
    assert needed[-1] >= needed[0] / 4


@pytest.mark.parametrize(
    ("margin", "gain", "more"),
    [(0.0, 0.0, {}), (-0.1, 0.2, {}), (1.0, 0.0, {}), (0.02, 0.0, {"repeats": 0}), (0.02, 0.0, {"questions": 0})],
)
def test_what_no_plan_can_mean_is_refused(margin: float, gain: float, more: dict[str, int]) -> None:
    with pytest.raises(UsageError):
        plan(margin, gain, (), ASKED, **more)  # type: ignore[arg-type]


def test_a_pilot_without_common_questions_is_refused(tmp_path: Path) -> None:
    base, tuned = scores(10, 1, between=0.1, within=0.1)
    files = pilot(tmp_path, base, tuned)
    Path(files[1]).write_text(Path(files[1]).read_text().replace(': "q', ': "other'))
    with pytest.raises(UsageError, match="No question of the pilot"):
        plan(0.02, 0.0, files, ASKED)
