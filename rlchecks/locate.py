"""What some paths stand for: files and directories that were named, and what is found in folders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rlchecks.errors import InputError, UsageError
from rlchecks.readers.aliases import framework
from rlchecks.readers.search import search
from rlchecks.readers.search_result import Known, Searched
from rlchecks.readers.source import source_of


@dataclass(frozen=True)
class Sources:
    """What was found below the paths of a request.

    Attributes:
        runs: paths to read, one a run.
        refused: documents ``{"source", "reason"}`` of what cannot be read.
        skipped: the same for what need not be: copies of other runs, and files in a folder that are no runs.
        searched: the search below each path.
        named: those of the runs that were named themselves, not found in a folder.
    """

    runs: tuple[str, ...]
    refused: tuple[dict[str, str], ...]
    skipped: tuple[dict[str, str], ...]
    searched: tuple[Searched, ...] = ()
    named: frozenset[str] = frozenset()


def find(
    paths: Sequence[str],
    columns: Mapping[str, str] | None = None,
    memories: Sequence[Known | None] = (),
    seen: Callable[[int], None] = lambda count: None,
) -> Sources:
    """Find the runs below the paths; a file that was named itself and is no run is refused, not skipped.

    Args:
        paths: files, run directories, folders, or ``PATH#PART``.
        columns: the log's own column to canonical metric.
        memories: what is known of each path, if anything.
        seen: called now and then with the number of files that were looked at.

    Raises:
        InputError: a path does not exist.
        UsageError: a path is empty, or a column is declared to be what is no metric.
    """
    framework("table").with_columns(dict(columns or {}))
    runs: list[str] = []
    refused: list[dict[str, str]] = []
    skipped: list[dict[str, str]] = []
    every: list[Searched] = []
    own: set[str] = set()
    for path, memory in zip_longest(paths, memories):
        if not path.strip():
            raise UsageError("A path is empty; give a file or a folder.")
        named = source_of(path)
        if not named.path.exists():
            raise InputError("there is no such file or directory", path=path)
        own.add(str(named))
        if named.part is not None:
            runs.append(str(named))
            every.append(Searched())
            continue
        searched = search(path, columns, memory, seen)
        every.append(searched)
        found = searched.found
        runs += (str(source) for source in found.sources)
        for refusal in found.refused:
            entry = {"source": str(refusal.source), "reason": refusal.reason}
            harmless = refusal.kind == "copy" or (refusal.kind == "not_a_run" and found.sources)
            (skipped if harmless else refused).append(entry)
    return Sources(tuple(dict.fromkeys(runs)), tuple(refused), tuple(skipped), tuple(every), frozenset(own))
