"""Finding the runs in a tree of files, each once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path

from rlchecks.readers.files import check_exists
from rlchecks.readers.fingerprint import Mark, mark_of
from rlchecks.readers.inside import is_inside, leads_out
from rlchecks.readers.looking import look_at_file, look_at_folder, look_beside_a_run
from rlchecks.readers.originals import take_originals
from rlchecks.readers.own_places import RunDirectory, told_of_links, told_of_others
from rlchecks.readers.registry import reader_named
from rlchecks.readers.search_result import Found, Known, Refusal, Searched
from rlchecks.readers.sight import OTHER, PART, Sight
from rlchecks.readers.sightings import Sightings
from rlchecks.readers.tree import ARCHIVE, Folder, list_tree
from rlchecks.readers.wanted_files import may_be_a_log

Seen = Callable[[int], None]
"""Takes the number of files that were looked at so far."""


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
    walk = _Walk(root.resolve(), rewards, known, seen)
    if root.is_dir():
        walk.folder(list_tree(root), None)
    else:
        walk.file(root, mark_of(root), named=True)
    return walk.finished(known)


class _Walk:
    """One walk through a tree."""

    def __init__(self, root: Path, rewards: frozenset[str], known: Known | None, seen: Seen) -> None:
        self.root = root
        self.rewards = rewards
        self.seen = seen
        self.count = 0
        self.searched = Searched()
        self.sightings = Sightings(self.searched, known)
        self.runs: dict[Path, Folder] = {}
        self.above: list[RunDirectory] = []
        self.links: list[Path] = []

    def folder(self, folder: Folder, above: RunDirectory | None, *, told: bool = False) -> None:
        """Search a directory.

        Args:
            folder: it.
            above: the run directory above, if there is one.
            told: whether it is in a directory that counts as one other log of that run.
        """
        if folder.fault is not None:
            self.searched.found.refused.append(Refusal(folder.path, folder.fault, "unreadable"))
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
        self.links.extend(path for name in folder.links if leads_out(path := folder.path / name, self.root))
        for one in folder.folders:
            self.folder(one, above, told=told)
        if folder.cut is not None:
            self.searched.found.refused.append(Refusal(folder.path, folder.cut, "unreadable"))

    def _look_at_folder(self, folder: Folder, above: RunDirectory | None) -> Sight:
        if above is None:
            inside, one_more = None, False
        elif above.place(folder.path) in (above.own or ()):
            return Sight(kind=PART)
        else:
            inside, one_more = above.reader, above.keeps(folder.path)
        own = one_more and above is not None and above.is_run
        return self.sightings.see(
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
                if leads_out(path, self.root):
                    self.links.append(path)
            elif above is None or not (one_more and above.is_run):
                self.file(path, leaf.mark, quiet=one_more)
            elif self.sightings.see(path, leaf.mark, OTHER, partial(look_beside_a_run, path)).kind == OTHER:
                above.others.append(path)

    def file(self, path: Path, mark: Mark | None, *, named: bool = False, quiet: bool = False) -> None:
        """Look at a file; ``named``: the user asked for this one; ``quiet``: what is no run gets no line."""
        look = partial(look_at_file, path, self.root, self.rewards, named=named)
        self.sightings.see(path, mark, None, look, quiet=quiet)

    def finished(self, known: Known | None) -> Searched:
        """Sum up the walk: what was passed over, and which sources are copies."""
        refused = self.searched.found.refused
        refused.extend(Refusal(*one) for one in (*told_of_others(self.above), *told_of_links(self.links)))
        take_originals(self.searched, self.sightings.opened, self.runs, known)
        refused.sort()
        return self.searched
