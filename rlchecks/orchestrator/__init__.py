"""Prefect as rlchecks uses it: started early, read back before leaving, never waited for without a limit.

Importing this package imports neither Prefect nor anything else that is heavy.
"""

from __future__ import annotations

from rlchecks.orchestrator.orchestration import Orchestration, session

__all__ = ["Orchestration", "session"]
