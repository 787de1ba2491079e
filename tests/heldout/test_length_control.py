from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rlchecks.heldout import ComparisonRequest, HeldoutRows, compare
from rlchecks.heldout.length_control import length_controlled

Make = Callable[..., HeldoutRows]
Answers = Callable[..., list[dict[str, Any]]]


def test_a_known_line_is_found() -> None:
    generator = np.random.default_rng(0)
    x = generator.normal(0.3, 0.5, 4000)
    y = 0.05 + 0.2 * x + generator.normal(0, 0.1 + 0.2 * np.abs(x))
    found = length_controlled(y, x)
    assert found.estimate == pytest.approx(0.05, abs=0.02)
    assert found.slope == pytest.approx(0.2 * np.log(2), abs=0.02)
    assert found.lower is not None
    assert found.upper is not None
    assert found.lower < 0.05 < found.upper
    assert not found.extrapolated


def test_the_jackknife_is_the_one_of_lines_fitted_again() -> None:
    generator = np.random.default_rng(1)
    x, y = generator.normal(size=(2, 30))
    code = np.arange(30) // 2
    whole = np.polyfit(x, y, 1)[1]
    left = [np.polyfit(x[code != one], y[code != one], 1)[1] for one in range(15)]
    se = (14 / 15 * sum((value - whole) ** 2 for value in left)) ** 0.5
    found = length_controlled(y, x, code)
    assert found.estimate == pytest.approx(whole)
    assert found.upper is not None
    assert found.lower is not None
    assert (found.upper - found.lower) / 2 == pytest.approx(2.160368656 * se)  # t(13) at .975


def test_equal_models_differ_by_nothing_and_swapping_them_mirrors() -> None:
    generator = np.random.default_rng(2)
    x, y = generator.normal(size=(2, 50))
    one, other = length_controlled(y, x), length_controlled(-y, -x)
    assert one.estimate is not None
    assert one.lower is not None
    assert other.estimate == pytest.approx(-one.estimate)
    assert other.upper == pytest.approx(-one.lower)
    assert length_controlled(np.zeros(50), x).estimate == 0.0


@pytest.mark.parametrize(
    ("x", "reason"),
    [
        (np.full(50, 0.3), "do not vary"),
        (np.r_[1.0, np.zeros(49)], "in one question"),
        (np.arange(5.0), "fewer than 10"),
    ],
)
def test_without_variation_there_is_a_reason(x: Any, reason: str) -> None:
    found = length_controlled(np.linspace(0, 1, len(x)), x)
    assert (found.estimate, found.lower, found.upper) == (None, None, None)
    assert reason in (found.reason or "")


def test_coverage_is_as_promised() -> None:
    generator = np.random.default_rng(3)
    held = 0
    for _ in range(400):
        x = generator.normal(0.2, 0.4, 150)
        y = (generator.random(150) < 0.5 + 0.1 * x).astype(float) - (generator.random(150) < 0.4)
        found = length_controlled(y, x)
        assert found.lower is not None
        assert found.upper is not None
        held += found.lower <= 0.1 <= found.upper
    assert held >= 0.93 * 400 - 3 * (400 * 0.95 * 0.05) ** 0.5


@pytest.fixture
def compared(make_rows: Make, answers: Answers) -> Callable[..., Any]:
    def found(base: Callable[[int], str | None], tuned: Callable[[int], str | None]) -> Any:
        generator = np.random.default_rng(4)
        scores = [list(generator.random(150).round(3)) for _ in range(2)]
        rows = make_rows(answers("base", scores[0], answer=base), answers("tuned", scores[1], answer=tuned))
        return compare(rows, ComparisonRequest(baseline="base", candidate="tuned")).document["length"]

    return found


def test_the_lengths_are_the_answers_characters(compared: Callable[..., Any]) -> None:
    found = compared(lambda number: "ä" * 10, lambda number: "x" * (15 + number % 11))
    assert (found["baseline_length"], found["unit"]) == (10, "characters")
    assert found["candidate_length"] == pytest.approx(20, abs=0.2)
    assert found["extrapolated"] is True
    assert found["controlled"] is None
    assert "extrapolation" in found["reason"]


def test_a_missing_answer_is_a_reason(compared: Callable[..., Any]) -> None:
    found = compared(lambda number: "a" * (number % 7), lambda number: None if number == 3 else "b")
    assert (found["controlled"], found["reason"]) == (None, "some rows give no answer")
