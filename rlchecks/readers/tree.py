"""A tree of files, listed once: what a search walks through, and what tells whether a part of it has changed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from rlchecks.readers.fingerprint import ABSENT, Mark, mark, mark_of

MAX_DEPTH = 16
"""Levels of directories that are searched."""

MAX_ENTRIES = 200_000
"""Files and directories that are looked at."""

ARCHIVE = frozenset({".locks", "runs", "steps"})
"""What is in every archive of rlchecks; its tables were made from logs and are none, so it is not entered."""


class Leaf(NamedTuple):
    """A file, or a link to one.

    Attributes:
        name: its name.
        mark: what it is known by; None if it cannot be looked at.
        link: whether it is a link.
    """

    name: str
    mark: Mark | None
    link: bool


@dataclass
class Folder:
    """A directory of the tree.

    Attributes:
        path: where it is.
        names: of everything in it, hidden directories and links to directories too.
        leaves: its files, by name.
        folders: the directories in it that are searched, by name.
        links: names of the links to directories in it, which are not entered.
        fault: why it could not be listed.
        cut: why the rest of the tree is not listed, where the listing ends.
        mark: what everything below it is known by; None if not all of that is known.
    """

    path: Path
    names: frozenset[str] = frozenset()
    leaves: list[Leaf] = field(default_factory=list)
    folders: list[Folder] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    fault: str | None = None
    cut: str | None = None
    mark: Mark | None = None
    _others: list[tuple[str, Mark | None]] = field(default_factory=list)

    def mark_without(self, left_out: Collection[Path]) -> Mark | None:
        """Return what everything below but some directories is known by."""
        kept = [folder for folder in self.folders if folder.path not in left_out]
        return self._marked([(folder.path.name, folder.mark_without(left_out)) for folder in kept])

    def close(self) -> Folder:
        """Mark the directory, now that everything in it is listed."""
        self.mark = self._marked([(folder.path.name, folder.mark) for folder in self.folders])
        return self

    def _marked(self, below: list[tuple[str, Mark | None]]) -> Mark | None:
        every = [*((leaf.name, leaf.mark) for leaf in self.leaves), *self._others, *below]
        known = [(name, one) for name, one in every if one is not None]
        if len(known) < len(every):
            return None
        lines = "\n".join(f"{name}/{one.stamp}" for name, one in known)
        stamp = hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()
        return Mark(stamp, max((one.newest for _, one in known), default=0))


def list_tree(root: Path) -> Folder:
    """List a directory and everything below it.

    Hidden directories and links to directories are not entered, and at most :data:`MAX_DEPTH` levels and
    :data:`MAX_ENTRIES` entries are listed.
    """
    return _Listing().folder(root, 0)


class _Listing:
    def __init__(self) -> None:
        self.count = 0

    def folder(self, path: Path, depth: int) -> Folder:
        folder = Folder(path)
        try:
            with os.scandir(path) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError as error:
            folder.fault = f"the directory cannot be listed ({error.strerror})"
            return folder
        folder.names = frozenset(entry.name for entry in entries)
        if folder.names >= ARCHIVE:
            folder.mark = Mark("archive", 0)
            return folder
        for entry in entries:
            self.count += 1
            if self.count > MAX_ENTRIES:
                if self.count == MAX_ENTRIES + 1:
                    folder.cut = f"more than {MAX_ENTRIES:,} files and directories: the rest was not searched"
                return folder
            if not _is_directory(entry):
                folder.leaves.append(_leaf(entry))
            elif entry.name.startswith(".") or entry.is_symlink():
                # Not entered: what is put into it or taken out shows in its time.
                folder._others.append((entry.name, mark_of(entry.path)))
                if not entry.name.startswith("."):
                    folder.links.append(entry.name)
            elif depth < MAX_DEPTH:
                folder.folders.append(self.folder(Path(entry.path), depth + 1))
            else:
                folder._others.append((entry.name, None))
        return folder.close()


def _leaf(entry: os.DirEntry[str]) -> Leaf:
    link = entry.is_symlink()
    try:
        return Leaf(entry.name, mark(entry.stat()), link)
    except OSError:
        # A link that leads nowhere.
        return Leaf(entry.name, Mark(ABSENT, 0) if link else None, link)


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
