"""Run a composition: as plain calls, or as a Prefect flow that is recorded, with the plain calls as its fallback.

When the orchestrator cannot be reached or is lost, the work is done all the same, marked as not recorded, and the
problem is returned beside the result, so that the command can end with exit code 3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from rlchecks.errors import OrchestratorError
from rlchecks.requests import AuditRequest, GateRequest, IngestRequest
from rlchecks.runner import LocalRunner

if TYPE_CHECKING:
    from rlchecks.evaluation.request import EvaluateRequest
    from rlchecks.publication import GateResult

R = TypeVar("R")
Outcome = tuple[R, OrchestratorError | None]

LOCAL = "not recorded: run with --local"
"""What a verdict says of its orchestrator when none was asked for."""


def gate(request: GateRequest, *, local: bool) -> Outcome[GateResult]:
    """Run the promotion gate."""

    def plainly(recorded: str) -> GateResult:
        from rlchecks.gate import gate as compose

        # A promotion that the orchestrator was asked to record, and did not, is none.
        asked = request if local else replace(request, promote=None, override=None)
        return compose(asked, LocalRunner(), recorded)

    return _launch(plainly, "rlchecks.flows.gate", "promotion_gate", request, local=local)


def audit(request: AuditRequest, *, local: bool) -> Outcome[dict[str, Any]]:
    """Run an audit."""

    def plainly(recorded: str) -> dict[str, Any]:
        from rlchecks.audit import audit as compose
        from rlchecks.progress import progress

        with progress("runs") as show:
            return compose(request, LocalRunner(), show)

    return _launch(plainly, "rlchecks.flows.audit", "audit_runs", request, local=local)


def ingest(request: IngestRequest, *, local: bool) -> Outcome[dict[str, Any]]:
    """Run an ingestion."""

    def plainly(recorded: str) -> dict[str, Any]:
        from rlchecks.ingest import ingest as compose
        from rlchecks.progress import progress

        with progress("logs") as show:
            return compose(request, LocalRunner(), show)

    return _launch(plainly, "rlchecks.flows.ingest", "ingest_logs", request, local=local, validates=False)


def evaluate(request: EvaluateRequest, *, local: bool) -> Outcome[dict[str, Any]]:
    """Run a held-out evaluation."""

    def plainly(recorded: str) -> dict[str, Any]:
        from rlchecks.evaluation.run import evaluate as compose
        from rlchecks.progress import progress

        with progress("answers and scores") as show:
            return compose(request, LocalRunner(), show)

    return _launch(plainly, "rlchecks.flows.evaluate", "evaluate_models", request, local=local, validates=False)


def _launch(
    plainly: Callable[[str], R], module: str, flow: str, request: Any, *, local: bool, validates: bool = True
) -> Outcome[R]:
    if local:
        return plainly(LOCAL), None
    from rlchecks.orchestrator import session

    done: list[R] = []
    try:
        with session() as orchestration:
            # The server takes longer to start than all of this takes to load.
            recorded_flow = getattr(import_module(module), flow)
            if validates:
                from rlchecks.health.validation import load_great_expectations

                load_great_expectations()
            arguments = {field.name: getattr(request, field.name) for field in fields(request)}
            done.append(orchestration.run(recorded_flow, **arguments))
        return done[0], None
    except OrchestratorError as problem:
        # What was done must not be reported as recorded, so it is done once more; every stage may be repeated.
        return plainly(f"not recorded: {problem}"), problem
