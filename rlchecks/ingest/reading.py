"""What the reading of a source gave, and which files it looked at."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

from rlchecks.ingest.twins import Sketch
from rlchecks.readers.fingerprint import ABSENT, mark_of
from rlchecks.run import RunLog


class Reading(NamedTuple):
    """What the reading of a source gave.

    Attributes:
        entry: the run's entry in the document of ``ingest --json``, or the refusal.
        beside: the files that were read elsewhere than in the source, with their stamps; None if one of them was
            modified just now.
        content: hash of what the archive holds of the run; None for a refusal.
        sketch: of its rewards; None for a refusal.
        no_run: whether it was refused because it is no run of reinforcement learning.
        begun: when the reading began, in nanoseconds since 1970; of one that is remembered, long after it.
        older: whether it was refused because the archive has the run up to a later step; never remembered.
    """

    entry: dict[str, Any]
    beside: tuple[tuple[str, str], ...] | None = ()
    content: str | None = None
    sketch: Sketch | None = None
    no_run: bool = False
    begun: int = sys.maxsize
    older: bool = False


def beside(run: RunLog, path: Path, begun: int) -> tuple[tuple[str, str], ...] | None:
    """List the files that were read for a run, but are not below its path as a search lists it.

    Args:
        run: the run.
        path: its file or directory.
        begun: when the reading began, in nanoseconds since 1970.

    Returns:
        Absolute paths and stamps; None if one of them was modified so shortly before that it may change unnoticed.
    """
    home = os.path.realpath(path)
    found: dict[str, str] = {}
    for one in run.inputs:
        given = os.path.abspath(one.path)
        inside = os.path.relpath(os.path.join(os.path.realpath(os.path.dirname(given)), os.path.basename(given)), home)
        hidden = any(name.startswith(".") for name in inside.split(os.sep)[:-1])
        if given == os.path.abspath(path) or not (inside.startswith("..") or hidden):
            continue
        mark = mark_of(given)
        if mark.stamp == ABSENT or not mark.settled(begun):
            return None
        found[given] = mark.stamp
    return tuple(found.items())
