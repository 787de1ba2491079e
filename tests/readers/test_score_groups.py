"""Scores within groups: the numbers on paper, and what is undefined."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlchecks.readers.score_groups import question_hash, question_id, summarise

NAN = math.nan


def test_mean_spread_and_groups_without_spread() -> None:
    made = summarise([1, 1, 2, 2, 3, 3, 3], [0, 1, 0.5, 0.5, 1, 1, 0])
    assert made.answers == 7
    assert made.unscored == 0
    assert made.groups == 3
    assert made.mean == pytest.approx(4 / 7)
    assert made.spread == pytest.approx((math.sqrt(0.5) + 0 + math.sqrt(1 / 3)) / 3)
    assert made.zero_spread == pytest.approx(1 / 3)
    assert made.questions.tolist() == [1, 2, 3]
    assert made.scores.tolist() == pytest.approx([0.5, 0.5, 2 / 3])


def test_groups_of_one_answer_have_no_spread() -> None:
    made = summarise([1, 2, 3], [0.0, 1.0, 1.0])
    assert made.groups == 0
    assert math.isnan(made.spread)
    assert math.isnan(made.zero_spread)
    mixed = summarise([1, 2, 2], [0.0, 1.0, 1.0])
    assert (mixed.groups, mixed.spread, mixed.zero_spread) == (1, 0.0, 1.0)


def test_answers_without_a_score_are_in_no_mean() -> None:
    made = summarise([1, 1, 2, 2, 3], [1.0, NAN, NAN, NAN, 0.0])
    assert (made.answers, made.unscored, made.groups) == (5, 3, 0)
    assert made.mean == 0.5
    assert made.scores.tolist()[0] == 1.0
    assert math.isnan(made.scores[1])
    nothing = summarise([1, 1], [NAN, NAN])
    assert math.isnan(nothing.mean)


def test_equal_scores_have_no_spread_whatever_rounding_does() -> None:
    made = summarise([7] * 10, [0.1] * 10)
    assert (made.spread, made.zero_spread) == (0.0, 1.0)


def test_infinite_scores_stay_infinite() -> None:
    made = summarise([1, 1, 2, 2], [math.inf, 0.0, 1e308, -1e308])
    assert made.mean == math.inf
    assert not math.isfinite(made.spread)
    assert made.zero_spread == 0.0


def test_a_question_has_one_id_everywhere() -> None:
    assert question_id(question_hash("What is 2 + 2?")) == "ea4a029fd2c7331b"
    assert question_hash("a") != question_hash("b")
    assert question_id(1) == "0000000000000001"
    assert len(question_id(question_hash("\ud800"))) == 16


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(-10, 10)), min_size=1, max_size=30))
def test_the_order_of_the_answers_does_not_matter(pairs: list[tuple[int, float]]) -> None:
    groups: dict[int, list[float]] = {}
    for question, score in pairs:
        groups.setdefault(question, []).append(score)
    made = summarise(*zip(*pairs, strict=True))
    again = summarise(*zip(*pairs[::-1], strict=True))
    several = [scores for scores in groups.values() if len(scores) > 1]
    assert made.groups == again.groups == len(several)
    assert made.mean == pytest.approx(again.mean, abs=1e-9)
    assert made.mean == pytest.approx(statistics.fmean(score for _, score in pairs), abs=1e-9)
    if several:
        spread = statistics.fmean(statistics.stdev(scores) for scores in several)
        assert made.spread == pytest.approx(spread, abs=1e-6)
        assert made.zero_spread == pytest.approx(np.mean([len(set(scores)) == 1 for scores in several]))
