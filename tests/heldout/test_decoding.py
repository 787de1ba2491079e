from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rlchecks.heldout import ComparisonRequest, HeldoutRows, compare

Make = Callable[..., HeldoutRows]
Answers = Callable[..., list[dict[str, Any]]]


@pytest.mark.parametrize(("greedy", "primary"), [(120, "greedy"), (118, "greedy"), (117, "sample"), (10, "sample")])
def test_a_decoding_of_a_part_of_the_questions_decides_nothing(
    make_rows: Make, answers: Answers, greedy: int, primary: str
) -> None:
    sides = [
        answers(name, [score] * count, decoding=decoding)
        for name, score in (("base", 0.0), ("tuned", 1.0))
        for decoding, count in (("sample", 120), ("greedy", greedy))
    ]
    found = compare(make_rows(*sides), ComparisonRequest(baseline="base", candidate="tuned"))
    assert found.decoding == primary


def test_many_repeats_of_a_few_questions_decide_nothing(make_rows: Make, answers: Answers) -> None:
    sides = [
        rows
        for name, score in (("base", 0.0), ("tuned", 1.0))
        for rows in (
            answers(name, [score] * 120),
            answers(name, [[score] * 8] * 20, decoding="sample"),
        )
    ]
    assert compare(make_rows(*sides), ComparisonRequest(baseline="base", candidate="tuned")).decoding == "greedy"
