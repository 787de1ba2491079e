"""What a file or directory of a tree was seen to be."""

from __future__ import annotations

from typing import NamedTuple

from rlchecks.errors import InputError, NotARunError
from rlchecks.readers.fingerprint import Mark

PART = "part"
"""The kind of a directory that is a part of the run above it."""

OTHER = "other"
"""The kind of a log in a run directory that another reader would read: one more log of that run."""

FAULTS = (InputError, OSError, RecursionError)
"""What a look may end with: also what vanishes while it is looked at, and what is nested without end."""


class Part(NamedTuple):
    """One run of a file or directory.

    Attributes:
        name: how its reader calls it; None for the only run.
        opening: a hash of each line that its log begins with; None if the reader does not tell.
        reason: why it is no run after all.
        kind: of the refusal; see :class:`rlchecks.readers.search_result.Refusal`.
    """

    name: str | None = None
    opening: str | None = None
    reason: str | None = None
    kind: str | None = None


class Sight(NamedTuple):
    """What a file or directory was seen to be.

    Attributes:
        reader: name of its reader; None if there is none.
        parts: its runs.
        reason: why it is none, if that is worth a line.
        kind: of the refusal; :data:`PART` or :data:`OTHER` of what is in a run directory.
        beside: paths outside of it that its reader looks at, with their marks.
        own: of a run directory the names of the files in it, and the paths of the directories below it, that its
            reader reads, that of the first log first; None if that is not known.
    """

    reader: str | None = None
    parts: tuple[Part, ...] = ()
    reason: str | None = None
    kind: str | None = None
    beside: tuple[tuple[str, Mark], ...] = ()
    own: tuple[str, ...] | None = None


def reason_and_kind(error: Exception) -> tuple[str, str]:
    """Write one of :data:`FAULTS` as the reason and the kind of a refusal."""
    if isinstance(error, InputError):
        # The reason stands beside the source, so it does not repeat its path.
        reason = str(InputError(error.problem, where=error.where, todo=error.todo))
        return reason, "not_a_run" if isinstance(error, NotARunError) else "unreadable"
    why = f"cannot be read ({error.strerror})" if isinstance(error, OSError) else "nested too deeply for a log"
    return f"{why}.", "unreadable"
