"""The promotion gate, composed once: from a run and its held-out results to a recorded verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from rlchecks import contest, grading, publication, stages, suites, verdict
from rlchecks.belonging import belonging
from rlchecks.checkpoint import Checkpoint, candidate_checkpoint, checkpoint_identity
from rlchecks.diagnosis import Finding, earlier_checkpoint, reward_hacking
from rlchecks.errors import UsageError
from rlchecks.heldout import (
    Comparison,
    ComparisonRequest,
    HeldoutRows,
    Scorer,
    candidate_identity,
    parse_scorer,
    trained,
)
from rlchecks.heldout.checkpoint_curve import checkpoint_curve
from rlchecks.heldout.training_prompts import read_training_prompts
from rlchecks.publication import GateResult
from rlchecks.requests import GateRequest
from rlchecks.run import InputFile, RunLog
from rlchecks.runner import Runner
from rlchecks.signals import kl_curve

_NAMED_WHEN_MISSING = ("reward_std", "zero_std_fraction", "clipped_ratio", "mean_length", "kl", "entropy", "grad_norm")


def gate(request: GateRequest, runner: Runner, orchestrator: str) -> GateResult:
    """Decide whether a candidate may be promoted.

    Args:
        request: what is asked.
        runner: runs the stages.
        orchestrator: where this is recorded, in words, for the report.

    Raises:
        RlchecksError: an input cannot be used; nothing was decided.
    """
    rules = suites.load(request.profile, request.expectations)
    declared = tuple(parse_scorer(text) for text in request.graders)
    judges = tuple(parse_scorer(text) for text in request.judges)
    ComparisonRequest(judges=judges, margin=request.margin)  # refuses what no rule can mean, before anything is stored
    run = runner.call(stages.load_run, request.run, request.archive, request.run_id, request.columns)
    rows = runner.call(stages.load_heldout, request.heldout, request.heldout_columns)
    told = read_training_prompts(request.training_prompts)
    graders, prompts = _graders(run, declared), _training_prompts(run, told.prompts)
    question = ComparisonRequest(
        baseline=request.baseline,
        judges=judges,
        graders=graders,
        graders_known=bool(graders),
        graders_told=trained.graders_told(run, graders),
        base_models=trained.base_models(run),
        decoding=request.decoding,
        margin=request.margin,
        training_prompts=prompts,
        training_prompts_share=1.0 if request.training_prompts else _share_seen(run),
        near_copies=request.near_copies,
    )
    judged = contest.settle(request, rows, question, request.family or run.run_id, runner)
    names = judged.names
    checkpoint = _checkpoint(request, names.candidate)
    if request.promote is not None and checkpoint is None:
        raise UsageError(
            f"The files of candidate {names.candidate!r} are not in {request.run}, so that nothing could be promoted; "
            "say where they are with --checkpoint."
        )
    runner.call(stages.store_run, run, request.archive)
    training = runner.call(
        stages.examine, run, rules.parameters, reward_range=_range(graders), last_step=names.candidate_step
    )
    question = replace(
        question,
        baseline=names.baseline,
        candidate=names.candidate,
        looks=judged.looks,
        together=judged.together,
        candidate_hash=_hash(checkpoint),
        baseline_hash=_hash(_inside(request, names.baseline)),
        training_reward_gain=training.row["reward_gain_fraction"],
        training_reward_scale=_scale(training.row),
    )
    comparison = runner.call(stages.compare_heldout, judged.rows, question)
    checkpoints = checkpoint_curve(judged.rows, question, kl_curve.distances(run), case=comparison.case)
    paid = grading.payments(run, names.candidate_step)
    found = _with_checkpoints(_with_hacking(training.findings, comparison, rules), comparison, checkpoints)
    findings = grading.support(found, paid)
    subject, words = belonging(run, request.run, names.candidate, names.candidate_step, checkpoint is not None)
    table = stages.evidence_of(comparison.evidence, findings, rules.promotion, subject)
    checks = runner.call(stages.check, rules, training, table)
    document = verdict.document(
        verdict.Subject(
            run=_run_document(run, rows),
            candidate=comparison.candidate,
            baseline=comparison.baseline,
            checkpoint=_checkpoint_document(request, names.candidate, checkpoint),
            profile=request.profile,
            judge=comparison.judge,
            graders=comparison.graders,
        ),
        verdict.Evidence(
            checks=checks,
            findings=findings,
            comparison={
                **comparison.document,
                "checkpoints": checkpoints,
                "choice": judged.choice,
                # What the looks of later candidates are counted by; so they cannot be altered unseen.
                **judged.identity,
                "candidate_identity": candidate_identity(
                    names.candidate, judged.identity["answers_identity"], _hash(checkpoint)
                ),
            },
            observed={**comparison.observed, **words},
            signals=training.row,
            not_measured=_not_measured(run),
            grader_pays=grading.documents(paid),
        ),
        _provenance(request, (*run.inputs, *rows.inputs, *told.inputs), rules),
    )
    document["orchestrator"] = orchestrator
    runner.call(stages.store_heldout, run.run_id, request.archive, rows)
    publication.archive_verdict(document, request.archive)
    return runner.call(publication.publish, document, run, request, checkpoint)


def _checkpoint(request: GateRequest, candidate: str) -> Checkpoint | None:
    if request.checkpoint is not None:
        return checkpoint_identity(request.checkpoint)
    return _inside(request, candidate)


def _checkpoint_document(request: GateRequest, candidate: str, checkpoint: Checkpoint | None) -> dict[str, Any] | None:
    """The candidate's files, at the place where the user said they are: an absolute one tells readers nothing."""
    if checkpoint is None:
        return None
    return checkpoint._asdict() | {"uri": request.checkpoint or str(Path(request.run) / candidate)}


