"""The rows of one held-out file before their values are understood."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from rlchecks.errors import InputError
from rlchecks.heldout.values import KNOWN, REQUIRED

EXPECTED = (
    "a held-out row has question_id, checkpoint, judge and score; name columns of your own with "
    "--heldout-column OWN=NAME"
)
"""What to do about a missing column."""

_OURS = frozenset({"run_id", "source_sha256"})  # of rows that come back from an archive


@dataclass(frozen=True)
class RawRows:
    """The rows of one file before their values are understood.

    Attributes:
        columns: those of :data:`KNOWN` that the file has: Arrow columns, or Python values.
        unknown: names of its other columns.
        count: number of rows.
        locate: index of a row to where it stands, such as ``line 12``.
        doubled: objects that name a key twice, of which the last value counts.
    """

    columns: Mapping[str, pa.ChunkedArray | Sequence[object]]
    unknown: tuple[str, ...]
    count: int
    locate: Callable[[int], str]
    doubled: int = 0


def unknown_columns(names: Sequence[str]) -> tuple[str, ...]:
    """Those names that held-out rows do not know."""
    return tuple(name for name in names if name not in KNOWN and name not in _OURS)


def require_columns(names: Sequence[str], path: Path, where: str | None = None) -> None:
    """Refuse a file whose header lacks a required column.

    Raises:
        InputError: which ones, and what was found instead.
    """
    missing = ", ".join(name for name in REQUIRED if name not in names)
    if missing:
        found = ", ".join(ascii(name)[1:-1][:40] for name in names[:20])
        raise InputError(f"there is no column {missing} (found: {found})", path=path, where=where, todo=EXPECTED)


def first_line(error: Exception) -> str:
    """The first line of another library's error, to be part of a sentence."""
    return str(error).split("\n", 1)[0][:200].rstrip(".")
