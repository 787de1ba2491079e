"""A Prefect server with a scheduler, for as long as ``rlchecks serve`` runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rlchecks.errors import OrchestratorError
from rlchecks.orchestrator import environment
from rlchecks.orchestrator.server import CONFIGURED, READY, TemporaryServer


@contextmanager
def scheduling_server() -> Iterator[None]:
    """Direct Prefect to the server that is configured, or else to one that is started here and ends with the block.

    Raises:
        OrchestratorError: it did not start, or the configured one does not answer.
    """
    from rlchecks.orchestrator.health import check_health

    environment.prepare(quiet=False)
    if os.environ.get(environment.API_URL):
        check_health()
        yield
        return
    server = TemporaryServer.start(scheduling=True)
    try:
        answer = server.wait(environment.SERVER_DEFAULTS["server.ephemeral.startup_timeout_seconds"])
        if answer == READY:
            environment.direct_prefect_to(server.url)
            print(f"Prefect's user interface: {server.url.removesuffix('/api')}", file=sys.stderr)
        elif answer != CONFIGURED:
            raise OrchestratorError(
                "A schedule needs a Prefect server that stays: run `prefect server start` and set PREFECT_API_URL."
            )
        check_health()
        yield
    finally:
        environment.direct_prefect_to(None)
        server.stop()
