from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rlchecks.heldout import ComparisonRequest, HeldoutRows, Scorer, compare

Rows = list[dict[str, Any]]


def scored(judge: str, checkpoint: str, scores: list[float | None], **fields: Any) -> Rows:
    return [
        {"question_id": f"q{n:04}", "checkpoint": checkpoint, "judge": judge, "score": score, "prompt": f"p{n}"}
        | {"answer": f"{checkpoint} {n}"}
        | fields
        for n, score in enumerate(scores)
    ]


def agreement(rows: HeldoutRows, **asked: Any) -> dict[str, Any]:
    document = compare(rows, ComparisonRequest(baseline="base", candidate="new", **asked)).document["agreement"]
    assert isinstance(document, dict)
    return document


def test_one_judge_alone_agrees_with_nobody(make_rows: Callable[..., HeldoutRows]) -> None:
    rows = make_rows(scored("a", "base", [0.0, 1.0]), scored("a", "new", [1.0, 1.0]))
    assert compare(rows, ComparisonRequest(baseline="base", candidate="new")).document["agreement"] is None


def test_grader_and_judge_are_compared_and_their_largest_disagreements_shown(
    make_rows: Callable[..., HeldoutRows],
) -> None:
    judge = [float(n % 2) for n in range(120)]
    grader: list[float | None] = [1.0 if n < 30 else score for n, score in enumerate(judge)]
    grader[119] = None
    rows = make_rows(
        *(scored("exact", side, judge) for side in ("base", "new")),
        scored("grader", "base", judge),
        scored("grader", "new", grader),
    )
    found = agreement(rows, graders=(Scorer("grader"),), graders_known=True)
    (pair,) = found["pairs"]
    assert (pair["one"], pair["other"], pair["answers"], pair["unscored"]) == ("exact", "grader", 239, 1)
    assert pair["equal"] == pair["closeness"] == pytest.approx(224 / 239)
    assert (pair["closeness_lowest"], pair["closeness_highest"]) == (pytest.approx(224 / 240), pytest.approx(225 / 240))
    assert pair["kappa_lower"] < pair["kappa"] < pair["kappa_upper"] <= 1
    assert [one["role"] for one in found["judges"]] == ["judge", "training grader"]
    assert len(found["disagreements"]) == 10
    first = found["disagreements"][0]
    assert (first["question_id"], first["checkpoint"], first["answer"]) == ("q0000", "new", "new 0")
    assert (first["one"], first["other"]) == ({"judge": "grader", "score": 1.0}, {"judge": "exact", "score": 0.0})


def test_graded_scores_have_no_kappa_and_unknown_ranges_no_closeness(make_rows: Callable[..., HeldoutRows]) -> None:
    scores: list[float | None] = [n / 40 for n in range(60)]
    rows = make_rows(*(scored(judge, side, scores) for judge in "ab" for side in ("base", "new")))
    (pair,) = agreement(rows, judges=(Scorer("a"),))["pairs"]
    assert (pair["kappa"], pair["equal"], pair["closeness"]) == (None, None, None)
    assert pair["alpha_interval"] == pytest.approx(1.0)
    assert "more than 10 different scores" in pair["reason"]


def test_a_judge_that_is_better_low_is_turned_round(make_rows: Callable[..., HeldoutRows]) -> None:
    scores: list[float | None] = [float(n % 2) for n in range(60)]
    turned: list[float | None] = [1.0 - float(n % 2) for n in range(60)]
    rows = make_rows(
        *(scored("a", side, scores) for side in ("base", "new")),
        *(scored("b", side, turned) for side in ("base", "new")),
    )
    lower = Scorer("b", 0.0, 1.0, higher_is_better=False, decisive=False)
    (pair,) = agreement(rows, judges=(Scorer("a"), lower))["pairs"]
    assert pair["equal"] == 1.0


def test_labels_of_people_correct_a_biased_judge(make_rows: Callable[..., HeldoutRows]) -> None:
    drawn = np.random.default_rng(3)
    n, labelled = 400, 120
    rows: Rows = []
    for side, share in (("base", 0.5), ("new", 0.5)):
        truth = drawn.random(n) < share
        # The judge takes every third wrong answer of the candidate for right.
        fooled = (drawn.random(n) < (0.33 if side == "new" else 0.0)) & ~truth
        rows += scored("judge", side, (truth | fooled).astype(float).tolist())
        rows += scored("annotator", side, truth[:labelled].astype(float).tolist())
    people = Scorer("annotator", decisive=False, kind="human")
    found = agreement(make_rows(rows), judges=(Scorer("judge"), people))
    assert found["people"] == ["annotator"]
    by_what = {one["of"]: one for one in found["corrected"]}
    assert by_what["baseline"]["method"] == by_what["candidate"]["method"] == "rogan_gladen"
    difference = by_what["difference"]
    assert (difference["labelled"], difference["unlabelled"]) == (labelled, n - labelled)
    assert difference["judge_alone"] > 0.1
    # Beside each other stand people and judge on the same answers: the fooled judge is higher by its errors only.
    assert by_what["candidate"]["judge_labelled"] > by_what["candidate"]["people_alone"]
    assert by_what["baseline"]["judge_labelled"] == by_what["baseline"]["people_alone"]
    assert difference["ci_lower"] < 0.0 < difference["ci_upper"]
    assert (
        by_what["candidate"]["ci_lower"]
        < 0.5
        < by_what["candidate"]["ci_upper"]
        < by_what["candidate"]["judge_alone"] + 0.1
    )


def test_decodings_are_not_pooled_where_labels_correct(make_rows: Callable[..., HeldoutRows]) -> None:
    rows: Rows = []
    for side in ("base", "new"):
        for decoding, score in (("greedy", 1.0), ("sample", 0.0)):
            rows += scored("judge", side, [score] * 60 + [0.5], decoding=decoding)
            rows += scored("annotator", side, [score] * 20, decoding=decoding)
    people = Scorer("annotator", 0.0, 1.0, decisive=False, kind="human")
    found = agreement(make_rows(rows), judges=(Scorer("judge", 0.0, 1.0), people), decoding="sample")
    assert found["corrected"][0]["people_alone"] == 0.0


def test_without_any_label_nothing_is_corrected(make_rows: Callable[..., HeldoutRows]) -> None:
    scores: list[float | None] = [float(n % 2) for n in range(30)]
    rows = make_rows(*(scored(judge, side, scores) for judge in "ab" for side in ("base", "new")))
    assert agreement(rows, judges=(Scorer("a"),))["corrected"] == []
