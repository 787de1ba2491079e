"""The evidence table: findings become columns, and a finding that no expectation names stops the promotion."""

from __future__ import annotations

import pytest

from rlchecks import evidence, suites
from rlchecks.diagnosis import CODES, Finding, Severity
from rlchecks.stages import evidence_of


def finding(code: str, severity: Severity) -> Finding:
    return Finding(code, severity, "Title.", "Meaning.", "Advice.")


def test_information_sets_no_flag() -> None:
    row = evidence.table({}, [finding("learning", Severity.INFORMATION)], {}).to_pylist()[0]
    assert row["finding_learning"] is False
    assert row["unnamed_finding"] is False


def test_too_short_is_information_and_still_a_column_of_its_own() -> None:
    assert evidence.table({}, [finding("too_short", Severity.INFORMATION)], {}).to_pylist()[0]["too_short"] is True


def test_what_the_comparison_leaves_out_is_missing() -> None:
    row = evidence.table({"n_questions": 200}, [], {}).to_pylist()[0]
    assert row["n_questions"] == 200
    assert row["ci_lower"] is None


@pytest.mark.parametrize(
    ("severity", "named", "unnamed"),
    [
        (Severity.WARNING, {}, True),
        (Severity.WARNING, {"finding_starved": False}, False),
        (Severity.CRITICAL, {"finding_starved": False}, True),
        (Severity.CRITICAL, {"finding_starved": True}, False),
        (Severity.CRITICAL, {"critical_starved": True}, False),
        (Severity.INFORMATION, {}, False),
    ],
)
def test_a_critical_finding_needs_an_expectation_that_stops(
    severity: Severity, named: dict[str, bool], unnamed: bool
) -> None:
    row = evidence.table({}, [finding("starved", severity)], named).to_pylist()[0]
    assert row["unnamed_finding"] is unnamed


@pytest.mark.parametrize("code", [code for code in CODES if code != "reward_hacking"])
@pytest.mark.parametrize("severity", [Severity.WARNING, Severity.CRITICAL])
def test_no_finding_of_warning_or_worse_passes_the_shipped_suite_unseen(code: str, severity: Severity) -> None:
    suite = suites.load("chat").promotion

    row = evidence_of({}, [finding(code, severity)], suite).to_pylist()[0]
    checked = {one.column: one for one in suite.expectations}
    flags = [name for name in (f"finding_{code}", f"critical_{code}", code) if row.get(name) and name in checked]
    stops = any(checked[name].on_failure != "warn" for name in flags)
    assert flags or row["unnamed_finding"]
    if severity == Severity.CRITICAL:
        assert stops or row["unnamed_finding"]


def test_reward_hacking_has_a_column_of_its_own_that_rejects_and_may_not_be_missing() -> None:
    (one,) = [one for one in suites.load("chat").promotion.expectations if one.column == "reward_hacking"]
    assert (one.on_failure, one.on_missing) == ("reject", "hold")
