"""Whether a file is still the one that was read, told without reading it; and whether it would be read alike."""

from __future__ import annotations

import hashlib
import os
import sys
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import NamedTuple

from rlchecks import __version__
from rlchecks.readers.guarded import Guarded
from rlchecks.readers.registry import ENTRY_POINTS, readers

SETTLED_NS = 2_000_000_000
"""A file that was modified less than this before it was read may have changed since without that its time tells: FAT
counts in steps of two seconds."""

ABSENT = "absent"
"""The stamp of what is not there."""


class Mark(NamedTuple):
    """What a file is known by, without a look into it.

    Attributes:
        stamp: its size, times of modification and change, and inode; of a directory that was listed, a hash of those
            of everything in it.
        newest: the latest modification, in nanoseconds since 1970.
    """

    stamp: str
    newest: int

    def settled(self, begun: int) -> bool:
        """Whether every change will show that came after a reading had begun.

        Args:
            begun: when it began, in nanoseconds since 1970.
        """
        return self.newest <= begun - SETTLED_NS


def mark(status: os.stat_result) -> Mark:
    """Mark what has this status."""
    times = f"{status.st_mtime_ns}-{status.st_ctime_ns}"
    return Mark(f"{status.st_size}-{times}-{status.st_ino}", status.st_mtime_ns)


def mark_of(path: str | Path) -> Mark:
    """Mark what is at a path, links followed, be it a file, a directory, or nothing."""
    try:
        return mark(os.stat(path))
    except (OSError, ValueError):
        return Mark(ABSENT, 0)


def mark_whole(path: str | Path) -> Mark:
    """Mark what is at a path as :func:`mark_of` does, but a directory together with each entry of it."""
    own = mark_of(path)
    try:
        with os.scandir(path) as scan:
            entries = sorted((entry.name, mark_of(entry.path)) for entry in scan)
    except (OSError, ValueError):
        return own
    lines = "\n".join(f"{name}/{one.stamp}" for name, one in entries)
    digest = hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()
    return Mark(f"{own.stamp}+{digest}", max([own.newest, *(one.newest for _, one in entries)]))


@cache
def readers_version() -> str:
    """Return a hash of everything but the logs that a reading depends on: rlchecks' own code, third parties' readers.

    Of a third party's package its version and the module of the reader count.
    """
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256(__version__.encode())
    own = [
        path
        for folder in (package, package / "readers", package / "ingest")
        for path in folder.glob("*.*")
        if path.is_file()
    ]
    modules = [sys.modules[type(reader.inner).__module__] for reader in readers() if isinstance(reader, Guarded)]
    others = [Path(file) for module in modules if (file := getattr(module, "__file__", None))]
    for path in [*sorted(own), *others]:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    for point in entry_points(group=ENTRY_POINTS):
        digest.update(f"{point.name} {point.value} {point.dist.version if point.dist else ''}".encode())
    return digest.hexdigest()
