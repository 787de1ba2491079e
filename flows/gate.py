"""The promotion gate as a Prefect flow."""

from __future__ import annotations

from prefect import flow

from rlchecks import gate, requests
from rlchecks.orchestrator.publish import emit_verdict, publish_artifacts
from rlchecks.publication import GateResult
from rlchecks.report.markdown import findings_table, verdict_markdown
from rlchecks.steps import PrefectRunner


@flow(name="promotion-gate", flow_run_name="gate {run}", persist_result=False, validate_parameters=False)
def promotion_gate(
    run: str,
    heldout: list[str],
    baseline: str | None = None,
    candidate: str | None = None,
    candidates: list[str] | None = None,
    choose_on: float | None = None,
    checkpoint: str | None = None,
    profile: str = requests.PROFILE,
    graders: list[str] | None = None,
    judges: list[str] | None = None,
    decoding: str | None = None,
    margin: float = 0.0,
    training_prompts: list[str] | None = None,
    near_copies: bool = False,
    family: str | None = None,
    override: str | None = None,
    promote: str | None = None,
    run_id: str | None = None,
    columns: dict[str, str] | None = None,
    heldout_columns: dict[str, str] | None = None,
    archive: str = requests.ARCHIVE,
    reports: str = requests.REPORTS,
    expectations: str | None = None,
    command: str | None = None,
) -> GateResult:
    """Decide whether a candidate may be promoted; the parameters are those of ``rlchecks gate``.

    Leaves the verdict as an event, its text and findings as artifacts, and a link to the report.
    """
    request = requests.GateRequest(
        run=run,
        heldout=tuple(heldout),
        baseline=baseline,
        candidate=candidate,
        candidates=tuple(candidates or ()),
        choose_on=choose_on,
        checkpoint=checkpoint,
        profile=profile,
        graders=tuple(graders or ()),
        judges=tuple(judges or ()),
        decoding=decoding,
        margin=margin,
        training_prompts=tuple(training_prompts or ()),
        near_copies=near_copies,
        family=family,
        override=override,
        promote=promote,
        run_id=run_id,
        columns=columns or {},
        heldout_columns=heldout_columns or {},
        archive=archive,
        reports=reports,
        expectations=expectations,
        command=command,
    )
    result = gate.gate(request, PrefectRunner(), "Prefect")
    verdict = result.document
    publish_artifacts(verdict, verdict_markdown(verdict), findings_table(verdict), result.html.resolve().as_uri())
    emit_verdict(verdict)
    return result
