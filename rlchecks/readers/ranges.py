"""Values that leave the range of their metric: strays to be dropped, or another quantity under the metric's name."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rlchecks.metrics import METRICS
from rlchecks.readers.maps import Series

STRAYS = 0.02
"""Largest share of a column's values outside of the range that counts as strays; more are another quantity, such as
a metric in per cent."""

# A fraction that a framework computed in single precision may exceed 1 by its last bit.
_SLACK = 1e-6


def outside(name: str, series: Series) -> NDArray[np.bool_]:
    """Tell which values of a metric leave its range; NaN and infinity, which a framework may log, do not.

    Args:
        name: canonical name; what is no metric has no range.
        series: its values.
    """
    if name not in METRICS:
        return np.zeros(len(series.numbers), dtype=np.bool_)
    metric, numbers = METRICS[name], series.numbers
    wrong = (numbers < metric.low - _SLACK) | (numbers > metric.high + _SLACK)
    return np.asarray(wrong & np.isfinite(numbers))


def are_strays(wrong: NDArray[np.bool_]) -> bool:
    """Whether so few values are wrong that the others can be used."""
    return bool(wrong.sum() <= STRAYS * len(wrong))


def limits(name: str) -> str:
    """Write what is outside of a metric's range, for a sentence."""
    metric = METRICS[name]
    return f"below {metric.low:g}" if metric.high == np.inf else f"outside {metric.low:g} to {metric.high:g}"
