from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pytest

from rlchecks.heldout import ComparisonRequest, HeldoutRows, compare
from rlchecks.heldout.pass_at_k import pass_at_k

Make = Callable[..., HeldoutRows]
Answers = Callable[..., list[dict[str, Any]]]


@pytest.mark.parametrize("k", [1, 2, 3, 7])
def test_it_is_the_share_of_draws_that_hold_a_right_answer(k: int) -> None:
    for right in range(8):
        marks = [1] * right + [0] * (7 - right)
        drawn = [max(draw) for draw in combinations(marks, k)]
        assert pass_at_k([7], [right], k)[0] == pytest.approx(np.mean(drawn), abs=1e-12)


def test_it_is_the_published_formula_for_many_answers() -> None:
    # Chen et al. 2021 draw 200 answers to a question.
    found = pass_at_k([200, 200, 200], [1, 20, 150], 100)
    assert found == pytest.approx([1 - comb(200 - c, 100) / comb(200, 100) for c in (1, 20, 150)], abs=1e-10)


@pytest.mark.parametrize(("n", "c", "k"), [(2, 1, 3), (2, 3, 1), (2, -1, 1), (2, 1, 0)])
def test_counts_out_of_range_are_refused(n: int, c: int, k: int) -> None:
    with pytest.raises(ValueError, match="pass@"):
        pass_at_k([n], [c], k)


@pytest.fixture
def compared(make_rows: Make, answers: Answers) -> Callable[..., Any]:
    def found(base: list[list[float | None]], tuned: list[list[float | None]]) -> Any:
        rows = make_rows(answers("base", base), answers("tuned", tuned))
        return compare(rows, ComparisonRequest(baseline="base", candidate="tuned")).document

    return found


def test_k_goes_in_powers_of_two_to_the_fewest_answers(compared: Callable[..., Any]) -> None:
    base = [[1.0, 0.0, 0.0, 0.0, 0.0]] * 60 + [[0.0, 0.0, 0.0, 0.0, None]] * 60
    tuned = [[1.0, 1.0, 0.0, 0.0, 0.0]] * 120
    document = compared(base, tuned)
    rows = document["pass_at_k"]["rows"]
    assert [row["k"] for row in rows] == [1, 2, 4]
    assert rows[0]["difference"] == pytest.approx(document["difference"])
    assert rows[1]["baseline"] == pytest.approx(0.5 * (1 - comb(4, 2) / comb(5, 2)))
    assert rows[2]["candidate"] == pytest.approx(1.0)
    assert all(row["ci_lower"] < row["difference"] < row["ci_upper"] for row in rows)


def test_single_answers_have_none_and_graded_ones_a_reason(compared: Callable[..., Any]) -> None:
    assert compared([[0.0]] * 20, [[1.0]] * 20)["pass_at_k"] is None
    graded = compared([[0.1, 0.5]] * 20, [[1.0, 0.3]] * 20)["pass_at_k"]
    assert (graded["rows"], graded["reason"]) == ([], "the scores are not right or wrong")
