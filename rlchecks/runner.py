"""How the stages of a pipeline are run: as plain function calls here, as Prefect tasks in :mod:`rlchecks.steps`.

The composition of each pipeline is written once, against :class:`Runner`.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

SINGLE_THREADED = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""Environment of worker processes: one process a core is what keeps the cores busy, threads beside it only fight."""


class Runner(Protocol):
    """Runs stages."""

    def call(self, stage: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run one stage and return its result."""
        ...

    def map(
        self,
        stage: Callable[[T], R],
        shards: Sequence[T],
        /,
        workers: int | None = None,
        done: Callable[[T], None] = lambda shard: None,
    ) -> list[R]:
        """Run a stage on every shard, in processes; results in the order of the shards.

        Args:
            stage: a module-level function.
            shards: its argument, one a call.
            workers: processes; None: one a core.
            done: called with each shard when its result is there, to show progress.
        """
        ...


class LocalRunner:
    """Runs stages as plain functions."""

    def call(self, stage: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the stage."""
        return stage(*args, **kwargs)

    def map(
        self,
        stage: Callable[[T], R],
        shards: Sequence[T],
        /,
        workers: int | None = None,
        done: Callable[[T], None] = lambda shard: None,
    ) -> list[R]:
        """Call the stage on every shard; in processes if there is more than one shard and worker."""
        count = min(worker_count(workers), len(shards))
        results: list[R] = []
        if count < 2:
            for shard in shards:
                results.append(stage(shard))
                done(shard)
            return results
        # Not by fork: this process may run threads, and a lock that one of them holds would never open in the child.
        context = get_context("spawn")
        with single_threaded(), ProcessPoolExecutor(count, context, initializer=prepare_worker) as pool:
            for shard, result in zip(shards, pool.map(stage, shards), strict=True):
                results.append(result)
                done(shard)
        return results


def prepare_worker() -> None:
    """Prepare a worker process: one thread for linear algebra, and an end with its parent.

    Ctrl-C reaches every process of a terminal; the parent handles it. A worker whose parent was killed would wait for
    work for ever.
    """
    os.environ.update(SINGLE_THREADED)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def worker_count(workers: int | None) -> int:
    """Number of worker processes: as asked, else one for each core that this process may use."""
    if workers is not None:
        return max(1, workers)
    # Not every system can say which cores this process may use.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def single_threaded() -> Iterator[None]:
    """Let processes that start inside the block use one thread each for linear algebra."""
    before = {name: os.environ.get(name) for name in SINGLE_THREADED}
    os.environ.update(SINGLE_THREADED)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def shards_of(items: Sequence[T], workers: int | None, largest: int) -> list[Sequence[T]]:
    """Cut items into consecutive shards: at least two a worker if there are enough, none above ``largest``."""
    if not items:
        return []
    parts = max(-(-len(items) // largest), min(2 * worker_count(workers), -(-len(items) // 8)))
    size = -(-len(items) // parts)
    return [items[at : at + size] for at in range(0, len(items), size)]
