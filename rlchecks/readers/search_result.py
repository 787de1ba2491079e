"""What a search of a tree finds, and what would have to be known of it to search again without a look."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from rlchecks.readers.copies import Copy
from rlchecks.readers.fingerprint import Mark
from rlchecks.readers.sight import Sight
from rlchecks.readers.source import Source


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

    found: Found = field(default_factory=lambda: Found([], []))
    sights: dict[Path, tuple[str, str | None, Sight]] = field(default_factory=dict)
    groups: list[tuple[Stamps, dict[Source, Copy]]] = field(default_factory=list)
    marks: dict[Source, Mark | None] = field(default_factory=dict)
