"""The variance of a mean whose values come in clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray


class ClusterVariance(NamedTuple):
    """Cluster-robust variance of a mean.

    Attributes:
        mean: mean of all values.
        se: CR2 standard error of the mean.
        df: Bell-McCaffrey degrees of freedom.
        clusters: number of clusters.
    """

    mean: float
    se: float
    df: float
    clusters: int


def cr2(values: ArrayLike, clusters: Sequence[object] | NDArray[np.generic]) -> ClusterVariance:
    """CR2 standard error of a mean of clustered values, with Bell-McCaffrey degrees of freedom.

    For a mean, with n_g values in cluster g and residual sums r_g, the variance is
    sum_g r_g^2 / (1 - n_g / n) / n^2. The degrees of freedom are Satterthwaite's, tr(W)^2 / tr(W^2), for independent
    values of equal variance: W_gg = n_g / n^2 and W_gh = -a_g a_h n_g n_h / n^3 with a_g = (1 - n_g / n)^(-1/2). With
    G equal clusters both reduce to the factor G / (G - 1) and G - 1.

    Source: Bell and McCaffrey 2002, Survey Methodology 28:169; Imbens and Kolesar 2016, Review of Economics and
    Statistics 98:701.

    Args:
        values: shape (n,).
        clusters: the cluster of each value, shape (n,), at least two different ones.

    Raises:
        ValueError: the lengths differ, or there are fewer than two clusters.
    """
    x = np.asarray(values, dtype=float)
    if len(clusters) != len(x):
        raise ValueError(f"{len(x)} values but {len(clusters)} clusters")
    _, code = np.unique(np.asarray(clusters), return_inverse=True)
    found = cr2_rows(x[None, :], code)
    return ClusterVariance(float(found.mean[0]), float(found.se[0]), found.df, len(found.sizes))


class ClusterRows(NamedTuple):
    """Cluster-robust variances of the means of several rows with the same clusters.

    Attributes:
        mean: mean of each row, shape (m,).
        se: CR2 standard error of each mean, shape (m,).
        df: Bell-McCaffrey degrees of freedom, those of every row.
        residuals: sum of each cluster's residuals, shape (m, clusters).
        sizes: values in each cluster, shape (clusters,).
    """

    mean: NDArray[np.float64]
    se: NDArray[np.float64]
    df: float
    residuals: NDArray[np.float64]
    sizes: NDArray[np.float64]


def cr2_rows(values: NDArray[np.float64], code: NDArray[np.intp]) -> ClusterRows:
    """:func:`cr2` of many rows at once.

    Args:
        values: shape (m, n).
        code: the cluster of each column, 0 to G - 1 without a gap, shape (n,), G at least 2.

    Raises:
        ValueError: there are fewer than two clusters.
    """
    sizes = np.bincount(code).astype(float)
    if len(sizes) < 2:
        raise ValueError("a cluster-robust variance needs at least two clusters")
    n = float(len(code))
    mean = values.mean(axis=1)
    starts = np.r_[0, np.cumsum(sizes)[:-1]].astype(np.intp)
    sums = np.add.reduceat(values[:, np.argsort(code, kind="stable")], starts, axis=1)
    residuals = sums - sizes * mean[:, None]
    inflation = 1.0 / (1.0 - sizes / n)
    variance = (residuals**2 * inflation).sum(axis=1) / n**2
    weights = sizes**2 * inflation
    off_diagonal = max(float(weights.sum() ** 2 - (weights**2).sum()), 0.0)
    df = (1.0 / n**2) / (float((sizes**2).sum()) / n**4 + off_diagonal / n**6)
    return ClusterRows(mean, np.sqrt(variance), df, residuals, sizes)
