"""Finding the runs in a tree of files, each once."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from rlchecks.readers.copies import Copy, Opened, alike, find_copies
from rlchecks.readers.files import check_exists
from rlchecks.readers.fingerprint import Mark, mark_of
from rlchecks.readers.looking import Sight, is_inside, look_at_file, look_at_folder, may_be_a_log
from rlchecks.readers.registry import Reader, reader_named
from rlchecks.readers.source import Source
from rlchecks.readers.tree import ARCHIVE, Folder, list_tree

Seen = Callable[[int], None]
"""Takes the number of files that were looked at so far."""


class Refusal(NamedTuple):
    """Something in the tree that is no source.

    Attributes:
        source: file or directory; ``PATH#PART`` for one of several runs.
        reason: why, in one sentence.
        kind: ``copy`` (of a source that was found; no fault), ``not_a_run`` or ``unreadable``.
    """

    source: Path
    reason: str
    kind: str


class Found(NamedTuple):
    """The runs in a tree: what to read, and what was refused."""

    sources: list[Source]
    refused: list[Refusal]


Stamps = dict[Source, str]
"""Sources with their fingerprints."""


class Known(Protocol):
    """What an earlier search saw, for files and directories that have not changed since."""

    def sight(self, path: Path, stamp: str, inside: str | None) -> Sight | None:
        """Return what a path was seen to be when it had this stamp, below a run of this reader."""

    def copies(self, group: Stamps) -> dict[Source, Copy] | None:
        """Return which of these sources, with these stamps, are copies of which."""


@dataclass
class Searched:
    """A finished search.

    Attributes:
        found: what was found.
        sights: what each path that was looked at was seen to be, with its stamp and the reader of the run above it;
            those alone whose later changes will show.
        groups: the sources that were compared with each other, and which of them are copies; likewise.
        marks: what each source is known by; None if not all of it is known.
    """

    found: Found
    sights: dict[Path, tuple[str, str | None, Sight]] = field(default_factory=dict)
    groups: list[tuple[Stamps, dict[Source, Copy]]] = field(default_factory=list)
    marks: dict[Source, Mark | None] = field(default_factory=dict)


def find_runs(path: str | Path, columns: Mapping[str, str] | None = None) -> Found:
    """Find the runs in a tree.

    A directory that a reader recognises is one run, or several, whatever else it holds, be it checkpoints or a
    tracker's copy of the log; below it only further directories of the same kind count. Elsewhere files count that a
    reader recognises. Links are followed to files inside the tree only, hidden directories and archives of rlchecks
    are passed over, and at most :data:`rlchecks.readers.tree.MAX_DEPTH` levels and
    :data:`rlchecks.readers.tree.MAX_ENTRIES` entries are searched. Of several copies or earlier states of one log the
    longest is a source.

    Args:
        path: a directory, or a file.
        columns: the user's own column to canonical name; a table with a column that is said to be the reward counts.

    Returns:
        Sources in the order of their paths, and what was refused: copies, logs without a reward, and what could not
        be read. Files of other kinds (a README, held-out results) are not mentioned.

    Raises:
        InputError: there is no such file or directory, or its name is none.
    """
    return search(path, columns).found


def search(
    path: str | Path,
    columns: Mapping[str, str] | None = None,
    known: Known | None = None,
    seen: Seen = lambda count: None,
) -> Searched:
    """Find the runs in a tree as :func:`find_runs` does, and say what would have to be known to do it again.

    Args:
        path: as there.
        columns: as there.
        known: what an earlier search with the same columns saw.
        seen: called now and then with the number of files that were looked at so far.

    Raises:
        InputError: as there.
    """
    root = Path(path)
    check_exists(root)
    rewards = frozenset(own for own, name in (columns or {}).items() if name == "reward")
    one = _Search(root.resolve(), rewards, known, seen)
    if root.is_dir():
        one.folder(list_tree(root), None)
    else:
        one.file(root, mark_of(root), named=True)
    return one.finished()


class _Search:
    def __init__(self, root: Path, rewards: frozenset[str], known: Known | None, seen: Seen) -> None:
        self.root = root
        self.rewards = rewards
        self.known = known
        self.seen = seen
        self.count = 0
        self.refused: list[Refusal] = []
        self.opened: list[Opened] = []
        self.runs: dict[Path, Folder] = {}
        self.done = Searched(Found([], []))

    def folder(self, folder: Folder, inside: Reader | None) -> None:
        """Search a directory; ``inside`` is the reader of the run directory above, if there is one."""
        if folder.fault is not None:
            self.refused.append(Refusal(folder.path, folder.fault, "unreadable"))
            return
        if folder.names >= ARCHIVE:
            return
        sight = self._see(
            folder.path,
            folder.mark,
            inside.name if inside else None,
            lambda: look_at_folder(folder.path, folder.names, inside, self.root, self.rewards),
        )
        if sight.parts:
            self.runs[folder.path] = folder
        below = inside or (reader_named(sight.reader) if sight.reader else None)
        for leaf in folder.leaves if below is None else ():
            if may_be_a_log(leaf.name) and (not leaf.link or is_inside(folder.path / leaf.name, self.root)):
                self.file(folder.path / leaf.name, leaf.mark)
        self.count += len(folder.leaves)
        self.seen(self.count)
        for one in folder.folders:
            self.folder(one, below)
        if folder.cut is not None:
            self.refused.append(Refusal(folder.path, folder.cut, "unreadable"))

    def file(self, path: Path, mark: Mark | None, *, named: bool = False) -> None:
        """Look at a file; ``named``: the user asked for this one."""
        self._see(path, mark, None, lambda: look_at_file(path, self.rewards, named=named))

    def _see(self, path: Path, mark: Mark | None, inside: str | None, look: Callable[[], Sight]) -> Sight:
        known = None if self.known is None or mark is None else self.known.sight(path, mark.stamp, inside)
        begun = time.time_ns()
        sight = look() if known is None else known
        whole = None if mark is None else _together(mark, *(one for _, one in sight.beside))
        if mark is not None and whole is not None and (known is not None or whole.settled(begun)):
            self.done.sights[path] = mark.stamp, inside, sight
        if sight.reason is not None:
            self.refused.append(Refusal(path, sight.reason, sight.kind or "unreadable"))
        for part in sight.parts:
            source = Source(path, part.name)
            if part.reason is not None:
                self.refused.append(Refusal(Path(str(source)), part.reason, part.kind or "unreadable"))
            elif sight.reader is not None:
                self.done.marks[source] = whole
                self.opened.append(Opened(source, reader_named(sight.reader), part.opening))
        return sight

    def finished(self) -> Searched:
        """Tell copies from sources."""
        self._narrow()
        copies: dict[Source, Copy] = {}
        for group in alike(self.opened):
            copies |= self._copies(group)
        self.refused.extend(Refusal(Path(str(one)), copy.reason, "copy") for one, copy in copies.items())
        sources = [one.source for one in self.opened if one.source not in copies]
        # The parts of a file stay in the order in which its reader names them.
        self.done.found.sources.extend(sorted(sources, key=lambda source: source.path))
        self.done.found.refused.extend(sorted(self.refused))
        return self.done

    def _narrow(self) -> None:
        """Take the runs below a run directory out of its fingerprint."""
        below: dict[Path, set[Path]] = {}
        for path in self.runs:
            for parent in path.parents:
                if parent in self.runs:
                    below.setdefault(parent, set()).add(path)
        for source in self.done.marks:
            if source.path in below:
                self.done.marks[source] = self.runs[source.path].mark_without(below[source.path])

    def _copies(self, group: list[Opened]) -> dict[Source, Copy]:
        marks = {one.source: mark for one in group if (mark := self.done.marks[one.source]) is not None}
        stamps = {source: mark.stamp for source, mark in marks.items()}
        known = self.known.copies(stamps) if self.known is not None and len(marks) == len(group) else None
        begun = time.time_ns()
        copies = find_copies(group) if known is None else known
        if len(marks) == len(group) and all(mark.settled(begun) for mark in marks.values()):
            self.done.groups.append((stamps, copies))
        return copies


def _together(*marks: Mark) -> Mark:
    return Mark("+".join(mark.stamp for mark in marks), max(mark.newest for mark in marks))
