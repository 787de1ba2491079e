"""Which logs are one run that was stopped and resumed: each restart of a trainer begins a log of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Attempt(NamedTuple):
    """A log that one start of a trainer wrote.

    Attributes:
        first: its first training step.
        last: its last training step.
        keys: the logged keys.
        interval: steps between its first two logged ones.
    """

    first: int
    last: int
    keys: frozenset[str]
    interval: int = 1


def interval_of(steps: Iterable[int]) -> int:
    """Tell the interval of logging from logged steps; 1 if there is only one."""
    two = sorted(set(steps))[:2]
    return two[1] - two[0] if len(two) == 2 else 1


def join(attempts: Sequence[Attempt]) -> list[list[int]]:
    """Group attempts to runs.

    A log continues the latest one before it that has a key in common, began at an earlier step and reached at least
    the step before its own first, up to the interval of logging, which is taken to be its own first step at most. A
    log that begins where the others began, or one interval of its own logging after 0, is a new run, not a
    continuation.

    Args:
        attempts: in the order in which they were begun.

    Returns:
        The attempts of each run by their place, in order; runs in the order of their first attempts.
    """
    runs: list[list[int]] = []
    for place, attempt in enumerate(attempts):
        for run in reversed(runs):
            latest = attempts[run[-1]]
            began = attempts[run[0]].first
            # A resumed log begins one interval of logging after a step that its predecessor reached; the first step of
            # the run is the length of that interval, or less.
            if (
                max(began, attempt.interval) < attempt.first <= latest.last + max(began, 1)
                and attempt.keys & latest.keys
            ):
                run.append(place)
                break
        else:
            runs.append([place])
    return runs
