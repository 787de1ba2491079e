"""Prefect's way to work on many runs at once: in processes, since threads do not speed up parsing.

A task stands for a shard of many runs: a task per run would cost more to record than most runs cost to read.

    with shard_runner(workers=2) as runner:
        futures = runner.map(read_shard, {"shard": shards})
        results = [future.result() for future in futures]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlchecks.runner import prepare_worker, worker_count

if TYPE_CHECKING:
    from prefect.task_runners import ProcessPoolTaskRunner


def shard_runner(workers: int | None = None) -> ProcessPoolTaskRunner:
    """The runner, for ``@flow(task_runner=...)`` or as a context manager within a flow.

    Args:
        workers: processes; None: one for each core that this process may use.
    """
    from prefect.task_runners import ProcessPoolTaskRunner

    return ProcessPoolTaskRunner(max_workers=worker_count(workers), initializer=prepare_worker)
