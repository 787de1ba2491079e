"""What this process has told Prefect and has not yet read back.

A module, not an object of the session: Prefect pickles a flow, and with it the hook that notes its runs, for its worker
processes.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from uuid import UUID

_flow_runs: dict[UUID, None] = {}
_events: dict[UUID, None] = {}


class Told(NamedTuple):
    """Ids of flow runs that were started and of events that were sent, in this order."""

    flow_runs: list[UUID]
    events: list[UUID]


def note_flow_run(flow: Any, flow_run: Any, state: Any) -> None:
    """Note a flow run; a hook for Prefect's ``on_running``."""
    _flow_runs[flow_run.id] = None


def note_event(identity: UUID) -> None:
    """Note an event that has been sent."""
    _events[identity] = None


def take() -> Told:
    """Return what was noted since the last call."""
    told = Told(list(_flow_runs), list(_events))
    _flow_runs.clear()
    _events.clear()
    return told
