"""Reading back from Prefect's server what it was told, until all of it is stored.

Tasks tell their states as events, over a connection that nobody waits for, and the server writes events in batches.
That a flow has returned says nothing about what is stored. But events are stored in the order in which they are sent.
So a last one, the **mark**, is sent: once it can be read back, all earlier ones can, and these name the state that each
task run must show.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from rlchecks.errors import OrchestratorError

if TYPE_CHECKING:
    from prefect.client.orchestration import SyncPrefectClient
    from prefect.client.schemas.events import EventPage

MARK_EVENT = "rlchecks.recorded"

_FINAL_STATES = frozenset({"COMPLETED", "FAILED", "CRASHED", "CANCELLED"})
_POLL_SECONDS = 0.03
# The most that Prefect's server gives at once.
_EVENTS_PAGE = 50
_TASK_RUNS_PAGE = 200


def send_mark(flow_run_ids: Iterable[UUID]) -> UUID:
    """Send the event that follows everything these flow runs have reported, and return its id."""
    from prefect.events import emit_event

    mark = uuid4()
    emit_event(
        event=MARK_EVENT,
        id=mark,
        resource={"prefect.resource.id": f"rlchecks.command.{mark}"},
        related=[
            {"prefect.resource.id": f"prefect.flow-run.{run}", "prefect.resource.role": "flow-run"}
            for run in flow_run_ids
        ],
    )
    return mark


def wait_until_stored(flow_run_ids: Iterable[UUID], events: Iterable[UUID], timeout: float) -> None:
    """Wait until the events, and the last state of every task run of the flow runs, can be read back.

    Args:
        flow_run_ids: flow runs that have ended.
        events: ids of events that must be stored, the mark among them.
        timeout: seconds.

    Raises:
        OrchestratorError: they could not be read back in time.
        httpx.HTTPError: the server does not answer.
    """
    from prefect.client.orchestration import get_client

    deadline = time.monotonic() + timeout
    runs, awaited = list(flow_run_ids), set(events)
    with get_client(sync_client=True) as client:
        while missing := awaited - _stored_events(client, awaited):
            _pause(deadline, f"{len(missing)} event(s)")
        final = _final_states(client, runs)
        while missing := final - _stored_states(client, runs):
            _pause(deadline, f"the state of {len(missing)} task run(s)")


def _stored_events(client: SyncPrefectClient, ids: set[UUID]) -> set[UUID]:
    from prefect.events.filters import EventFilter, EventIDFilter

    page = client.read_events(EventFilter(id=EventIDFilter(id=sorted(ids))), limit=len(ids))
    return {event.id for event in page.events}


def _final_states(client: SyncPrefectClient, flow_run_ids: list[UUID]) -> set[UUID]:
    """The ids of the states in which the task runs ended, by their events; an event's id is its state's id."""
    from prefect.events.filters import EventFilter, EventNameFilter, EventOrder, EventRelatedFilter

    selection = EventFilter(
        event=EventNameFilter(prefix=["prefect.task-run."]),
        related=EventRelatedFilter(id=[f"prefect.flow-run.{run}" for run in flow_run_ids]),
        order=EventOrder.ASC,
    )
    last: dict[str, Any] = {}
    page: EventPage | None = client.read_events(selection, limit=_EVENTS_PAGE)
    while page is not None:
        last.update({event.resource.id: event for event in page.events})
        page = page.get_next_page_sync(client)
    return {event.id for event in last.values() if event.resource.get("prefect.state-type") in _FINAL_STATES}


def _stored_states(client: SyncPrefectClient, flow_run_ids: list[UUID]) -> set[UUID]:
    from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId

    selection = FlowRunFilter(id=FlowRunFilterId(any_=flow_run_ids))
    found: set[UUID] = set()
    offset = 0
    while page := client.read_task_runs(flow_run_filter=selection, limit=_TASK_RUNS_PAGE, offset=offset):
        found |= {run.state_id for run in page if run.state_id is not None}
        offset += len(page)
        if len(page) < _TASK_RUNS_PAGE:
            break
    return found


def _pause(deadline: float, missing: str) -> None:
    if time.monotonic() > deadline:
        raise OrchestratorError(f"Prefect's server did not store {missing} in time; the run is not fully recorded.")
    time.sleep(_POLL_SECONDS)
