"""The rules that are compared: lower and upper limits of many comparisons at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from benchmarks.calibration.worlds import World, clusters
from rlchecks.heldout.cr2 import cr2_rows
from rlchecks.heldout.limits import paired_limits

Values = NDArray[np.float64]


class Limits(NamedTuple):
    """Lower and upper limits, NaN where undefined, shape (m,) each."""

    lower: Values
    upper: Values


def rlchecks(world: World, differences: Values, confidence: float = 0.95) -> Limits:
    """The intervals that decide in ``rlchecks gate``."""
    found = paired_limits(
        differences,
        binary_single=world.kind == "single",
        averaged_binary=world.kind == "averaged",
        clusters=clusters(differences.shape[1]) if world.clustered else None,
        confidence=confidence,
    )
    return Limits(found.lower, found.upper)


def plain_t(world: World, differences: Values, confidence: float = 0.95) -> Limits:
    """Student's interval on the questions' averages, clusters or not."""
    n = differences.shape[1]
    spread = differences.std(axis=1, ddof=1) / n**0.5
    half = stdtrit(n - 1, (1 + confidence) / 2) * np.where(spread > 0.0, spread, np.nan)
    mean = differences.mean(axis=1)
    return Limits(mean - half, mean + half)


def nemo(world: World, differences: Values, confidence: float = 0.95) -> Limits:
    """The rule of NeMo Evaluator's gate: t on the paired differences, z with clusters; no variance is no width.

    Source: NVIDIA-NeMo/Evaluator, engine/comparison.py and metrics/confidence.py, of 2026-07-23.
    """
    n = differences.shape[1]
    mean = differences.mean(axis=1)
    if world.clustered:
        code = clusters(n)
        count = int(code.max()) + 1
        residuals = differences - mean[:, None]
        sums = np.add.reduceat(residuals, np.flatnonzero(np.r_[True, np.diff(code) > 0]), axis=1)
        half = ndtri((1 + confidence) / 2) * np.sqrt(count / (count - 1) * (sums**2).sum(axis=1)) / n
    else:
        half = stdtrit(n - 1, (1 + confidence) / 2) * differences.std(axis=1, ddof=1) / n**0.5
    return Limits(mean - half, mean + half)


def plain(world: World, differences: Values, confidence: float = 0.95) -> Limits:
    """CR2 alone where there are clusters, else :func:`plain_t`."""
    if not world.clustered:
        return plain_t(world, differences, confidence)
    found = cr2_rows(differences, clusters(differences.shape[1]))
    half = stdtrit(found.df, (1 + confidence) / 2) * found.se
    return Limits(found.mean - half, found.mean + half)


RULES = {"rlchecks": rlchecks, "plain t": plain_t, "NeMo": nemo}

SMALLEST = {"rlchecks": 100, "plain t": 2, "NeMo": 10}
"""Questions below which a rule decides nothing."""
