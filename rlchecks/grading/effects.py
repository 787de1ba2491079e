"""How a score depends on a feature within groups: least squares with one level a group."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Effect(NamedTuple):
    """Change of the score per unit of the feature, and how sure it is.

    Attributes:
        slope: score per unit of the feature, among answers to the same prompt.
        error: its standard error, robust within clusters.
        df: degrees of freedom: clusters with any variation, minus one.
        clusters: number of those clusters.
    """

    slope: float
    error: float
    df: int
    clusters: int


def within(score: Floats, feature: Floats, group: Integers, cluster: Integers, beside: Floats | None = None) -> Effect:
    """Estimate the slope of the score on a feature with a fixed effect per group.

    Groups are the answers to one prompt at one step; what makes a prompt hard, and a step early or late, cancels.
    The standard error is that of Liang and Zeger 1986 with the small-sample factor ``G / (G - 1)``, clustered by
    prompt, since one prompt may come back at several steps.

    Args:
        score: shape ``(n,)``, finite.
        feature: shape ``(n,)``.
        group: group of each answer.
        cluster: cluster of each answer; a group lies in one cluster.
        beside: another feature that is held fixed, such as the length; None for none.

    Raises:
        Undefined: the feature does not vary within groups apart from ``beside``, or in fewer than 3 clusters.
    """
    y, x = _centred(score, group), _centred(feature, group)
    if beside is not None:
        held = _centred(beside, group)
        squares = float(held @ held)
        if squares > 0:
            x = x - held * float(held @ x) / squares
            y = y - held * float(held @ y) / squares
    total = float(x @ x)
    scale = float(np.abs(feature).max(initial=0.0))
    if total <= 1e-12 * max(scale, 1e-300) ** 2 * len(x):
        raise Undefined("it does not vary among answers to the same prompt")
    slope = float(x @ y) / total
    terms = np.bincount(cluster, weights=x * (y - slope * x))
    varying = int((np.bincount(cluster, weights=x * x) > 0).sum())
    if varying < FEWEST_CLUSTERS:
        raise Undefined(f"it varies in fewer than {FEWEST_CLUSTERS} prompts")
    error = float(np.sqrt((terms**2).sum() * varying / (varying - 1))) / total
    return Effect(slope, error, varying - 1, varying)


FEWEST_CLUSTERS = 10
"""Prompts below which a clustered standard error is far too small (Cameron and Miller 2015, Journal of Human
Resources 50:317, on few clusters)."""


class Undefined(ValueError):  # noqa: N818
    """An effect that cannot be estimated; the message says why."""


def _centred(values: Floats, group: Integers) -> Floats:
    count = np.bincount(group)
    mean = np.bincount(group, weights=values) / np.maximum(count, 1)
    return np.asarray(values - mean[group])
