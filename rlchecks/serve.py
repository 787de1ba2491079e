"""The deployments of ``prefect.yaml`` without a work pool: scheduled, started and run from one process.

With ``PREFECT_API_URL`` or a Prefect profile that server schedules them; otherwise one is started here, with Prefect's
user interface, and lives as long as this process.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prefect.deployments.runner import RunnerDeployment

AUDIT_CRON = "0 3 * * *"
"""Every night at three, UTC."""

_TAGS = ["rlchecks"]


def serve(archive: str = "archive", reports: str = "reports", cron: str = AUDIT_CRON) -> None:
    """Serve the deployments until a signal stops this process; then the schedule pauses.

    Args:
        archive: the archive that all of them use.
        reports: directory of the reports.
        cron: when the audit runs, as five fields, UTC.

    Raises:
        UsageError: ``cron`` is no schedule.
        OrchestratorError: the server did not start, or the configured one does not answer.
    """
    from rlchecks.orchestrator.serving import scheduling_server

    with scheduling_server():
        import prefect

        prefect.serve(*deployments(archive, reports, cron))


def deployments(archive: str, reports: str, cron: str = AUDIT_CRON) -> list[RunnerDeployment]:
    """The deployments, whose runs may start in any directory: the paths are made absolute.

    Raises:
        UsageError: ``cron`` is no schedule.
    """
    from prefect.client.schemas.schedules import CronSchedule
    from prefect.deployments.runner import EntrypointType

    from rlchecks.errors import UsageError
    from rlchecks.flows.audit import audit_runs
    from rlchecks.flows.gate import promotion_gate
    from rlchecks.flows.ingest import ingest_logs

    try:
        nightly = CronSchedule(cron=cron, timezone="UTC")
    except ValueError as error:
        raise UsageError(
            f"--cron {cron!r} is no schedule such as '{AUDIT_CRON}' (minute hour day month weekday)."
        ) from error
    places = {"archive": str(Path(archive).resolve()), "reports": str(Path(reports).resolve())}
    # By module: by path Prefect would make a second module of each.
    by_module = EntrypointType.MODULE_PATH
    return [
        promotion_gate.to_deployment("gate", parameters=places, tags=_TAGS, entrypoint_type=by_module),
        audit_runs.to_deployment(
            "nightly", schedule=nightly, concurrency_limit=1, parameters=places, tags=_TAGS, entrypoint_type=by_module
        ),
        ingest_logs.to_deployment(
            "ingest", parameters={"archive": places["archive"]}, tags=_TAGS, entrypoint_type=by_module
        ),
    ]
