"""The promotion gate, composed once: from a run and its held-out results to a recorded verdict."""

from __future__ import annotations

from dataclasses import replace

from rlchecks import grading, publication, stages, suites, verdict
from rlchecks.gate import contest
from rlchecks.gate.belonging import belonging
from rlchecks.gate.candidate_files import candidate_files, checkpoint_document, files_in_run, hash_of
from rlchecks.gate.document import not_measured, provenance, run_document
from rlchecks.gate.heldout_findings import with_checkpoints, with_hacking
from rlchecks.gate.question import declared_judges, graders_of, question_of, range_of, scale_of, unknown_graders
from rlchecks.heldout import candidate_identity, parse_scorer
from rlchecks.heldout.checkpoint_curve import checkpoint_curve
from rlchecks.heldout.training_prompts import read_training_prompts
from rlchecks.publication import GateResult
from rlchecks.requests import GateRequest
from rlchecks.runner import Runner
from rlchecks.signals import kl_curve


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
    judges = declared_judges(request)
    run = runner.call(stages.load_run, request.run, request.archive, request.run_id, request.columns)
    rows = runner.call(stages.load_heldout, request.heldout, request.heldout_columns)
    told = read_training_prompts(request.training_prompts)
    graders = graders_of(run, declared)
    question = question_of(request, run, judges, graders, told.prompts)
    judged = contest.settle(request, rows, question, request.family or run.run_id, runner)
    names = judged.names
    checkpoint = candidate_files(request, names.candidate)
    runner.call(stages.store_run, run, request.archive)
    training = runner.call(
        stages.examine, run, rules.parameters, reward_range=range_of(graders), last_step=names.candidate_step
    )
    question = replace(
        question,
        baseline=names.baseline,
        candidate=names.candidate,
        looks=judged.looks,
        together=judged.together,
        candidate_hash=hash_of(checkpoint),
        baseline_hash=hash_of(files_in_run(request, names.baseline)),
        training_reward_gain=training.row["reward_gain_fraction"],
        training_reward_scale=scale_of(training.row),
    )
    comparison = runner.call(stages.compare_heldout, judged.rows, question)
    checkpoints = checkpoint_curve(judged.rows, question, kl_curve.distances(run), case=comparison.case)
    paid = grading.payments(run, names.candidate_step)
    found = with_checkpoints(with_hacking(training.findings, comparison, rules), comparison, checkpoints)
    findings = grading.support(found, paid)
    subject, words = belonging(run, request.run, names.candidate, names.candidate_step, checkpoint is not None)
    table = stages.evidence_of(comparison.evidence, findings, rules.promotion, subject)
    checks = runner.call(stages.check, rules, training, table)
    document = verdict.document(
        verdict.Subject(
            run=run_document(run, rows, unknown_graders(run, rows, declared)),
            candidate=comparison.candidate,
            baseline=comparison.baseline,
            checkpoint=checkpoint_document(request, names.candidate, checkpoint),
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
                    names.candidate, judged.identity["answers_identity"], hash_of(checkpoint)
                ),
            },
            observed={**comparison.observed, **words},
            signals=training.row,
            not_measured=not_measured(run),
            grader_pays=grading.documents(paid),
            advice=comparison.advice,
        ),
        provenance(request, (*run.inputs, *rows.inputs, *told.inputs), rules),
    )
    document["orchestrator"] = orchestrator
    runner.call(stages.store_heldout, run.run_id, request.archive, rows)
    publication.archive_verdict(document, request.archive)
    return runner.call(publication.publish, document, run, request, checkpoint)
