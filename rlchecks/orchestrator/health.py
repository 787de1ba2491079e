"""Whether the server that Prefect is configured for is there, asked once and with little patience."""

from __future__ import annotations

from rlchecks.errors import OrchestratorError

HEALTH_SECONDS = 5.0


def check_health() -> None:
    """Ask the server that is configured; without one, Prefect starts its own here.

    Raises:
        OrchestratorError: it did not answer within 5 s, or what answered is no Prefect server.
    """
    from prefect.client.orchestration import get_client
    from prefect.settings import get_current_settings, temporary_settings

    place = get_current_settings().api.url or "its own temporary server"
    # Prefect would repeat the question for minutes.
    with temporary_settings(updates={"client.max_retries": 0}):
        try:
            with get_client(sync_client=True, httpx_settings={"timeout": HEALTH_SECONDS}) as client:
                problem = client.api_healthcheck()
        except Exception as error:
            problem = error
    if problem is not None:
        raise OrchestratorError(
            f"Prefect does not answer at {place} ({type(problem).__name__}: {problem}); "
            "start it, correct PREFECT_API_URL, or use --local."
        )
