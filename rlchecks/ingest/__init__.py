"""Ingestion: every run below some paths is read once, archived with its signals, and remembered."""

from __future__ import annotations

from rlchecks.ingest.composition import ingest
from rlchecks.ingest.shard import ingest_shard

__all__ = ["ingest", "ingest_shard"]
