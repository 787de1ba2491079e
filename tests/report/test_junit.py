"""JUnit XML of a verdict: what a CI server counts, and hostile text."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from rlchecks.report.junit import verdict_junit


def _suite(document: dict[str, Any]) -> ElementTree.Element:
    root = ElementTree.fromstring(verdict_junit(document))
    assert root.tag == "testsuites"
    suite = root.find("testsuite")
    assert suite is not None
    return suite


def test_every_reason_is_a_case_and_those_that_stop_fail(document: dict[str, Any]) -> None:
    suite = _suite(document)
    cases = suite.findall("testcase")
    stopping = [one["code"] for one in document["reasons"] if one["effect"] in ("reject", "hold")]
    failed = [case.get("classname") for case in cases if case.find("failure") is not None]
    assert failed == ["rlchecks.verdict", *(f"rlchecks.{code}" for code in stopping)]
    assert len(cases) == len(document["reasons"]) + 1
    assert suite.get("tests") == str(len(cases))
    assert suite.get("failures") == str(len(failed))


def test_a_promotion_with_warnings_has_no_failure_and_says_the_warnings(document: dict[str, Any]) -> None:
    warning = document["reasons"][0] | {"effect": "warn", "code": "overlap"}
    suite = _suite(document | {"decision": "PROMOTE", "reasons": [warning]})
    assert suite.get("failures") == "0"
    assert suite.find("testcase/failure") is None
    out = suite.find("testcase/system-out")
    assert out is not None
    assert (out.text or "").startswith("Warning.")


def test_what_is_no_decision_fails(document: dict[str, Any]) -> None:
    suite = _suite(document | {"decision": "promote", "reasons": []})
    assert suite.get("failures") == "1"


def test_hostile_text_stays_text(document: dict[str, Any]) -> None:
    evil = '</testcase><failure/>]]>&x;\x00\x1b[31m\ud800"'
    reason = document["reasons"][0] | {"title": evil, "observed": evil, "advice": evil, "code": evil}
    suite = _suite(document | {"reasons": [reason], "run": {"name": evil}, "candidate": evil})
    assert len(suite.findall("testcase")) == 2
    assert "</testcase>" in (suite.get("name") or "")
