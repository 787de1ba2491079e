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
    assert all(one["power"] == 0.0 for one in found["plans"])


def test_repeats_that_cannot_help_are_said_to_under_their_assumption() -> None:
    found = plan(0.01, 0.0, (), ASKED, questions=500)
    assert found["lines"][-1] == (
        "  More answers to each question do not suffice if 30% of the questions differ: any number of them asks for "
        f"{found['repeats'][-1]['questions']:,} questions."
    )


@pytest.mark.parametrize("there", [300, 1000])
def test_the_questions_that_there_are_have_a_probability_under_each_assumption(there: int) -> None:
    found = plan(0.02, 0.0, (), ASKED, questions=there)
    powers = [one["power"] for one in found["plans"]]
    assert powers == sorted(powers, reverse=True)
    assert found["never"] == []
    said = next(at for at, line in enumerate(found["lines"]) if line.startswith(f"With {there:,} questions"))
    assert [line.split()[0] for line in found["lines"][said + 1 : said + 5]] == [f"{power:.0%}" for power in powers]


@pytest.mark.parametrize("differing", [0, 20])
def test_a_plan_and_the_power_of_its_questions_agree(tmp_path: Path, differing: int) -> None:
    base = np.zeros((300, 1))
    tuned = base.copy()
    tuned[:differing] = 1.0
    files = pilot(tmp_path, base, tuned)
    needed = plan(0.02, 0.0, files, ASKED)["plans"][0]["questions"]
    enough = plan(0.02, 0.0, files, ASKED, questions=needed)["plans"][0]["power"]
    assert enough >= 0.795
    assert plan(0.02, 0.0, files, ASKED, questions=needed * 2 // 3)["plans"][0]["power"] < 0.8


def test_what_repeats_save_rests_on_a_stated_assumption_without_a_pilot(tmp_path: Path) -> None:
    assert any("25% of the variance is between questions" in line for line in plan(0.02, 0.0, (), ASKED)["lines"])
    files = pilot(tmp_path, *scores(200, 4, between=0.1, within=0.15))
    assert not any("Assumed" in line for line in plan(0.02, 0.0, files, ASKED)["lines"])


def in_clusters(files: tuple[str, ...], size: int) -> tuple[str, ...]:
    for file in map(Path, files):
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        rows = [row | {"cluster": f"c{int(row['question_id'][1:]) // size}"} for row in rows]
        file.write_text("\n".join(map(json.dumps, rows)))
    return files


def test_clusters_whose_questions_move_together_ask_for_that_many_more(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    base = np.zeros((2000, 1))
    # Ten questions of a cluster move together: 200 clusters tell as much as 200 questions.
    moved = np.repeat(rng.choice([0.0, 1.0], size=200, p=[0.9, 0.1]), 10)[:, None]
    files = pilot(tmp_path, base, moved)
    alone = plan(0.02, 0.0, files, ASKED)["plans"][0]
    together = plan(0.02, 0.0, in_clusters(files, 10), ASKED)["plans"][0]
    assert (together["clusters"], together["cluster_size"]) == (200, 10)
    assert 8 < together["questions"] / alone["questions"] < 14
    # The variance of the clusters, times 10 questions; with 199 degrees of freedom its upper limit is 1.24 times that.
    assert together["variance"] == pytest.approx(10 * float(moved[::10].var(ddof=1)) * 1.24, rel=0.03)


def test_clusters_without_anything_in_common_never_ask_for_less(tmp_path: Path) -> None:
    files = pilot(tmp_path, *scores(400, 1, between=0.1, within=0.1))
    alone = plan(0.02, 0.0, files, ASKED)["plans"][0]["questions"]
    assert plan(0.02, 0.0, in_clusters(files, 4), ASKED)["plans"][0]["questions"] >= alone


def test_clusters_of_a_pilot_limit_what_repeats_save(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    base = (0.4 + 0.1 * rng.standard_normal((400, 4))).clip(0, 1)
    tuned = (base + np.repeat(0.1 * rng.standard_normal(40), 10)[:, None] + 0.1 * rng.standard_normal((400, 4))).clip(
        0, 1
    )
    files = pilot(tmp_path, base, tuned)
    alone = plan(0.02, 0.0, files, ASKED)["repeats"]
    together = plan(0.02, 0.0, in_clusters(files, 10), ASKED)["repeats"]
    assert all(more["questions"] > less["questions"] for more, less in zip(together, alone, strict=True))


def test_a_pilot_of_one_cluster_is_refused(tmp_path: Path) -> None:
    files = in_clusters(pilot(tmp_path, *scores(50, 1, between=0.1, within=0.1)), 50)
    with pytest.raises(UsageError, match="one cluster"):
        plan(0.02, 0.0, files, ASKED)


def test_a_range_that_is_not_declared_is_asked_for(tmp_path: Path) -> None:
    files = pilot(tmp_path, *(8 * side for side in scores(50, 1, between=0.1, within=0.1)))
    guessed = ComparisonRequest(baseline="base", candidate="tuned-1", judges=(Scorer("judge"),))
    with pytest.raises(UsageError, match=r"range of judge's scores is not declared.*--judge judge:0\.\.10"):
        plan(0.02, 0.0, files, guessed)


def test_the_judges_of_a_pilot_are_listed_where_none_decides(tmp_path: Path) -> None:
    files = pilot(tmp_path, *scores(50, 1, between=0.1, within=0.1))
    for file in map(Path, files):
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        file.write_text("\n".join(json.dumps(row | {"judge": name}) for row in rows for name in ("judge", "strict")))
    nobody = ComparisonRequest(baseline="base", candidate="tuned-1")
    with pytest.raises(UsageError, match=r"name one with --judge \(it has judge, strict\)"):
        plan(0.02, 0.0, files, nobody)


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
