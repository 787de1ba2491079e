from __future__ import annotations

import numpy as np
import pytest

from rlchecks.heldout.kappa import cohen_kappa
from rlchecks.heldout.krippendorff import krippendorff_alpha

NAN = float("nan")


def answers(table: list[list[int]]) -> tuple[list[int], list[int]]:
    """The two judges' scores that make a table of counts."""
    cells = [(row, column) for row, counts in enumerate(table) for column, n in enumerate(counts) for _ in range(n)]
    return [row for row, _ in cells], [column for _, column in cells]


# Cohen 1960's statistic of standard tables; .347826 stands in scikit-learn's own test of it (from Artstein and Poesio
# 2008), the error and interval of the first are those of statsmodels.stats.inter_rater.cohens_kappa.
@pytest.mark.parametrize(
    ("table", "kappa"),
    [
        ([[20, 5], [10, 15]], 0.4),
        ([[20, 20], [10, 50]], 0.347826),
        ([[45, 15], [25, 15]], 0.1304),
        ([[25, 35], [5, 35]], 0.2593),
        ([[80, 10], [10, 0]], -0.1111),
        ([[45, 5], [5, 45]], 0.8),
    ],
)
def test_kappa_of_published_tables(table: list[list[int]], kappa: float) -> None:
    assert cohen_kappa(*answers(table)).value == pytest.approx(kappa, abs=5e-5)


def test_the_interval_is_that_of_fleiss_cohen_and_everitt() -> None:
    found = cohen_kappa(*answers([[20, 5], [10, 15]]))
    assert (found.lower, found.upper) == (pytest.approx(0.1511, abs=5e-5), pytest.approx(0.6489, abs=5e-5))


def test_repeats_of_a_question_do_not_narrow_the_interval() -> None:
    one, other = answers([[20, 5], [10, 15]])
    alone = cohen_kappa(one, other)
    five = cohen_kappa(one * 5, other * 5, np.tile(np.arange(len(one)), 5))
    assert five.value == pytest.approx(alone.value)
    assert five.lower == pytest.approx(alone.lower)


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [([], [], "no answer"), ([1, 1], [1, 1], "same score"), ([0, 1], [0, 1], "no variance")],
)
def test_what_is_undefined_has_a_reason(one: list[int], other: list[int], said: str) -> None:
    found = cohen_kappa(one, other)
    assert found.lower is None
    assert said in (found.reason or "")


# Krippendorff 2011, Computing Krippendorff's alpha-reliability: four observers, twelve units; .743 and .849.
OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
).T


def test_alpha_of_the_published_example() -> None:
    assert krippendorff_alpha(OBSERVERS, "nominal") == pytest.approx(0.743421, abs=1e-6)
    assert krippendorff_alpha(OBSERVERS, "interval") == pytest.approx(0.849107, abs=1e-6)
    assert krippendorff_alpha(OBSERVERS + 1e9, "interval") == pytest.approx(0.849107, abs=1e-5)
    for unit in (1e-320, 1e-9, 1e200, 1e300):  # alpha does not depend on it; squares have to be numbers
        assert krippendorff_alpha(OBSERVERS * unit, "interval") == pytest.approx(0.849107, abs=1e-3)


# Counted by hand in the tests of Inspect AI's scorer metrics.
@pytest.mark.parametrize(
    ("scores", "level", "alpha"),
    [
        ([[1, 1, 1], [0, 0, 0], [1, 1, 1], [0, 0, 1]], "nominal", 1 - 132 / 420),
        ([[0, 1], [0, 1], [1, 0], [1, 0]], "nominal", -0.75),
        ([[1, 2], [3, 4], [1, 1]], "interval", 19 / 24),
        ([[1, 1, 0], [0, 0, NAN]], "nominal", 1 / 3),
    ],
)
def test_alpha_of_small_tables(scores: list[list[float]], level: str, alpha: float) -> None:
    assert krippendorff_alpha(scores, level) == pytest.approx(alpha)  # type: ignore[arg-type]


@pytest.mark.parametrize("scores", [np.zeros((0, 2)), [[1, NAN], [NAN, 0]], [[1, 1], [1, 1]]])
def test_alpha_is_undefined_without_pairs_or_differences(scores: object) -> None:
    assert krippendorff_alpha(scores, "nominal") is None  # type: ignore[arg-type]
    assert krippendorff_alpha(scores, "interval") is None  # type: ignore[arg-type]
