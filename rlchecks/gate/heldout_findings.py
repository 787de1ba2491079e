"""The findings of a run, with what the held-out results add to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlchecks.diagnosis import Finding, earlier_checkpoint, reward_hacking
from rlchecks.heldout import Comparison
from rlchecks.suites import Suites


def with_hacking(findings: tuple[Finding, ...], comparison: Comparison, rules: Suites) -> tuple[Finding, ...]:
    """Put reward hacking first, if the comparison shows it."""
    hacking = reward_hacking.from_comparison(comparison.evidence, rules.parameters)
    return findings if hacking is None else (hacking, *findings)


def with_checkpoints(
    findings: tuple[Finding, ...], comparison: Comparison, checkpoints: Mapping[str, Any] | None
) -> tuple[Finding, ...]:
    """Put what the held-out rows say of earlier checkpoints in the place of what the validation checks say of them."""
    if checkpoints is None:
        return findings
    earlier = earlier_checkpoint.from_checkpoints(checkpoints, comparison.candidate, comparison.baseline)
    if earlier is None:
        return findings
    return (*(one for one in findings if one.code != earlier.code), earlier)
