"""The stages as Prefect tasks, for the flows that ship with rlchecks and for your own.

    from prefect import flow
    from rlchecks import steps

    @flow
    def nightly():
        run = steps.load_run("runs/today", archive="archive")
        steps.store_run(run, archive="archive")

Reading and writing are retried, since a file system may hiccup; a wrong input is wrong every time and is not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar, cast

from prefect import Task, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.futures import PrefectFuture, as_completed
from prefect.utilities.annotations import opaque

from rlchecks import audit, ingest, locate, publication, stages
from rlchecks.errors import RlchecksError
from rlchecks.evaluation import run as evaluation
from rlchecks.orchestrator.shards import shard_runner
from rlchecks.runner import worker_count

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

__all__ = [
    "PrefectRunner",
    "ask",
    "audit_shard",
    "check",
    "choose_candidate",
    "compare_heldout",
    "examine",
    "find_runs",
    "ingest_shard",
    "judge_health",
    "load_heldout",
    "load_run",
    "publish",
    "score_answers",
    "store_heldout",
    "store_run",
]

_RETRIES = 2
_DELAY_SECONDS = 1


def _worth_retrying(_: Task[..., Any], __: TaskRun, state: State[Any]) -> bool:
    """Whether a failure may pass: not one that rlchecks itself raised on purpose."""
    error = state.result(raise_on_failure=False)
    return isinstance(error, OSError) and not isinstance(error, RlchecksError)


def _computing(stage: Callable[P, R], name: str) -> Task[P, R]:
    return task(name=name, cache_policy=NO_CACHE, persist_result=False)(stage)


def _touching_files(stage: Callable[P, R], name: str) -> Task[P, R]:
    return task(
        name=name,
        cache_policy=NO_CACHE,
        persist_result=False,
        retries=_RETRIES,
        retry_delay_seconds=_DELAY_SECONDS,
        retry_condition_fn=_worth_retrying,
    )(stage)


load_run = _touching_files(stages.load_run, "load-run")
store_run = _touching_files(stages.store_run, "store-run")
load_heldout = _touching_files(stages.load_heldout, "load-heldout")
examine = _computing(stages.examine, "examine")
choose_candidate = _computing(stages.choose_candidate, "choose-candidate")
compare_heldout = _computing(stages.compare_heldout, "compare-heldout")
check = _computing(stages.check, "check")
store_heldout = _touching_files(stages.store_heldout, "store-heldout")
publish = _touching_files(publication.publish, "publish")
find_runs = _touching_files(locate.find, "find-runs")
ingest_shard = _touching_files(ingest.ingest_shard, "ingest-shard")
audit_shard = _touching_files(audit.audit_shard, "audit-shard")
judge_health = _computing(audit.judge, "judge-health")
ask = _computing(evaluation.ask, "ask")
score_answers = _computing(evaluation.score_answers, "score-answers")

_TASKS: dict[Callable[..., Any], Task[..., Any]] = {
    one.fn: one
    for one in (
        load_run,
        store_run,
        load_heldout,
        examine,
        choose_candidate,
        compare_heldout,
        check,
        store_heldout,
        publish,
        find_runs,
        ingest_shard,
        audit_shard,
        judge_health,
        ask,
        score_answers,
    )
}


class PrefectRunner:
    """Runs stages as tasks of the flow that is running; see :class:`rlchecks.runner.Runner`."""

    def call(self, stage: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the stage's task here and now."""
        # Prefect searches arguments for futures, which takes a second for the results of 10,000 runs; there are none.
        hidden = {name: opaque(value) for name, value in kwargs.items()}
        return cast(R, _TASKS[stage](*map(opaque, args), **hidden))

    def map(
        self,
        stage: Callable[[T], R],
        shards: Sequence[T],
        /,
        workers: int | None = None,
        done: Callable[[T], None] = lambda shard: None,
    ) -> list[R]:
        """Run the stage's task on every shard, in processes if there is more than one shard and worker."""
        recorded = _TASKS[stage]
        if min(worker_count(workers), len(shards)) < 2:
            results = []
            for shard in shards:
                results.append(cast(R, recorded(shard)))
                done(shard)
            return results
        with shard_runner(worker_count(workers)) as pool:
            futures: list[PrefectFuture[Any]] = [pool.submit(recorded, {"shard": shard}) for shard in shards]
            shard_of = {future.task_run_id: shard for future, shard in zip(futures, shards, strict=True)}
            for future in as_completed(futures):
                done(shard_of[future.task_run_id])
            return [cast(R, future.result()) for future in futures]
