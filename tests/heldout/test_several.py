from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rlchecks.errors import UsageError
from rlchecks.heldout import ComparisonRequest, HeldoutRows, choose_candidate, tango
from rlchecks.heldout.tango import tango_limits

Make = Callable[..., HeldoutRows]
Answers = Callable[..., list[dict[str, Any]]]


def ones(right: int, n: int = 200) -> list[float]:
    return [1.0] * right + [0.0] * (n - right)


@pytest.fixture
def rows(make_rows: Make, answers: Answers) -> HeldoutRows:
    """A baseline with 100 of 200 right, and candidates with 110, 140 and 130."""
    right = {"base": 100, "a": 110, "b": 140, "c": 130}
    return make_rows(*(answers(name, ones(count)) for name, count in right.items()))


def request(**fields: Any) -> ComparisonRequest:
    return ComparisonRequest(baseline="base", **{"looks": 3, "together": 3} | fields)


def test_the_candidate_with_the_largest_lower_limit_is_chosen(rows: HeldoutRows) -> None:
    found = choose_candidate(rows, request(), ["c", "a", "b"])
    assert found.candidate == found.document["chosen"] == "b"
    assert found.rows is rows
    assert [(row["candidate"], row["chosen"]) for row in found.document["rows"]] == [
        ("a", False), ("b", True), ("c", False),
    ]  # fmt: skip


def test_all_candidates_are_looks_at_once_and_go_through_holm(rows: HeldoutRows) -> None:
    a, b, c = choose_candidate(rows, request(), ["a", "b", "c"]).document["rows"]
    first = tango(40, 0, 200, 1 - 0.05 / 3).lower
    assert (b["ci_lower"], b["ci_lower_adjusted"]) == (pytest.approx(first), pytest.approx(first))
    assert c["ci_lower_adjusted"] == pytest.approx(tango(30, 0, 200, 1 - 0.05 / 2).lower)
    assert a["ci_lower_adjusted"] == pytest.approx(tango(10, 0, 200, 0.95).lower)
    assert a["ci_lower"] == pytest.approx(tango(10, 0, 200, 1 - 0.05 / 3).lower)
    assert [row["confirmed"] for row in (a, b, c)] == [True, True, True]


def test_earlier_looks_count_at_every_step(rows: HeldoutRows) -> None:
    a, b, c = choose_candidate(rows, request(looks=5, together=3), ["a", "b", "c"]).document["rows"]
    alpha = request(looks=5, together=3).alpha
    assert alpha < 0.05 / 5
    assert b["ci_lower_adjusted"] == pytest.approx(tango(40, 0, 200, 1 - alpha).lower)
    assert c["ci_lower_adjusted"] == pytest.approx(tango(30, 0, 200, 1 - alpha * 5 / 4).lower)
    assert a["ci_lower_adjusted"] == pytest.approx(tango(10, 0, 200, 1 - alpha * 5 / 3).lower)


def test_of_equal_candidates_the_first_by_name_is_chosen(make_rows: Make, answers: Answers) -> None:
    rows = make_rows(*(answers(name, ones(100)) for name in ("base", "z", "y")))
    assert choose_candidate(rows, request(looks=2, together=2), ["z", "y"]).candidate == "y"


def test_chosen_on_a_share_it_is_judged_on_the_rest(rows: HeldoutRows) -> None:
    found = choose_candidate(rows, request(), ["a", "b", "c"], 0.5)
    decided = set(found.rows.table["question_id"].to_pylist())
    assert found.document["choose_on"] == 0.5
    assert found.document["confidence"] == pytest.approx(0.95)
    assert len(decided) + found.document["questions"] == 200
    assert all(row["n_questions"] == found.document["questions"] for row in found.document["rows"])


def test_questions_that_were_trained_on_choose_nothing(make_rows: Make, answers: Answers) -> None:
    rows = make_rows(
        answers("base", ones(100)),
        answers("memory", ones(150)),
        answers("ability", [*ones(100, 150), *[1.0] * 20, *[0.0] * 30]),
    )
    seen = frozenset(f"prompt {number}" for number in range(100, 150))
    found = choose_candidate(rows, request(looks=2, together=2, training_prompts=seen), ["memory", "ability"])
    assert found.candidate == "ability"
    assert {row["n_questions"] for row in found.document["rows"]} == {150}


@pytest.mark.parametrize(
    ("candidates", "said"),
    [
        (["a", "a", "b"], "'a' is named twice"),
        (["base", "a"], "'base' is the baseline"),
        (["a", "nobody"], "no checkpoint 'nobody'"),
    ],
)
def test_misnamed_candidates_are_refused(rows: HeldoutRows, candidates: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        choose_candidate(rows, request(), candidates)


def test_candidates_in_different_decodings_are_not_compared(make_rows: Make, answers: Answers) -> None:
    rows = make_rows(
        answers("base", ones(100)),
        answers("base", ones(100), decoding="sample"),
        answers("a", ones(100)),
        answers("b", ones(100), decoding="sample"),
    )
    with pytest.raises(UsageError, match="--decoding"):
        choose_candidate(rows, request(looks=2, together=2), ["a", "b"])


def test_the_best_of_twenty_null_candidates_is_rarely_confirmed() -> None:
    # The limits of all candidates of a call are at alpha / 20, as the tests above show of the code.
    generator = np.random.default_rng(20261130)
    trials, n = 3000, 300
    ability = generator.random((trials, 1, n))
    base = generator.random((trials, 1, n)) < ability
    tuned = generator.random((trials, 20, n)) < ability
    gains, losses = ((tuned & ~base).sum(axis=2), (~tuned & base).sum(axis=2))
    lower, _ = tango_limits(gains, losses, n, 1 - 0.05 / 20)
    assert (lower.max(axis=1) > 0).mean() <= 0.05
