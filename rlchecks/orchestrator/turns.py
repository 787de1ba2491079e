"""One process at a time, among those that know the same file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_POLL_SECONDS = 0.05


@contextmanager
def turn(path: Path, *, give_up: Callable[[], bool]) -> Iterator[None]:
    """Hold an exclusive lock on ``path`` while the block runs; it ends with the process, however that ends.

    Args:
        path: the file to lock, created where it does not exist, never deleted.
        give_up: asked while waiting; True stops the waiting, and the block runs without the lock.

    Raises:
        OSError: the file cannot be opened.
    """
    import fcntl

    with path.open("a") as file:
        while not give_up():
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(_POLL_SECONDS)
        yield
