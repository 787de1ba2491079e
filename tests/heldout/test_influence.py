from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rlchecks.heldout import Comparison, ComparisonRequest, HeldoutRows, compare, tango

Make = Callable[..., HeldoutRows]
Answers = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def compared(make_rows: Make, answers: Answers) -> Callable[..., Comparison]:
    def found(base: list[float], tuned: list[float], **request: Any) -> Comparison:
        rows = make_rows(answers("base", base), answers("tuned", tuned))
        return compare(rows, ComparisonRequest(**{"baseline": "base", "candidate": "tuned"} | request))

    return found


def test_the_smallest_set_without_which_nothing_is_confirmed_is_named(compared: Callable[..., Comparison]) -> None:
    found = compared([0.0] * 120, [1.0] * 6 + [0.0] * 114)
    kept = [removed for removed in range(4) if (tango(6 - removed, 0, 120 - removed).lower or 0) > 0]
    assert found.evidence["n_carrying"] == len(kept) == found.document["influence"]["count"]
    assert [one["question_id"] for one in found.document["influence"]["questions"]] == [
        f"q{number:04}" for number in range(len(kept))
    ]
    assert found.document["influence"]["ci_lower"] <= 0


def test_a_gain_of_many_questions_hangs_on_none(compared: Callable[..., Comparison]) -> None:
    found = compared([0.0] * 200, [1.0] * 100 + [0.0] * 100)
    assert found.evidence["n_carrying"] is None
    assert found.document["influence"] == {
        "judge": "exact", "tried": 4, "count": None, "ci_lower": None, "questions": [],
    }  # fmt: skip
    assert "without any 4 of the questions" in found.observed["n_carrying"]


def test_what_is_not_confirmed_is_carried_by_nothing(compared: Callable[..., Comparison]) -> None:
    found = compared([0.0] * 100, [0.0] * 100)
    assert found.document["influence"] is None
    assert found.evidence["n_carrying"] is None
