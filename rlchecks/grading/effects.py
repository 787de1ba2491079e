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
        df: degrees of freedom: the effective number of clusters, minus one.
        clusters: number of clusters in which the feature varies.
    """

    slope: float
    error: float
    df: float
    clusters: int


def within(score: Floats, feature: Floats, group: Integers, cluster: Integers, beside: Floats | None = None) -> Effect:
    """Estimate the slope of the score on a feature with a fixed effect per group.

    Groups are the answers to one prompt at one step; what makes a prompt hard, and a step early or late, cancels.
    The standard error is clustered by prompt, since one prompt may come back at several steps: CR2 of Bell and
    McCaffrey 2002 (Survey Methodology 28:169), which for one regressor divides the square of each cluster by one minus
    its leverage. Where few clusters hold most of the feature's variation there are few in effect, as many as
    ``1 / sum(leverage^2)`` (Carter, Schnepel and Steigerwald 2017, Review of Economics and Statistics 99:698); what
    varies in one answer out of a hundred would otherwise pass for a payment in half of all tables.

    Args:
        score: shape ``(n,)``, finite.
        feature: shape ``(n,)``.
        group: group of each answer.
        cluster: cluster of each answer; a group lies in one cluster.
        beside: another feature that is held fixed, such as the length; None for none.

    Raises:
        Undefined: the feature does not vary within groups apart from ``beside``, in fewer than
            :data:`FEWEST_CLUSTERS` clusters, or in effect in fewer than :data:`FEWEST_EFFECTIVE`.
    """
    y, x = _centred(score, group), _centred(feature, group)
    # Before the other feature is taken out, which leaves a little of itself everywhere.
    varying = int((np.bincount(cluster, weights=x * x) > 0).sum())
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
    if varying < FEWEST_CLUSTERS:
        raise Undefined(f"it varies in fewer than {FEWEST_CLUSTERS} prompts")
    terms = np.bincount(cluster, weights=x * (y - slope * x))
    leverage = np.bincount(cluster, weights=x * x) / total
    effective = 1 / float((leverage**2).sum())
    if effective < FEWEST_EFFECTIVE:
        raise Undefined(f"nearly all of its variation lies in fewer than {FEWEST_EFFECTIVE} prompts")
    error = float(np.sqrt((terms**2 / (1 - leverage)).sum())) / total
    return Effect(slope, error, effective - 1, varying)


FEWEST_CLUSTERS = 10
"""Prompts below which a clustered standard error is far too small (Cameron and Miller 2015, Journal of Human
Resources 50:317, on few clusters)."""


FEWEST_EFFECTIVE = 4
"""Effective number of prompts below which not even an interval with so few degrees of freedom is kept."""


class Undefined(ValueError):  # noqa: N818
    """An effect that cannot be estimated; the message says why."""


def _centred(values: Floats, group: Integers) -> Floats:
    count = np.bincount(group)
    mean = np.bincount(group, weights=values) / np.maximum(count, 1)
    return np.asarray(values - mean[group])
