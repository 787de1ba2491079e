from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rlchecks.heldout import Comparison, ComparisonRequest, HeldoutRows, compare, tango

Make = Callable[..., HeldoutRows]
Answers = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def compared(make_rows: Make, answers: Answers) -> Callable[..., Comparison]:
    def found(base: list[float], tuned: list[float], category: Any, **fields: Any) -> Comparison:
        sides = [answers(name, side, category=category, **fields) for name, side in (("base", base), ("tuned", tuned))]
        return compare(make_rows(*sides), ComparisonRequest(baseline="base", candidate="tuned"))

    return found


def thirds(number: int) -> str:
    return ("one", "two", "three")[number // 100]


def test_a_loss_in_one_category_is_confirmed_under_a_gain_on_the_whole(compared: Callable[..., Comparison]) -> None:
    found = compared([0.0] * 200 + [1.0] * 100, [1.0] * 150 + [0.0] * 50 + [1.0] * 70 + [0.0] * 30, thirds)
    rows = found.document["categories"]["rows"]
    assert [row["category"] for row in rows] == ["three", "two", "one"]
    assert [row["confirmed_loss"] for row in rows] == [True, False, False]
    assert rows[0]["ci_upper_adjusted"] == pytest.approx(tango(0, 30, 100, 1 - 0.05 / 3).upper)
    assert rows[0]["ci_upper"] == pytest.approx(tango(0, 30, 100).upper)
    assert found.evidence["category_upper"] == rows[0]["ci_upper_adjusted"]
    assert "A loss is confirmed in 1 of 3 categories: three: -0.300" in found.observed["category_upper"]
    assert found.document["difference"] > 0


def test_categories_are_never_clusters(compared: Callable[..., Comparison]) -> None:
    found = compared([0.0] * 300, [1.0] * 150 + [0.0] * 150, thirds)
    assert found.document["n_clusters"] is None
    assert all(row["method"] == "tango" for row in found.document["categories"]["rows"])


@pytest.mark.parametrize(
    ("category", "reason"),
    [
        (None, "the rows name no category"),
        ("all", "all questions are of one category"),
        (lambda number: f"c{number}", "300 categories, more than 200"),
    ],
)
def test_what_cannot_be_compared_has_a_reason(compared: Callable[..., Comparison], category: Any, reason: str) -> None:
    found = compared([0.0] * 300, [1.0] * 300, category)
    assert (found.document["categories"]["rows"], found.document["categories"]["reason"]) == ([], reason)
    assert found.evidence["category_upper"] is None


def test_questions_without_a_category_are_counted(compared: Callable[..., Comparison]) -> None:
    found = compared([0.0] * 300, [1.0] * 300, lambda number: thirds(number) if number < 250 else None)
    assert found.document["categories"]["without"] == 50
    assert {row["category"]: row["n_questions"] for row in found.document["categories"]["rows"]}["three"] == 50
