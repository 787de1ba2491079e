"""The deployments of ``prefect.yaml`` without a work pool: scheduled, started and run from one process.

With ``PREFECT_API_URL`` or a Prefect profile that server schedules them; otherwise one is started here, with Prefect's
user interface, and lives as long as this process.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from rlchecks.errors import UsageError

if TYPE_CHECKING:
    from prefect import Flow
    from prefect.deployments.runner import RunnerDeployment

AUDIT_CRON = "0 3 * * *"
"""Every night at three, UTC."""


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
    """The deployments, with absolute paths, since their runs may start in any directory.

    Raises:
        UsageError: ``cron`` is no schedule.
    """
    from prefect.schedules import Cron

    from rlchecks.flows.audit import audit_runs
    from rlchecks.flows.gate import promotion_gate
    from rlchecks.flows.ingest import ingest_logs

    _check_cron(cron)
    place = {"archive": str(Path(archive).resolve())}
    places = place | {"reports": str(Path(reports).resolve())}
    return [
        _deployment(promotion_gate, "gate", parameters=places),
        # Two audits at once would only read the same files twice.
        _deployment(audit_runs, "nightly", parameters=places, schedule=Cron(cron, timezone="UTC"), concurrency_limit=1),
        _deployment(ingest_logs, "ingest", parameters=place),
    ]


def _deployment(flow: Flow[..., Any], name: str, **options: Any) -> RunnerDeployment:
    from prefect.types.entrypoint import EntrypointType

    # By module: by path Prefect would make a second module of each. (The other type it may return is for async code.)
    made = flow.to_deployment(name, tags=["rlchecks"], entrypoint_type=EntrypointType.MODULE_PATH, **options)
    return cast("RunnerDeployment", made)


def _check_cron(cron: str) -> None:
    from prefect.client.schemas.schedules import CronSchedule

    try:
        CronSchedule(cron=cron)
    except ValueError as error:
        raise UsageError(
            f"{cron!r} is no schedule; give minute, hour, day, month and weekday, such as {AUDIT_CRON!r}."
        ) from error
