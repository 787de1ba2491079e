"""Diagnosis: one row of signals becomes findings, each with its meaning, its advice and the numbers it rests on."""

from __future__ import annotations

from collections.abc import Mapping

from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding, Number, Severity
from rlchecks.diagnosis.parameters import PROFILES, Parameters
from rlchecks.diagnosis.registry import CODES, rules

__all__ = ["CODES", "PROFILES", "Finding", "Parameters", "Severity", "diagnose"]


def diagnose(signals: Mapping[str, Number], parameters: Parameters) -> tuple[Finding, ...]:
    """Find what the signals of one run show together.

    Args:
        signals: one row of the signals table.
        parameters: thresholds of the profile.

    Returns:
        at least one finding; the worst first, otherwise in the order of the registry.
    """
    findings: list[Finding] = []
    for rule in rules(parameters.profile):
        found = frozenset(finding.code for finding in findings)
        findings += rule(Context(signals, parameters, found))
    return tuple(sorted(findings, key=lambda finding: -finding.severity))
