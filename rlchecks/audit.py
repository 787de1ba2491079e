"""The audit, composed once: signals and findings of many runs, and one validation of all of them together."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from rlchecks import ingest, signals, suites
from rlchecks.archive import Archive
from rlchecks.archive.reading import Refusal
from rlchecks.diagnosis import Finding, Parameters, Severity, diagnose
from rlchecks.errors import UsageError
from rlchecks.health import Check, SuiteResult
from rlchecks.progress import Progress, counting
from rlchecks.publication import write_text
from rlchecks.requests import AuditRequest, IngestRequest
from rlchecks.runner import Runner, shards_of
from rlchecks.signals import RunFacts
from rlchecks.signals.compute import COLUMNS_READ
from rlchecks.verdict import finding_document

VERSION = 1
"""Version of the document of ``audit --json`` and ``diagnose --json``."""

LARGEST_SHARD = 250
"""Runs a worker holds in memory at once: 250 runs of 500 steps are some 40 MB of numbers."""

HEALTHY, WARNING, SICK, INCOMPLETE = "healthy", "warning", "sick", "incomplete"
_UNFINISHED = frozenset({"too_short", "ended_early", "rewards_missing"})
# Expectations that fail where nothing can be told, not where something is wrong.
_UNTOLD = frozenset({"health_too_short", "health_unreadable_metrics", "health_missing_reward_fraction"})


@dataclass(frozen=True)
class AuditShard:
    """Runs of the archive that one worker examines."""

    run_ids: tuple[str, ...]
    archive: str
    parameters: Parameters


@dataclass(frozen=True)
class AuditPart:
    """What a worker found.

    Attributes:
        signals: the signals table of the runs that could be read.
        findings: the findings of each of them.
        facts: ``source``, ``framework``, ``unmapped`` keys and reader ``warnings`` of each of them.
        refused: documents ``{"source", "reason"}`` of the others.
    """

    signals: pa.Table
    findings: list[tuple[Finding, ...]]
    facts: list[dict[str, Any]]
    refused: list[dict[str, str]]


def audit(request: AuditRequest, runner: Runner, progress: Progress = lambda done, total: None) -> dict[str, Any]:
    """Check the health of many runs and write ``audit.json`` into the reports.

    Args:
        request: what is asked.
        runner: runs the stages.
        progress: called with the number of runs examined so far and of all of them.

    Returns:
        the document of ``audit --json``.
    """
    rules = suites.load(request.profile, request.expectations)
    refused: list[dict[str, str]] = []
    skipped: list[dict[str, str]] = []
    if request.paths:
        asked = IngestRequest(request.paths, request.archive, columns=request.columns, workers=request.workers)
        ingested = ingest.ingest(asked, runner, progress)
        run_ids = list(dict.fromkeys(run["run_id"] for run in ingested["runs"]))
        refused, skipped = ingested["refused"], ingested["skipped"]
    else:
        damaged: list[Refusal] = []
        run_ids = Archive(request.archive).run_ids(damaged)
        refused = _documents(damaged)
        if not run_ids and not refused:
            raise UsageError(f"The archive {request.archive} holds no run; say what to ingest: rlchecks audit PATH.")
    shards = [
        AuditShard(tuple(part), request.archive, rules.parameters)
        for part in shards_of(run_ids, request.workers, LARGEST_SHARD)
    ]
    done = counting(progress, len(run_ids), _size)
    parts = runner.map(audit_shard, shards, request.workers, done)
    document = {
        "version": VERSION,
        "runs": runner.call(judge, parts, rules) if parts else [],
        "refused": refused + [one for part in parts for one in part.refused],
        "skipped": skipped,
    }
    write_text(Path(request.reports) / "audit.json", json.dumps(document, indent=1, allow_nan=False) + "\n")
    return document


def _size(shard: AuditShard) -> int:
    return len(shard.run_ids)


def audit_shard(shard: AuditShard) -> AuditPart:
    """Compute signals and findings of a shard of archived runs; what cannot be read is refused by name."""
    archive = Archive(shard.archive)
    damaged: list[Refusal] = []
    runs = archive.runs(shard.run_ids, refused=damaged)
    ids = runs["run_id"].to_pylist()
    steps = archive.steps(ids, list(COLUMNS_READ), refused=damaged)
    checks = archive.validation(ids, refused=damaged)
    bad = {one.run_id for one in damaged}
    sound = [row for row in runs.select(_FACTS).to_pylist() if row["run_id"] not in bad]
    facts = [_run_facts(row) for row in sound]
    table = signals.compute(steps, facts, checks)
    return AuditPart(
        table,
        [diagnose(row, shard.parameters) for row in signals.rows(table)],
        [{name: row[name] for name in _SHOWN} for row in sound],
        _documents(damaged),
    )


def _documents(damaged: Sequence[Refusal]) -> list[dict[str, str]]:
    return [{"source": one.run_id, "reason": one.reason} for one in damaged]


def _run_facts(row: Mapping[str, Any]) -> RunFacts:
    known = dict(row["facts"] or ())
    return RunFacts(
        row["run_id"],
        row["last_step"],
        row["planned_steps"],
        row["repeated_steps"] or 0,
        unreadable=known.get("metrics_unreadable"),
        kl_semantics=known.get("kl_semantics"),
    )


_SHOWN = ("source", "framework", "unmapped", "warnings")
_FACTS = ["run_id", *_SHOWN, "last_step", "planned_steps", "repeated_steps", "facts"]


def judge(parts: Sequence[AuditPart], rules: suites.Suites) -> list[dict[str, Any]]:
    """Validate the signals of all runs at once with Great Expectations, and give each run its status."""
    from rlchecks.health import validate

    table = pa.concat_tables([part.signals for part in parts])
    result = validate(rules.health, table)
    findings = [found for part in parts for found in part.findings]
    facts = [fact for part in parts for fact in part.facts]
    return [
        entry(row, fact, found, _troubles(result, index))
        for index, (row, fact, found) in enumerate(zip(signals.rows(table), facts, findings, strict=True))
    ]


def entry(
    row: Mapping[str, Any], facts: Mapping[str, Any], findings: Sequence[Finding], troubles: Sequence[Check] = ()
) -> dict[str, Any]:
    """The entry of a run in the documents of ``audit --json`` and ``diagnose --json``."""
    numbers = dict(row)
    return {
        "run_id": numbers.pop("run_id"),
        **facts,
        "status": status(findings, troubles, row.get("unreadable_metrics") or 0),
        "findings": [finding_document(finding) for finding in findings],
        "failed": [
            {
                "code": check.code,
                "column": check.column,
                "outcome": check.outcome,
                "effect": check.effect,
                "observed": check.observed,
                "expected": check.expected,
            }
            for check in troubles
        ],
        "signals": numbers,
    }


def status(findings: Sequence[Finding], troubles: Sequence[Check] = (), unreadable: int = 0) -> str:
    """The health of a run.

    Args:
        findings: its findings.
        troubles: the checks of the health suite that did not pass.
        unreadable: metrics whose logged values are out of their range.

    Returns:
        ``sick`` with a critical finding or a failed expectation that stops; else ``incomplete`` if it is too short,
        ended early, lacks rewards, has metrics that cannot be read, or lacks a signal that stops; else ``warning``
        with anything that warns; else ``healthy``.
    """
    codes = {finding.code for finding in findings}
    worst = max((finding.severity for finding in findings), default=Severity.INFORMATION)
    stops = [check for check in troubles if check.effect in ("hold", "reject")]
    failed = [check for check in stops if check.outcome == "failed" and check.code not in _UNTOLD]
    if worst == Severity.CRITICAL or failed:
        return SICK
    if codes & _UNFINISHED or stops or unreadable:
        return INCOMPLETE
    warned = any(check.effect == "warn" and check.outcome == "failed" for check in troubles)
    return WARNING if worst == Severity.WARNING or warned else HEALTHY


def exit_code(document: Mapping[str, Any]) -> int:
    """The exit code of ``audit`` and ``diagnose`` for their document."""
    statuses = {run["status"] for run in document["runs"]}
    if not document["runs"]:
        return 3
    if SICK in statuses:
        return 1
    return 2 if INCOMPLETE in statuses or document["refused"] else 0


def _troubles(result: SuiteResult, row: int) -> list[Check]:
    return [check for check in result.checks(row) if check.effect in ("warn", "hold", "reject")]
