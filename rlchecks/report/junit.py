"""The verdict as JUnit XML, so that a CI server lists its reasons as it lists tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlchecks.report import summary
from rlchecks.report.inert import line
from rlchecks.report.summary import Document

_STOPS = ("reject", "hold")


def verdict_junit(document: Mapping[str, Any]) -> str:
    """The verdict as one test suite.

    Its first case is the decision, which fails unless it is PROMOTE. Then every reason is a case: one that holds or
    rejects fails, a warning passes and says so in its output, since JUnit knows no warnings. The elements and
    attributes are those that Jenkins, GitLab and GitHub's reporters read
    (https://github.com/testmoapp/junitxml).

    Args:
        document: ``verdict.json``. Text in it is escaped, and characters that XML forbids are replaced.
    """
    from xml.etree import ElementTree

    run, candidate = (summary.name_of(document.get(key)) for key in ("run", "candidate"))
    decision = summary.decision(document)
    reasons = summary.items(document, "reasons")
    failed = [reason for reason in reasons if summary.effect(reason) in _STOPS]
    against = int(decision != "PROMOTE")
    counts = {"tests": str(len(reasons) + 1), "failures": str(len(failed) + against), "errors": "0", "skipped": "0"}
    root = ElementTree.Element("testsuites", {"name": "rlchecks", **counts})
    suite = ElementTree.SubElement(
        root, "testsuite", {"name": f"{run}: {candidate}", **counts, "timestamp": line(document.get("created_at"), 40)}
    )
    known = ElementTree.SubElement(suite, "properties")
    for name in ("id", "decision", "baseline", "profile"):
        ElementTree.SubElement(known, "property", {"name": name, "value": line(document.get(name), 200)})
    verdict = ElementTree.SubElement(suite, "testcase", {"classname": "rlchecks.verdict", "name": "The decision"})
    if against:
        told = "\n".join([summary.headline(document), *summary.todo(document)])
        found = {"type": decision, "message": f"{decision}: {summary.headline(document)}"}
        ElementTree.SubElement(verdict, "failure", found).text = told
    for reason in reasons:
        _case(ElementTree.SubElement(suite, "testcase"), reason)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _case(case: Any, reason: Document) -> None:
    from xml.etree import ElementTree

    code = line(reason.get("code") or "unnamed", 80)
    case.set("classname", f"rlchecks.{code}")
    case.set("name", summary.title(reason))
    effect, told = summary.effect(reason), summary.account(reason)
    if effect in _STOPS:
        advice = line(reason.get("advice") or "", 600)
        failure = ElementTree.SubElement(case, "failure", {"type": effect, "message": told or summary.title(reason)})
        failure.text = "\n".join(filter(None, (told, advice)))
    elif effect == "warn":
        ElementTree.SubElement(case, "system-out").text = f"Warning. {told}".strip()
