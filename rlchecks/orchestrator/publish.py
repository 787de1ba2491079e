"""What a verdict leaves in Prefect: one event, for automations, and artifacts, for people.

Names come from logs, so they are escaped before they become identifiers, and cleaned before they are shown.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID, uuid5

from rlchecks.archive.escape import escape
from rlchecks.errors import OrchestratorError
from rlchecks.orchestrator.ledger import note_event
from rlchecks.report.inert import line

EVENT_PREFIX = "rlchecks.verdict."
"""Of the events' names, which go on with the decision: ``rlchecks.verdict.promote``, ``.hold``, ``.reject``."""

_NAMESPACE = UUID("8f3c1f0e-6c0b-5d6e-9d27-6d1f8a4c2b53")
_KEY_LENGTH = 60
_MOST_CODES = 30
_NUMBERS = ("difference", "ci_lower", "ci_upper", "n_questions")


def emit_verdict(document: Mapping[str, Any]) -> UUID:
    """Send the event of a verdict, from within the flow run that decided it.

    Repeating it, as a retried task does, gives the same event id, which Prefect stores once.

    Args:
        document: verdict.json; its ``id``, ``decision`` and ``run.id`` are needed.

    Returns:
        the event's id.

    Raises:
        OrchestratorError: Prefect did not accept the event.
    """
    from prefect.events import emit_event
    from prefect.runtime import flow_run

    run = escape(str(document["run"]["id"]))
    identity = uuid5(_NAMESPACE, f"{document['id']}/{flow_run.id}")
    event = emit_event(
        event=EVENT_PREFIX + str(document["decision"]).lower(),
        id=identity,
        resource={
            "prefect.resource.id": f"rlchecks.run.{run}",
            "prefect.resource.name": line(document["run"].get("name") or run, 120),
            "rlchecks.decision": str(document["decision"]),
            "rlchecks.verdict": str(document["id"]),
        },
        payload=_payload(document),
    )
    if event is None:
        raise OrchestratorError("Prefect did not accept the verdict's event.")
    note_event(identity)
    return identity


def publish_artifacts(
    document: Mapping[str, Any],
    markdown: str,
    findings_rows: Sequence[Mapping[str, Any]],
    report_link: str,
) -> list[UUID]:
    """Create the artifacts of a verdict, from within a flow or task run: text, table of findings, link to the report.

    Args:
        document: verdict.json; names the artifacts by its ``run.id`` and ``candidate``.
        markdown: the verdict as text, already escaped.
        findings_rows: one mapping a finding, cells already escaped; without any there is no table.
        report_link: URL of the report, such as ``Path.as_uri()`` gives.

    Returns:
        the artifacts' ids.

    Raises:
        OrchestratorError: Prefect did not take them.
    """
    from httpx import HTTPError
    from prefect.artifacts import create_link_artifact, create_markdown_artifact, create_table_artifact

    key = artifact_key(str(document["run"]["id"]), str(document.get("candidate")))
    try:
        made: list[Any] = [create_markdown_artifact(markdown, key=f"verdict-{key}")]
        if findings_rows:
            made.append(create_table_artifact([dict(row) for row in findings_rows], key=f"findings-{key}"))
        made.append(create_link_artifact(report_link, link_text="Open the report", key=f"report-{key}"))
    except HTTPError as error:
        raise OrchestratorError(f"Prefect did not take the verdict's artifacts: {error}.") from error
    return made


def artifact_key(*names: str) -> str:
    """A key for names of any content: ``a-z``, ``0-9`` and ``-``, at most 60 characters.

    It shows what it can of the names and ends in 8 hexadecimal digits of their SHA-256, so that different names have
    different keys.
    """
    digest = hashlib.sha256("\x00".join(names).encode("utf-8", "surrogatepass")).hexdigest()[:8]
    shown = re.sub(r"[^a-z0-9]+", "-", "-".join(names).lower()).strip("-")[: _KEY_LENGTH - 9].strip("-")
    return f"{shown}-{digest}" if shown else digest


def _payload(document: Mapping[str, Any]) -> dict[str, Any]:
    comparison = document.get("comparison") or {}
    reasons = document.get("reasons") or []
    return {
        "verdict": document["id"],
        "decision": document["decision"],
        "run": line(document["run"]["id"], 200),
        "candidate": line(document.get("candidate"), 200),
        "baseline": line(document.get("baseline"), 200),
        "reasons": [str(reason.get("code")) for reason in reasons if reason.get("effect") != "pass"][:_MOST_CODES],
        "comparison": {name: _finite(comparison.get(name)) for name in _NUMBERS},
    }


def _finite(value: object) -> float | int | None:
    return value if isinstance(value, int | float) and math.isfinite(value) else None
