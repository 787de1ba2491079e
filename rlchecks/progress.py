"""A progress bar on stderr for work that takes long, and nothing where nobody looks at it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

Progress = Callable[[int, int | None], None]
"""Takes what is done so far and the total; a total of None: the number of files that were looked at so far."""


@contextmanager
def progress(what: str) -> Iterator[Progress]:
    """Show a bar while the block runs, if stderr is a terminal.

    Args:
        what: the things that are counted, such as ``runs``.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda done, total: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=None)
        before = 0

        def show(done: int, total: int | None) -> None:
            nonlocal before
            if total is None:
                bar.update(task, description=f"{done:,} files looked at")
                return
            if before == 0 or done < before:
                # Another kind of work: what remains is told by its own speed.
                bar.reset(task, description=what)
            before = done
            bar.update(task, completed=done, total=total)

        yield show


def counting(show: Progress, total: int, size: Callable[[T], int]) -> Callable[[T], None]:
    """Count finished shards.

    Args:
        show: told what is done so far.
        total: of all shards together.
        size: how much a shard counts.

    Returns:
        a function to call with each shard that is done.
    """
    done = 0

    def count(shard: T) -> None:
        nonlocal done
        done += size(shard)
        show(done, total)

    return count
