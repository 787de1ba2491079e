"""Several logs of one run, of which some may be unreadable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from rlchecks.errors import InputError
from rlchecks.readers.text import clean


class _Log(Protocol):
    @property
    def warnings(self) -> Sequence[str]: ...


L = TypeVar("L", bound=_Log)


def read_all(paths: Sequence[Path], read: Callable[[Path], L]) -> tuple[list[L], list[str]]:
    """Read the logs of one run; one that cannot be read is passed over and told about.

    A process that was killed at once leaves an empty log beside those of the others.

    Args:
        paths: the logs, in order.
        read: reads one of them.

    Returns:
        What could be read, and all warnings; of several logs they name the log.

    Raises:
        InputError: none of them can be read: the first reason.
    """
    logs: list[L] = []
    warnings: list[str] = []
    failure: InputError | None = None
    for path in paths:
        label = f"{clean(path.name)}: " if len(paths) > 1 else ""
        try:
            log = read(path)
        except InputError as error:
            failure = failure or error
            warnings.append(f"{label}passed over: {error.problem}")
            continue
        logs.append(log)
        warnings += [label + warning for warning in log.warnings]
    if failure is not None and not logs:
        raise failure
    return logs, warnings
