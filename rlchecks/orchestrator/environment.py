"""What must be set before Prefect or Great Expectations is imported, and what Prefect's temporary server needs.

Whatever the user has set wins: in the environment, in a Prefect profile, in ``prefect.toml``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

TELEMETRY: Mapping[str, str] = MappingProxyType(
    {
        # Prefect's client reads the first, its server only the second, Great Expectations only the third.
        "DO_NOT_TRACK": "1",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "GX_ANALYTICS_ENABLED": "false",
    }
)

SERVER_DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {
        # As shipped both services write every 5 s, so that a short command's last events are lost with its server.
        "server.services.event_persister.flush_interval": 0.2,
        "server.services.event_persister.read_batch_size": 50,
        # Prefect truncates this interval to whole seconds: 0.2 would be 0, a loop that keeps one core busy.
        # It does not matter, because a batch of one is written when it arrives.
        "server.services.task_run_recorder.flush_interval": 1.0,
        "server.services.task_run_recorder.batch_size": 1,
        "server.services.task_run_recorder.read_batch_size": 50,
        # Several commands at once on a small machine need longer than Prefect's 20 s.
        "server.ephemeral.startup_timeout_seconds": 180,
    }
)

TEMPORARY_DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {
        **SERVER_DEFAULTS,
        # A temporary server that has gone does not come back: 2 + 4 s of waiting instead of Prefect's 62.
        "client.max_retries": 2,
    }
)

COMMAND_DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {
        # Ending a flow run waits up to 1 s for the thread that sends one every 180 s, more than most commands take.
        "flows.heartbeat_frequency": None,
    }
)

API_URL = "PREFECT_API_URL"

# Any of these says that the user has decided how much Prefect prints.
LOGGING_CHOICES = ("PREFECT_LOGGING_LEVEL", "PREFECT_LOGGING_SETTINGS_PATH", "PREFECT_DEBUG_MODE", "PREFECT_TEST_MODE")


def prepare(*, quiet: bool = True) -> None:
    """Set the environment of this process and its children; call it before Prefect is imported.

    Telemetry is off, and Python processes started from here do not import modules from the current directory, which
    may hold somebody else's files.

    Args:
        quiet: keep Prefect's messages below WARNING off the terminal, unless the user has chosen otherwise; they still
            reach its server.
    """
    for name, value in TELEMETRY.items():
        os.environ.setdefault(name, value)
    if quiet and not any(name in os.environ for name in LOGGING_CHOICES):
        os.environ.setdefault("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "WARNING")
    os.environ.setdefault("PYTHONSAFEPATH", "1")


def direct_prefect_to(url: str | None) -> None:
    """Make ``url`` the address of Prefect's server for this whole process and its children, or take it back.

    ``prefect.settings.temporary_settings`` is not enough: it holds for one thread. The thread that takes over the task
    states of worker processes would not find an address, and start a second server.
    """
    if url is None:
        os.environ.pop(API_URL, None)
    else:
        os.environ[API_URL] = url
    # Prefect reads its environment once, when it is imported.
    if context := sys.modules.get("prefect.context"):
        context.refresh_global_settings_context()


def bypass_proxy(host: str) -> None:
    """Reach ``host`` directly even where a proxy is configured, which could not reach this machine's own server."""
    for name in ("NO_PROXY", "no_proxy"):
        hosts = [entry.strip() for entry in os.environ.get(name, "").split(",") if entry.strip()]
        if host not in hosts and "*" not in hosts:
            os.environ[name] = ",".join([*hosts, host])
