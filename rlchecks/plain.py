"""Values as JSON can hold them."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any


def plain(value: Any) -> Any:
    """The same with words where JSON has no number: ``NaN``, ``Infinity``, ``-Infinity``, as JavaScript and Python say.

    Args:
        value: anything; mappings, lists and tuples are searched.
    """
    if isinstance(value, float) and not isfinite(value):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value
