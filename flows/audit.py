"""The audit as a Prefect flow."""

from __future__ import annotations

from typing import Any

from prefect import flow

from rlchecks import audit, requests
from rlchecks.progress import progress
from rlchecks.steps import PrefectRunner


@flow(name="audit-runs", flow_run_name="audit {archive}", persist_result=False, validate_parameters=False)
def audit_runs(
    paths: list[str] | None = None,
    archive: str = requests.ARCHIVE,
    reports: str = requests.REPORTS,
    profile: str = requests.PROFILE,
    expectations: str | None = None,
    columns: dict[str, str] | None = None,
    workers: int | None = None,
) -> dict[str, Any]:
    """Check the health of many runs; the parameters are those of ``rlchecks audit``."""
    request = requests.AuditRequest(tuple(paths or ()), archive, reports, profile, expectations, columns or {}, workers)
    with progress("runs") as show:
        return audit.audit(request, PrefectRunner(), show)
