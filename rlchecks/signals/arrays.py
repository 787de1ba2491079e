"""Array types, and division that says "undefined" instead of warning."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


def divide(numerator: npt.NDArray[Any], denominator: npt.NDArray[Any], where: Flags | None = None) -> Floats:
    """Divide element by element; NaN where the denominator is not above 0, or where ``where`` says no."""
    possible = denominator > 0 if where is None else where
    quotient = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), np.nan)
    return np.asarray(np.divide(numerator, denominator, out=quotient, where=possible), dtype=np.float64)


def per_row(values: Floats, chosen: Flags) -> Floats:
    """Mean of the chosen values of each row, shape ``(R,)``; NaN for a row without any."""
    return divide(np.where(chosen, values, 0.0).sum(axis=1), chosen.sum(axis=1))
