"""Finding the runs in a tree of files, each once."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

from rlchecks.readers.copies import Copy, Opened, alike, find_copies
from rlchecks.readers.files import check_exists
from rlchecks.readers.fingerprint import Mark, mark_of
from rlchecks.readers.looking import (
    OTHER,
    PART,
    Sight,
    is_inside,
    look_at_file,
    look_at_folder,
    look_beside_a_run,
    may_be_a_log,
)
from rlchecks.readers.own_places import RunDirectory, told_of_links, told_of_others
from rlchecks.readers.registry import reader_named
from rlchecks.readers.source import Source
from rlchecks.readers.text import shown
from rlchecks.readers.tree import ARCHIVE, Folder, list_tree

Seen = Callable[[int], None]
"""Takes the number of files that were looked at so far."""


class Refusal(NamedTuple):
    """Something in the tree that is no source.

    Attributes:
        source: file or directory; ``PATH#PART`` for one of several runs.
        reason: why, in one sentence.
        kind: ``copy`` (of a source that was found, or one more log of its run; no fault), ``not_a_run`` or
            ``unreadable``.
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

    A directory that a reader recognises is one run, or several. Further directories of the same kind below it are
    runs of their own, and so is whatever is in a directory with a name of its own. Other logs in it, or in a directory
    that trainers and trackers make there (:mod:`rlchecks.readers.own_places`), are taken for more logs of that run:
    they are not read, and one line names them. Elsewhere files count that a reader recognises. Links are followed to
    files inside the tree only, and one line names the others; hidden directories and archives of rlchecks are passed
    over, and at most :data:`rlchecks.readers.tree.MAX_DEPTH` levels and
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
        self.above: list[RunDirectory] = []
        self.links: list[Path] = []
        self.done = Searched(Found([], []))

    def folder(self, folder: Folder, above: RunDirectory | None, *, told: bool = False) -> None:
        """Search a directory.

        Args:
            folder: it.
            above: the run directory above, if there is one.
            told: whether it is in a directory that counts as one other log of that run.
        """
        if folder.fault is not None:
            self.refused.append(Refusal(folder.path, folder.fault, "unreadable"))
            return
        if folder.names >= ARCHIVE:
            return
        sight = self._look_at_folder(folder, above)
        if sight.parts:
            self.runs[folder.path] = folder
        told = told and above is not None and above.keeps(folder.path)
        if sight.kind == OTHER and above is not None:
            if not told:
                above.others.append(folder.path)
            told = True
        elif sight.reader is not None:
            above, told = RunDirectory(reader_named(sight.reader), folder.path, sight.own, bool(sight.parts)), False
            self.above.append(above)
        if not told and sight.kind != PART:
            self._leaves(folder, above)
        self.count += len(folder.leaves)
        self.seen(self.count)
        self.links.extend(path for name in folder.links if _leads_out(path := folder.path / name, self.root))
        for one in folder.folders:
            self.folder(one, above, told=told)
        if folder.cut is not None:
            self.refused.append(Refusal(folder.path, folder.cut, "unreadable"))

    def _look_at_folder(self, folder: Folder, above: RunDirectory | None) -> Sight:
        if above is None:
            inside, one_more = None, False
        elif above.place(folder.path) in (above.own or ()):
            return Sight(kind=PART)
        else:
            inside, one_more = above.reader, above.keeps(folder.path)
        own = one_more and above is not None and above.is_run
        return self._see(
            folder.path,
            folder.mark,
            f"{inside.name}/{own:d}" if inside else None,
            lambda: look_at_folder(folder.path, folder.names, inside, self.root, self.rewards, own=own),
            quiet=one_more,
        )

    def _leaves(self, folder: Folder, above: RunDirectory | None) -> None:
        """Search the files of a directory."""
        known: Collection[str] = ()
        if above is not None and above.path == folder.path:
            if above.own is None:
                return
            known = above.own
        one_more = above is not None and above.keeps(folder.path)
        for leaf in folder.leaves:
            path = folder.path / leaf.name
            if leaf.name in known or not may_be_a_log(leaf.name):
                continue
            if leaf.link and not is_inside(path, self.root):
                if _leads_out(path, self.root):
                    self.links.append(path)
            elif above is None or not (one_more and above.is_run):
                self.file(path, leaf.mark, quiet=one_more)
            elif self._see(path, leaf.mark, OTHER, partial(look_beside_a_run, path)).kind == OTHER:
                above.others.append(path)

    def file(self, path: Path, mark: Mark | None, *, named: bool = False, quiet: bool = False) -> None:
        """Look at a file; ``named``: the user asked for this one; ``quiet``: what is no run gets no line."""
        look = partial(look_at_file, path, self.root, self.rewards, named=named)
        self._see(path, mark, None, look, quiet=quiet)

    def _see(
        self, path: Path, mark: Mark | None, inside: str | None, look: Callable[[], Sight], *, quiet: bool = False
    ) -> Sight:
        known = None if self.known is None or mark is None else self.known.sight(path, mark.stamp, inside)
        begun = time.time_ns()
        sight = look() if known is None else known
        whole = None if mark is None else _together(mark, *(one for _, one in sight.beside))
        if mark is not None and whole is not None and (known is not None or whole.settled(begun)):
            self.done.sights[path] = mark.stamp, inside, sight
        if sight.reason is not None and not (quiet and sight.kind == "not_a_run"):
            self.refused.append(Refusal(path, sight.reason, sight.kind or "unreadable"))
        for part in sight.parts:
            source = Source(path, part.name)
            if source.nameless:
                problem = f"the run {shown(part.name or '')} in it cannot be named"
                reason = f"{problem}: a file is called {shown(Path(str(source)).name)}; rename that file."
                self.refused.append(Refusal(path, reason, "unreadable"))
            elif part.reason is not None:
                self.refused.append(Refusal(Path(str(source)), part.reason, part.kind or "unreadable"))
            elif sight.reader is not None:
                self.done.marks[source] = whole
                self.opened.append(Opened(source, reader_named(sight.reader), part.opening))
        return sight

    def finished(self) -> Searched:
        """Tell copies from sources."""
        self._narrow()
        told = [*told_of_others(self.above), *told_of_links(self.links)]
        self.refused.extend(Refusal(*one) for one in told)
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


def _leads_out(path: Path, root: Path) -> bool:
    return os.path.exists(path) and not is_inside(path, root)


def _together(*marks: Mark) -> Mark:
    return Mark("+".join(mark.stamp for mark in marks), max(mark.newest for mark in marks))
