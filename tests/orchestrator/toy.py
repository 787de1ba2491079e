"""A small command on Prefect, run by the tests as a process of its own: ``python toy.py MODE``.

Prints what its flow returned; ends with 0, or with 3 and one sentence.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

from rlchecks.errors import OrchestratorError, UsageError
from rlchecks.orchestrator import session
from rlchecks.orchestrator.publish import emit_verdict, publish_artifacts
from rlchecks.orchestrator.server import UNSUPPORTED, TemporaryServer
from rlchecks.orchestrator.shards import shard_runner

TASKS = 10
VERDICT = {"id": "0123456789abcdef", "decision": "PROMOTE", "run": {"id": "../Run 1"}, "candidate": "<b>c</b>"}


def build(mode: str) -> Any:
    """Make the flow; Prefect is imported here, as late as the commands do it."""
    from prefect import flow, task
    from prefect.cache_policies import NO_CACHE
    from prefect.runtime import flow_run

    @task(cache_policy=NO_CACHE)
    def square(number: int) -> int:
        return number * number

    @task(cache_policy=NO_CACHE)
    def add(shard: list[int]) -> tuple[int, str]:
        return sum(shard), os.environ["OMP_NUM_THREADS"]

    @flow(flow_run_name="toy {mode}")
    def toy(mode: str) -> Any:
        print(f"run {flow_run.id}", flush=True)
        if mode == "shards":
            with shard_runner(2) as runner:
                return [future.result() for future in runner.map(add, {"shard": [[1, 2], [3, 4], [5, 6]]})]
        total = sum(square(number) for number in range(TASKS))
        if mode == "fail":
            raise UsageError("this flow fails on purpose.")
        if mode == "wait":
            print("waiting", flush=True)
            time.sleep(1)
            square(TASKS)
        emit_verdict(VERDICT)
        publish_artifacts(VERDICT, "# PROMOTE", [{"finding": "none"}], "file:///tmp/verdict.html")
        return total

    return toy


def main() -> int:
    # A test run in the background has them ignored, which its children inherit.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    mode = sys.argv[1]
    if mode == "unsupported":
        TemporaryServer.wait = lambda self, timeout: UNSUPPORTED  # type: ignore[method-assign]
    try:
        with session() as orchestration:
            if server := orchestration.server_pid:
                print(f"server {server}", flush=True)
            flow = build(mode)
            orchestration.ready()
            print("ready", flush=True)
            print(f"result {orchestration.run(flow, mode)}", flush=True)
            orchestration.settle()
    except (OrchestratorError, UsageError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        return 3
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
