"""Sending everything that Prefect's client still holds, or giving it up."""

from __future__ import annotations

import logging
from typing import Any

from rlchecks.errors import OrchestratorError


def send_all(timeout: float) -> None:
    """Wait until every event and log line has been sent and Prefect's client has closed its connections.

    Args:
        timeout: seconds.

    Raises:
        OrchestratorError: some are still unsent. They are given up, since Prefect would go on trying for minutes, and
            the command could not end.
    """
    from prefect.events.worker import EventsWorker

    # It warns of every item that is still queued at this moment, which is not a problem.
    logging.getLogger("EventsWorker").setLevel(logging.ERROR)
    held = _services()
    # One registry holds the services of all kinds, the one for logs too.
    outcome: Any = EventsWorker.drain_all(timeout=timeout, at_exit=False)
    if outcome.not_done:
        _cancel(held)
        raise OrchestratorError("Prefect's server stopped taking what the run reported.")


def give_up() -> None:
    """Throw away what has not been sent: the server is gone, and nothing may wait for it when this process ends."""
    _cancel(_services())


def _services() -> list[tuple[Any, Any]]:
    """The event loop and the asyncio task of each of Prefect's sending services.

    Read from private attributes, for want of a public way to stop one that cannot reach its server; without them a
    command that lost its server ends late, but ends.
    """
    from prefect.events.worker import EventsWorker

    instances = list(getattr(EventsWorker, "_instances", {}).values())
    return [(getattr(instance, "_loop", None), getattr(instance, "_task", None)) for instance in instances]


def _cancel(services: list[tuple[Any, Any]]) -> None:
    # These report every unsent item on standard error.
    logging.getLogger("prefect._internal").setLevel(logging.CRITICAL)
    logging.getLogger("prefect.events").setLevel(logging.CRITICAL)
    for loop, task in services:
        if loop is not None and task is not None:
            loop.call_soon_threadsafe(task.cancel)
