"""What a search sees, path by path: looked at once, or known from an earlier search."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from rlchecks.readers.copies import Opened
from rlchecks.readers.fingerprint import Mark
from rlchecks.readers.registry import reader_named
from rlchecks.readers.search_result import Known, Refusal, Searched
from rlchecks.readers.sight import Part, Sight
from rlchecks.readers.source import Source
from rlchecks.readers.text import shown


class Sightings:
    """What a search has seen so far.

    Args:
        searched: where it is written down.
        known: what an earlier search saw.

    Attributes:
        opened: the sources, those that may be copies too.
    """

    def __init__(self, searched: Searched, known: Known | None) -> None:
        self.opened: list[Opened] = []
        self._searched = searched
        self._known = known

    def see(
        self, path: Path, mark: Mark | None, inside: str | None, look: Callable[[], Sight], *, quiet: bool = False
    ) -> Sight:
        """See what is at a path.

        Args:
            path: file or directory.
            mark: what it is known by; None if not all of it is known.
            inside: what else the look depends on, such as the reader of the run above.
            look: looks at it.
            quiet: what is no run gets no line.
        """
        known = None if self._known is None or mark is None else self._known.sight(path, mark.stamp, inside)
        begun = time.time_ns()
        sight = look() if known is None else known
        whole = None if mark is None else _together(mark, *(one for _, one in sight.beside))
        if mark is not None and whole is not None and (known is not None or whole.settled(begun)):
            self._searched.sights[path] = mark.stamp, inside, sight
        if sight.reason is not None and not (quiet and sight.kind == "not_a_run"):
            self._refuse(path, sight.reason, sight.kind)
        for part in sight.parts:
            self._take(path, sight.reader, part, whole)
        return sight

    def _take(self, path: Path, reader: str | None, part: Part, mark: Mark | None) -> None:
        source = Source(path, part.name)
        if source.nameless:
            problem = f"the run {shown(part.name or '')} in it cannot be named"
            self._refuse(path, f"{problem}: a file is called {shown(Path(str(source)).name)}; rename that file.")
        elif part.reason is not None:
            self._refuse(Path(str(source)), part.reason, part.kind)
        elif reader is not None:
            self._searched.marks[source] = mark
            self.opened.append(Opened(source, reader_named(reader), part.opening))

    def _refuse(self, path: Path, reason: str, kind: str | None = None) -> None:
        self._searched.found.refused.append(Refusal(path, reason, kind or "unreadable"))


def _together(*marks: Mark) -> Mark:
    return Mark("+".join(mark.stamp for mark in marks), max(mark.newest for mark in marks))
