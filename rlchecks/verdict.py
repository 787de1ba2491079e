"""From evidence and suites to PROMOTE, HOLD or REJECT, as one document.

The decision is a fold over the reasons: any reject rejects, else any hold holds, else the model may be promoted.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from rlchecks import __version__
from rlchecks.diagnosis.finding import Finding
from rlchecks.health import Check
from rlchecks.reasons import reasons

VERSION = 1
"""Version of verdict.json."""

PROMOTE, HOLD, REJECT = "PROMOTE", "HOLD", "REJECT"
EXIT_CODES = {PROMOTE: 0, REJECT: 1, HOLD: 2}

_CIRCUMSTANCES = ("id", "created_at", "orchestrator", "override")


@dataclass(frozen=True)
class Subject:
    """What was judged.

    Attributes:
        run: facts of the run for the document: ``id``, ``name``, ``source``, ``framework``, ...
        candidate: name of the candidate checkpoint.
        baseline: name of the baseline checkpoint.
        checkpoint: ``uri`` and ``sha256`` of the candidate's files, None if they are not known.
        profile: profile of the health suite.
        judge: identity of the judge.
        graders: identities of the training graders.
    """

    run: Mapping[str, Any]
    candidate: str
    baseline: str
    checkpoint: Mapping[str, Any] | None
    profile: str
    judge: Mapping[str, Any]
    graders: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Evidence:
    """What the decision rests on.

    Attributes:
        checks: results of both suites.
        findings: every finding, ``reward_hacking`` included.
        comparison: the document of the held-out comparison.
        observed: evidence column to the sentence that says what was observed.
        advice: evidence column to what to do about it, in place of the suite's advice.
        signals: the run's row of signals.
        not_measured: canonical metrics that the run did not log.
        grader_pays: what the training graders pay for, one mapping for each function and feature.
    """

    checks: Sequence[Check]
    findings: Sequence[Finding]
    comparison: Mapping[str, Any]
    observed: Mapping[str, str] = field(default_factory=dict)
    signals: Mapping[str, Any] = field(default_factory=dict)
    not_measured: Sequence[str] = ()
    grader_pays: Sequence[Mapping[str, Any]] = ()
    advice: Mapping[str, str] = field(default_factory=dict)


def decide(checks: Iterable[Check]) -> str:
    """Fold the results of the suites into a decision; without any result nothing is promoted."""
    effects = [check.effect for check in checks]
    if "reject" in effects:
        return REJECT
    if not effects or "hold" in effects:
        return HOLD
    return PROMOTE


def document(subject: Subject, evidence: Evidence, provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Make verdict.json.

    Args:
        subject: what was judged.
        evidence: what the decision rests on.
        provenance: ``inputs`` and ``suites`` with their hashes, and the ``command`` to repeat it.

    Returns:
        the document; its ``id`` is a hash of its lasting part, so that the same evidence gives the same id on any day.
    """
    body = {
        "version": VERSION,
        "id": "",
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "decision": decide(evidence.checks),
        "run": dict(subject.run),
        "candidate": subject.candidate,
        "baseline": subject.baseline,
        "checkpoint": None if subject.checkpoint is None else dict(subject.checkpoint),
        "profile": subject.profile,
        "judge": dict(subject.judge),
        "graders": [dict(grader) for grader in subject.graders],
        "reasons": reasons(evidence.checks, evidence.findings, evidence.observed, evidence.advice),
        "findings": [finding_document(finding) for finding in evidence.findings],
        "comparison": dict(evidence.comparison),
        "checks": [_check_document(check) for check in evidence.checks],
        "signals": dict(evidence.signals),
        "not_measured": list(evidence.not_measured),
        "grader_pays": [dict(payment) for payment in evidence.grader_pays],
        "override": None,
        "orchestrator": "local",
        "provenance": dict(provenance) | {"rlchecks": __version__},
    }
    plain: dict[str, Any] = json.loads(json.dumps(body, default=str, allow_nan=False))
    plain["id"] = content_sha256(plain)[:16]
    return plain


def lasting(body: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a verdict that the evidence alone determines: not when, where, by which command, or recorded where.

    It is what the archive keeps. Files count by their content, in whatever order and place they were read. An override
    is no part of it either: it belongs to the promotion.
    """
    kept = {key: value for key, value in body.items() if key not in _CIRCUMSTANCES}
    provenance = {key: value for key, value in body["provenance"].items() if key != "command"}
    provenance["inputs"] = sorted(file["sha256"] for file in provenance.get("inputs", ()))
    kept["provenance"] = provenance
    kept["run"] = {key: value for key, value in body["run"].items() if key != "source"}
    if kept.get("checkpoint") is not None:
        kept["checkpoint"] = {key: value for key, value in kept["checkpoint"].items() if key != "uri"}
    return kept


def content_sha256(body: Mapping[str, Any]) -> str:
    """SHA-256 of the lasting part in canonical form; the verdict's id is its first 16 digits."""
    return hashlib.sha256(canonical(lasting(body))).hexdigest()


def canonical(body: Mapping[str, Any]) -> bytes:
    """The bytes of a document: sorted keys, no insignificant white space."""
    return json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def finding_document(finding: Finding) -> dict[str, Any]:
    """A finding as it stands in verdict.json and in the output of ``audit`` and ``diagnose``."""
    return {
        "code": finding.code,
        "severity": finding.severity.label,
        "title": finding.title,
        "meaning": finding.meaning,
        "advice": finding.advice,
        "evidence": dict(finding.evidence),
        "onset_step": finding.onset_step,
    }


def _check_document(check: Check) -> dict[str, Any]:
    return {
        "suite": check.suite,
        "code": check.code,
        "column": check.column,
        "title": check.title,
        "why": check.why,
        "outcome": check.outcome,
        "observed": check.observed,
        "expected": check.expected,
        "effect": check.effect,
    }
