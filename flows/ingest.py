"""Ingestion as a Prefect flow."""

from __future__ import annotations

from typing import Any

from prefect import flow

from rlchecks import ingest, requests
from rlchecks.progress import progress
from rlchecks.steps import PrefectRunner


@flow(name="ingest-logs", flow_run_name="ingest {paths}", persist_result=False, validate_parameters=False)
def ingest_logs(
    paths: list[str],
    archive: str = requests.ARCHIVE,
    run_id: str | None = None,
    columns: dict[str, str] | None = None,
    workers: int | None = None,
) -> dict[str, Any]:
    """Read the runs below the paths into the archive; the parameters are those of ``rlchecks ingest``."""
    request = requests.IngestRequest(tuple(paths), archive, run_id, columns or {}, workers)
    with progress("logs") as show:
        return ingest.ingest(request, PrefectRunner(), show)