def _inside(request: GateRequest, name: str) -> Checkpoint | None:
    path = candidate_checkpoint(Path(request.run), name)
    return None if path is None else checkpoint_identity(path)


def _hash(checkpoint: Checkpoint | None) -> str | None:
    return None if checkpoint is None else checkpoint.sha256


def _graders(run: RunLog, declared: Iterable[Scorer]) -> tuple[Scorer, ...]:
    """The training graders of the log, each with what was declared of it, and those only declared or by model."""
    by_name = {scorer.name: scorer for scorer in declared}
    logged = [by_name.pop(name, Scorer(name)) for name in run.graders]
    named = (*logged, *by_name.values())
    models = [one.name for one in trained.graders_told(run, named)]
    return (*named, *(Scorer(name) for name in models if name not in {one.name for one in named}))


def _range(graders: tuple[Scorer, ...]) -> tuple[float, float] | None:
    """The reward's range, if it is that of the only grader; a weighted sum of several has no declared range."""
    if len(graders) == 1 and graders[0].low is not None and graders[0].high is not None:
        return graders[0].low, graders[0].high
    return None


def _scale(row: dict[str, Any]) -> tuple[float, float] | None:
    low, high = row["scale_low"], row["scale_high"]
    return (low, high) if low is not None and high is not None and low < high else None


def _training_prompts(run: RunLog, told: frozenset[str]) -> frozenset[str] | None:
    """The prompts of the run's logged answers and those of files of their own; None if there are neither."""
    trained = run.completions.filter(pc.equal(run.completions["split"], "train"))
    logged = frozenset(pc.unique(trained["prompt"].drop_null()).to_pylist())
    return logged | told if trained.num_rows or told else None


def _share_seen(run: RunLog) -> float | None:
    """Share of the training steps whose prompts were logged: what the overlap check has seen."""
    logged = pc.count_distinct(run.completions["step"]).as_py()
    steps: int = pc.count_distinct(run.training_steps["step"]).as_py()
    return min(1.0, logged / steps) if logged and steps else None


def _with_hacking(findings: tuple[Finding, ...], comparison: Comparison, rules: suites.Suites) -> tuple[Finding, ...]:
    hacking = reward_hacking.from_comparison(comparison.evidence, rules.parameters)
    return findings if hacking is None else (hacking, *findings)


def _with_checkpoints(
    findings: tuple[Finding, ...], comparison: Comparison, checkpoints: Mapping[str, Any] | None
) -> tuple[Finding, ...]:
    """Put what the held-out rows say of earlier checkpoints in the place of what the validation checks say of them."""
    if checkpoints is None:
        return findings
    earlier = earlier_checkpoint.from_checkpoints(checkpoints, comparison.candidate, comparison.baseline)
    if earlier is None:
        return findings
    return (*(one for one in findings if one.code != earlier.code), earlier)


def _run_document(run: RunLog, rows: HeldoutRows) -> dict[str, Any]:
    steps = run.steps["step"]
    return {
        "id": run.run_id,
        "name": run.name,
        "source": run.source,
        "framework": run.framework,
        "framework_version": run.framework_version,
        "last_step": pc.max(steps).as_py(),
        "planned_steps": run.planned_steps,
        "repeated_steps": run.repeated_steps,
        "graders": list(run.graders),
        "warnings": [*run.warnings, *rows.warnings],
        "unmapped": list(run.unmapped),
    }


def _not_measured(run: RunLog) -> list[str]:
    trained = run.training_steps
    return [name for name in _NAMED_WHEN_MISSING if trained[name].null_count == trained.num_rows]


def _provenance(request: GateRequest, inputs: Iterable[InputFile], rules: suites.Suites) -> dict[str, Any]:
    files = [{"path": file.path, "sha256": file.sha256} for file in inputs]
    used = [{"name": suite.name, "sha256": suite.sha256} for suite in (rules.promotion, rules.health)]
    used.append({"name": "findings", "sha256": rules.parameters.sha256})
    return {"inputs": files, "suites": used, "versions": _versions(), "command": request.command}


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    return {name: version(name) for name in ("great-expectations", "numpy", "prefect", "pyarrow", "scipy")}
