"""What the evidence says of judges and graders in a whole comparison."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rlchecks.heldout import Comparison, ComparisonRequest, compare, parse_scorer
from rlchecks.heldout.agreement import COPIED
from rlchecks.heldout.harness.log import JudgeFacts

Scores = list[float | None]
Judged = Callable[..., Comparison]
P, Q = "prompt=" + "a" * 64, "prompt=" + "b" * 64


def random(n: int, seed: int) -> Scores:
    return [float(value) for value in np.random.default_rng(seed).integers(0, 2, n)]


@pytest.fixture
def judged(make_rows: Callable[..., Any], answers: Callable[..., Any]) -> Judged:
    """Compare answers scored by a grader and a judge; ``change`` makes the judge's scores of the grader's."""

    def compared(
        change: Callable[[float], float | None] = lambda score: score,
        *,
        n: int = 100,
        judge: str = "exact",
        grader: str = "lazy",
        base_models: tuple[str, ...] = (),
        told: tuple[JudgeFacts, ...] = (),
    ) -> Comparison:
        groups = []
        for seed, name in enumerate(("base", "tuned")):
            scores = random(n, seed)
            groups.append(answers(name, scores, judge=parse_scorer(grader).name))
            groups.append(answers(name, [change(score) for score in scores], judge=parse_scorer(judge).name))
        request = ComparisonRequest(
            baseline="base",
            candidate="tuned",
            judges=(parse_scorer(judge),),
            graders=(parse_scorer(grader),),
            graders_known=True,
            graders_told=told,
            base_models=base_models,
        )
        return compare(make_rows(*groups), request)

    return compared


@pytest.mark.parametrize(
    "change",
    [lambda score: score, lambda score: 10 * score - 3, lambda score: 1 - score],
    ids=["equal", "rescaled", "reversed"],
)
def test_a_grader_under_another_name_holds(judged: Judged, change: Callable[[float], float]) -> None:
    found = judged(change)
    assert found.evidence["judge_copies_grader"] is True
    assert found.evidence["judge_is_grader"] is None  # neither yes nor no, which an older suite holds for, too
    assert "All 200 scores of exact" in found.observed["judge_copies_grader"]
    assert "--judge exact:kind=rule:prompt=@FILE" in found.observed["judge_copies_grader"]


def test_one_answer_that_differs_makes_a_second_opinion(judged: Judged) -> None:
    seen = iter(range(1000))
    found = judged(lambda score: 1 - score if next(seen) == 7 else score)
    assert found.evidence["judge_copies_grader"] is False
    assert found.evidence["judge_is_grader"] is False
    assert found.evidence["grader_agreement"] == pytest.approx(199 / 200)
    assert "equal scores to 199 of 200 answers" in found.observed["judge_identity_declared"]


def test_answers_that_one_of_them_did_not_score_do_not_count(judged: Judged) -> None:
    seen = iter(range(1000))
    found = judged(lambda score: None if next(seen) % 2 else score)
    assert "All 100 scores" in found.observed["judge_copies_grader"]


@pytest.mark.parametrize(("n", "copied"), [(COPIED // 2 - 1, False), (COPIED // 2, True)])
def test_a_few_equal_scores_are_no_copy(judged: Judged, n: int, copied: bool) -> None:
    found = judged(n=n)
    assert found.evidence["judge_copies_grader"] is copied
    assert found.evidence["grader_agreement"] == 1.0


def test_scores_that_never_vary_are_in_no_order(judged: Judged) -> None:
    assert judged(lambda score: 0.5).evidence["judge_copies_grader"] is False


@pytest.mark.parametrize(
    ("judge", "grader", "holds"),
    [
        ("exact:kind=rule", "lazy", True),  # true of a renamed grader, too
        ("exact:kind=rule", "lazy:kind=rule", True),
        (f"exact:kind=rule:{P}", f"lazy:kind=rule:{Q}", False),
        ("exact:kind=rule", "lazy:model=gpt-4o", False),
        ("exact:kind=human", "lazy:kind=rule", False),
    ],
)
def test_equal_scores_count_where_both_are_known_to_differ(
    judged: Judged, judge: str, grader: str, holds: bool
) -> None:
    found = judged(judge=judge, grader=grader)
    assert found.evidence["judge_copies_grader"] is holds
    assert found.evidence["judge_identity_declared"] is not holds
    assert ("known to be different" in found.observed["judge_copies_grader"]) is not holds


@pytest.mark.parametrize(
    ("judge", "grader", "expected"),
    [
        ("exact", "lazy", {"judge_is_grader": False, "judge_identity_declared": False}),
        ("a:model=gpt-4o", "b:model=azure/gpt-4o-2024-08-06", {"judge_is_grader": True}),
        ("ехасt", "exact", {"judge_is_grader": True}),
        (f"a:model=gpt-4o:{P}", f"b:model=gpt-4o:{Q}",
         {"judge_is_grader": False, "judge_family_is_graders": True, "judge_identity_declared": True}),
        ("a:model=gpt-4o", "b:model=claude-3-5-sonnet",
         {"judge_is_grader": False, "judge_family_is_graders": False, "judge_identity_declared": True}),
    ],
)  # fmt: skip
def test_identities_decide(judged: Judged, judge: str, grader: str, expected: dict[str, bool]) -> None:
    found = judged(lambda score: 0.5, judge=judge, grader=grader)
    assert {name: found.evidence[name] for name in expected} == expected
    assert found.judge["identity"]["name"] == judge.split(":")[0]
    assert found.judge["identities"] == [found.judge["identity"]]
    assert {one["identity"]["name"] for one in found.graders} == {grader.split(":")[0]}


@pytest.mark.parametrize(
    ("judge", "itself", "family"),
    [
        ("a:model=Qwen/Qwen2.5-7B-Instruct", True, False),
        ("a:model=Qwen/Qwen2.5-72B-Instruct", False, True),
        ("a:model=gpt-4o", False, False),
    ],
)
def test_the_model_that_training_started_from_is_no_judge(
    judged: Judged, judge: str, itself: bool, family: bool
) -> None:
    found = judged(lambda score: 0.5, judge=judge, base_models=("Qwen/Qwen2.5-7B-Instruct",))
    assert found.evidence["judge_is_grader"] is itself
    assert found.evidence["judge_family_is_models"] is family


def test_what_the_runs_log_tells_of_a_grader_counts(judged: Judged) -> None:
    told = (JudgeFacts("rewards/lazy", "model", ("openai/gpt-4o",)),)
    found = judged(lambda score: 0.5, judge="exact:model=gpt-4o", told=told)
    assert found.evidence["judge_is_grader"] is True
    assert found.graders[0]["identity"]["from"]["model"] == "run log"


def test_without_a_judge_nothing_is_said_of_it(make_rows: Callable[..., Any], answers: Callable[..., Any]) -> None:
    groups = [
        answers(name, random(100, seed), judge=judge)
        for judge in ("a", "b")
        for seed, name in enumerate(("base", "tuned"))
    ]
    found = compare(make_rows(*groups), ComparisonRequest(baseline="base", candidate="tuned"))
    for column in ("judge_copies_grader", "judge_family_is_graders", "judge_family_is_models", "judge_is_grader"):
        assert found.evidence[column] is None
    assert found.judge["identity"] is None


def graded(make_rows: Callable[..., Any], answers: Callable[..., Any], noise: float, changed: int, scale: float) -> Any:
    """A grader's scores 0..10 in steps of .5, and a judge's: those with noise, on another scale, some replaced."""
    random = np.random.default_rng(3)
    groups = []
    for name in ("base", "tuned"):
        theirs = random.integers(0, 21, 300) / 2
        mine = scale * np.round(2 * (theirs + noise * random.standard_normal(300))) / 2
        mine[:changed] += 3.3
        groups += [answers(name, list(theirs), judge="lazy"), answers(name, list(mine), judge="rubric")]
    request = ComparisonRequest(
        baseline="base", candidate="tuned", judges=(parse_scorer("rubric"),), graders=(parse_scorer("lazy"),)
    )
    return compare(make_rows(*groups), request)


@pytest.mark.parametrize(
    ("noise", "changed", "scale", "copied"),
    [(0.0, 2, 1.0, True), (0.0, 2, -0.3, True), (0.0, 40, 1.0, False), (0.7, 0, 1.0, False), (0.7, 0, 0.1, False)],
    ids=["few changes", "few changes on another scale", "many", "another rater", "another rater on another scale"],
)
def test_graded_scores_that_are_nearly_the_graders_hold(
    make_rows: Callable[..., Any],
    answers: Callable[..., Any],
    noise: float,
    changed: int,
    scale: float,
    copied: bool,
) -> None:
    found = graded(make_rows, answers, noise, changed, scale)
    assert found.evidence["judge_copies_grader"] is copied
    assert ("graded scores of two different judges" in found.observed["judge_copies_grader"]) is copied


@pytest.mark.parametrize(
    ("judge", "grader", "expected"),
    [
        (f"a:model=gpt-4o:{P}", f"b:kind=rule:{P}", {"judge_is_grader": True}),
        (f"a:kind=rule:{P}", f"b:model=gpt-4o:{P}", {"judge_is_grader": True}),
        (f"a:kind=human:{P}", f"b:model=gpt-4o:{P}", {"judge_is_grader": False, "judge_family_is_graders": True}),
        (f"a:model=gpt-4o:{P}", f"b:kind=rule:{Q}", {"judge_is_grader": False, "judge_family_is_graders": False}),
    ],
)
def test_one_prompt_is_one_scorer_whatever_its_kind(
    judged: Judged, judge: str, grader: str, expected: dict[str, bool]
) -> None:
    found = judged(lambda score: 0.5, judge=judge, grader=grader)
    assert {name: found.evidence[name] for name in expected} == expected


def test_what_keeps_the_gain_gap_from_being_measured_says_what_to_do(
    make_rows: Callable[..., Any], answers: Callable[..., Any]
) -> None:
    rows = [answers(name, [0.5, 3.0, 7.0] * 40, judge="lazy") for name in ("base", "tuned")]
    rows += [answers(name, random(120, 1), judge="exact") for name in ("base", "tuned")]
    request = ComparisonRequest(
        baseline="base", candidate="tuned", judges=(parse_scorer("exact"),), graders=(parse_scorer("lazy"),)
    )
    found = compare(make_rows(*rows), request)
    assert found.advice["gain_gap_warns"] == "Declare the range: --grader lazy:LOW..HIGH."
    assert "The range of lazy is not declared" in found.observed["gain_gap_warns"]
    alone = compare(make_rows(*rows[2:]), request)
    assert "Score the held-out answers with the training grader too" in alone.advice["gain_gap_warns"]
    assert "--training-prompts" in alone.advice["overlap_questions"]


def test_an_advisory_judge_that_lacks_scores_is_named(
    make_rows: Callable[..., Any], answers: Callable[..., Any]
) -> None:
    rows = [answers(name, random(120, 1), judge="exact") for name in ("base", "tuned")]
    rows += [answers(name, [None] * 12 + random(108, 1), judge="tone") for name in ("base", "tuned")]
    judges = (parse_scorer("exact"), parse_scorer("tone::advisory"))
    found = compare(make_rows(*rows), ComparisonRequest(baseline="base", candidate="tuned", judges=judges))
    assert "10.0% of the answers have no score of tone" in found.observed["missing_fraction"]
    assert "which only guards" in found.observed["missing_fraction"]


def test_with_a_margin_what_is_compared_and_advised_fits_it(
    make_rows: Callable[..., Any], answers: Callable[..., Any]
) -> None:
    rows = make_rows(*(answers(name, random(120, 1), judge="exact") for name in ("base", "tuned")))
    without = compare(rows, ComparisonRequest(baseline="base", candidate="tuned"))
    assert "compared with 0" in without.observed["margin_lower"]
    assert "margin_lower" not in without.advice
    found = compare(rows, ComparisonRequest(baseline="base", candidate="tuned", margin=0.02))
    assert "plus the margin of 0.02 is" in found.observed["margin_lower"]
    assert "a margin is set already" in found.advice["margin_lower"]
