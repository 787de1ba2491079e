"""The promotion gate: from a run and its held-out results to a recorded verdict."""

from __future__ import annotations

from rlchecks.gate.composition import gate

__all__ = ["gate"]
