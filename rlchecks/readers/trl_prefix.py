"""Whether one ``trainer_state.json`` is an earlier one of the same run, told by its bytes, without parsing it."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import numpy as np

_KEY = b'"log_history"'
# The fields that transformers writes before log_history are few and short.
_BEFORE = 1 << 16
_BLOCK = 1 << 20
# More than the white space between two rows.
_MARGIN = 64


def is_beginning(earlier: Path, later: Path) -> bool:
    """Whether the logged rows of one state are, byte by byte, the first of another, whole rows of them.

    The trainer writes its whole log at each checkpoint, so that an earlier one is the beginning of a later one. False
    may also mean that they are formatted differently, or that one of them cannot be read.
    """
    try:
        with open(earlier, "rb") as one, open(later, "rb") as other:
            return _find(one) and _find(other) and _ends_in(one, other)
    except OSError:
        return False


def _find(file: BinaryIO) -> bool:
    at = file.read(_BEFORE).find(_KEY)
    file.seek(max(at, 0))
    return at >= 0


def _ends_in(one: BinaryIO, other: BinaryIO) -> bool:
    before = b""
    while first := one.read(_BLOCK):
        second = other.read(_BLOCK)
        same = _common(first, second)
        if same == len(first) == len(second):
            before = first[-_MARGIN:]
            continue
        ended = (before + first[:same])[-_MARGIN:].rstrip().endswith(b"}")
        rest, more = first[same:] + one.read(_MARGIN), second[same:] + other.read(_MARGIN)
        return ended and rest.lstrip().startswith(b"]") and more.lstrip().startswith(b",")
    return not other.read(1)


def _common(first: bytes, second: bytes) -> int:
    """Return how many bytes two blocks begin with alike."""
    size = min(len(first), len(second))
    differs = np.frombuffer(first, np.uint8, size) != np.frombuffer(second, np.uint8, size)
    return int(differs.argmax()) if differs.any() else size
