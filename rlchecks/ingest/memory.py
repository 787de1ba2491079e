"""What an ingestion remembers of a path: what its files were seen to be, and what the reading of each run gave.

Nothing of it counts unless the files are still the same, by their fingerprints, the readers are, and the archive still
holds the run as it was written.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rlchecks.archive import sources
from rlchecks.archive.store import Store
from rlchecks.ingest.reading import Reading
from rlchecks.ingest.twins import Sketch
from rlchecks.readers.copies import Copy
from rlchecks.readers.fingerprint import Mark, mark_whole, readers_version
from rlchecks.readers.search_result import Searched, Stamps
from rlchecks.readers.sight import Part, Sight
from rlchecks.readers.source import Source
from rlchecks.requests import IngestRequest

_Place = tuple[str, str | None]


class Memory:
    """What is known of one path, for one set of options.

    Args:
        root: the path that was searched.
        document: what :meth:`document` returned when it was searched before; None if it is new.
    """

    def __init__(self, root: str, document: Mapping[str, Any] | None = None) -> None:
        self.root = Path(root)
        known = document or {"sights": [], "groups": [], "readings": []}
        self._sights = {path: (stamp, inside, _sight(seen)) for path, stamp, inside, seen in known["sights"]}
        self._groups = {_group(members): copies for members, copies in known["groups"]}
        self._readings = {(path, part): (stamp, _reading(told)) for path, part, stamp, told in known["readings"]}

    def sight(self, path: Path, stamp: str, inside: str | None) -> Sight | None:
        """See :class:`rlchecks.readers.search_result.Known`."""
        before = self._sights.get(self._place(path))
        if (
            before is None
            or before[:2] != (stamp, inside)
            or not _unchanged((one, mark.stamp) for one, mark in before[2].beside)
        ):
            return None
        return before[2]

    def copies(self, group: Stamps) -> dict[Source, Copy] | None:
        """See :class:`rlchecks.readers.search_result.Known`."""
        found = self._groups.get(_group((*self._key(source), stamp) for source, stamp in group.items()))
        if found is None:
            return None
        return {
            self._source(path, part): Copy(self._source(*original), steps, of)
            for path, part, original, steps, of in found
        }

    def reading(self, source: Source, mark: Mark | None, store: Store) -> Reading | None:
        """Return what the reading of a source gave, if it would give the same again."""
        stamp, reading = self._readings.get(self._key(source), (None, None))
        if reading is None or mark is None or mark.stamp != stamp or not _unchanged(reading.beside or ()):
            return None
        if reading.content is not None and not sources.holds(store, reading.entry["run_id"], reading.content):
            return None
        return reading

    def document(self, searched: Searched, readings: Mapping[Source, Reading]) -> dict[str, Any]:
        """Return what is to be remembered, as JSON has it.

        Args:
            searched: what was searched.
            readings: what the reading of each source gave.
        """
        settled = {
            source: (mark.stamp, reading)
            for source, reading in readings.items()
            if (mark := searched.marks.get(source)) and mark.settled(reading.begun) and reading.beside is not None
        }
        return {
            "sights": [[self._place(path), *rest] for path, rest in searched.sights.items()],
            "groups": [
                [
                    [[*self._key(source), stamp] for source, stamp in group.items()],
                    [[*self._key(one), self._key(copy.original), copy.steps, copy.of] for one, copy in copies.items()],
                ]
                for group, copies in searched.groups
            ],
            "readings": [[*self._key(source), stamp, reading[:5]] for source, (stamp, reading) in settled.items()],
        }

    def _place(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def _key(self, source: Source) -> _Place:
        return self._place(source.path), source.part

    def _source(self, path: str, part: str | None) -> Source:
        return Source(self.root / path, part)


def recall(request: IngestRequest, path: str) -> Memory:
    """Return what the request's archive knows of one of its paths."""
    return Memory(path, sources.recall(Store(request.archive), _key_of(request, path)))


def remember(request: IngestRequest, path: str, document: Mapping[str, Any]) -> None:
    """Let the request's archive know what was found below one of its paths."""
    sources.remember(Store(request.archive), _key_of(request, path), document)


def _key_of(request: IngestRequest, path: str) -> str:
    options = [request.run_id, sorted(request.columns.items())]
    return sources.key_of([readers_version(), os.path.abspath(path), options])


def _unchanged(stamps: Iterable[tuple[str, str]]) -> bool:
    return all(mark_whole(path).stamp == stamp for path, stamp in stamps)


def _group(members: Any) -> frozenset[tuple[str, str | None, str]]:
    return frozenset((path, part, stamp) for path, part, stamp in members)


def _sight(told: Any) -> Sight:
    reader, parts, reason, kind, beside, own = told
    marks = tuple((path, Mark(*mark)) for path, mark in beside)
    return Sight(reader, tuple(Part(*part) for part in parts), reason, kind, marks, None if own is None else tuple(own))


def _reading(told: Any) -> Reading:
    entry, beside, content, rewards, no_run = told
    sketch = None if rewards is None else Sketch(*rewards)
    return Reading(entry, tuple((path, mark) for path, mark in beside), content, sketch, no_run)
