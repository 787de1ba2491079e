from __future__ import annotations

import numpy as np
import pytest

from rlchecks.heldout.cr2 import cr2

FOUR = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]


def test_four_equal_clusters() -> None:
    # statsmodels' cluster covariance with its factor G / (G - 1); without it .1863390, without clusters .1507557.
    found = cr2([1, 1, 1, 0, 0, 0, 1, 1, 0, 1, 0, 0], FOUR)
    assert found.se == pytest.approx(0.2151657, abs=5e-8)
    assert found.df == pytest.approx(3.0)
    assert (found.mean, found.clusters) == (0.5, 4)


def test_the_standard_error_of_inspects_own_test() -> None:
    assert cr2(range(20), [number % 4 for number in range(20)]).se == pytest.approx(0.6454972, abs=5e-8)


def test_copies_of_a_question_in_one_cluster_add_nothing() -> None:
    values = [1.0, 0.0, 1.0, 1.0, 0.0]
    assert cr2(np.repeat(values, 7), np.repeat(range(5), 7)).se == pytest.approx(0.2449490, abs=5e-8)


def test_unequal_clusters_follow_the_matrix_definition() -> None:
    """Bell and McCaffrey's formulas with the matrices written out."""
    rng = np.random.default_rng(1)
    clusters = np.repeat(range(5), [2, 9, 4, 1, 6])
    values = rng.normal(size=len(clusters)) + rng.normal(size=5)[clusters]
    n = len(values)
    hat = np.full((n, n), 1 / n)
    residual_maker = np.eye(n) - hat
    residuals = residual_maker @ values
    variance, columns = 0.0, []
    for cluster in range(5):
        inside = clusters == cluster
        eigenvalues, vectors = np.linalg.eigh(residual_maker[np.ix_(inside, inside)])
        adjustment = vectors @ np.diag(eigenvalues**-0.5) @ vectors.T
        variance += (np.ones(inside.sum()) @ adjustment @ residuals[inside] / n) ** 2
        columns.append(residual_maker[:, inside] @ adjustment @ np.ones(inside.sum()) / n)
    spread = np.array(columns) @ np.array(columns).T
    found = cr2(values, clusters)
    assert found.se == pytest.approx(variance**0.5)
    assert found.df == pytest.approx(np.trace(spread) ** 2 / np.trace(spread @ spread))


def test_one_cluster_has_no_variance() -> None:
    with pytest.raises(ValueError, match="two clusters"):
        cr2([1.0, 2.0], [0, 0])


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match="3 values but 2 clusters"):
        cr2([1.0, 2.0, 3.0], [0, 1])
