"""Telling the copies among the sources of a search from their originals."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from rlchecks.readers.copies import Copy, Opened, alike, find_copies
from rlchecks.readers.search_result import Known, Refusal, Searched
from rlchecks.readers.source import Source
from rlchecks.readers.tree import Folder


def take_originals(
    searched: Searched, opened: Sequence[Opened], runs: Mapping[Path, Folder], known: Known | None
) -> None:
    """Write down which of the opened sources are to be read, and refuse those that are copies of them.

    Args:
        searched: the search; its marks are those of all opened sources.
        opened: the sources.
        runs: the run directories among them.
        known: what an earlier search saw.
    """
    _narrow(searched, runs)
    copies: dict[Source, Copy] = {}
    for group in alike(opened):
        copies |= _copies(searched, group, known)
    sources = [one.source for one in opened if one.source not in copies]
    # The parts of a file stay in the order in which its reader names them.
    searched.found.sources.extend(sorted(sources, key=lambda source: source.path))
    searched.found.refused.extend(Refusal(Path(str(one)), copy.reason, "copy") for one, copy in copies.items())


def _narrow(searched: Searched, runs: Mapping[Path, Folder]) -> None:
    """Take the runs below a run directory out of its fingerprint."""
    below: dict[Path, set[Path]] = {}
    for path in runs:
        for parent in path.parents:
            if parent in runs:
                below.setdefault(parent, set()).add(path)
    for source in searched.marks:
        if source.path in below:
            searched.marks[source] = runs[source.path].mark_without(below[source.path])


def _copies(searched: Searched, group: list[Opened], known: Known | None) -> dict[Source, Copy]:
    marks = {one.source: mark for one in group if (mark := searched.marks[one.source]) is not None}
    stamps = {source: mark.stamp for source, mark in marks.items()}
    before = known.copies(stamps) if known is not None and len(marks) == len(group) else None
    begun = time.time_ns()
    copies = find_copies(group) if before is None else before
    if len(marks) == len(group) and all(mark.settled(begun) for mark in marks.values()):
        searched.groups.append((stamps, copies))
    return copies
