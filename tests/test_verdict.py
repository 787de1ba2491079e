"""The fold over the reasons, and the document it makes."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlchecks import verdict
from rlchecks.diagnosis import Finding, Severity
from rlchecks.health import Check
from rlchecks.health.result import Effect, Outcome

EFFECTS = ("pass", "warn", "hold", "reject", "ignore")


def check(effect: str, code: str = "some_code", column: str = "some_column", outcome: str | None = None) -> Check:
    found = outcome or ("passed" if effect == "pass" else "not_applicable" if effect == "ignore" else "failed")
    return Check(
        suite="promotion",
        code=code,
        column=column,
        title=f"Title of {code}.",
        why="",
        advice="Do something.",
        outcome=cast("Outcome", found),
        observed=0.5,
        expected=">= 1",
        effect=cast("Effect", effect),
    )


def document(*checks: Check, findings: tuple[Finding, ...] = (), **changes: Any) -> dict[str, Any]:
    subject = verdict.Subject({"id": "run"}, "checkpoint-2", "base", None, "chat", {"name": "judge"}, [])
    evidence = verdict.Evidence(checks, findings, {"difference": 0.1})
    provenance = {"inputs": [], "suites": [], "command": "rlchecks gate run"}
    return verdict.document(subject, dataclasses.replace(evidence, **changes), provenance)


@given(st.lists(st.sampled_from(EFFECTS), max_size=8))
def test_any_reject_rejects_else_any_hold_holds_else_promote(effects: list[str]) -> None:
    decision = verdict.decide(check(effect) for effect in effects)
    if not effects:
        assert decision == "HOLD"
    elif "reject" in effects:
        assert decision == "REJECT"
    else:
        assert decision == ("HOLD" if "hold" in effects else "PROMOTE")


def test_without_any_check_nothing_is_promoted() -> None:
    assert document()["decision"] == "HOLD"


@pytest.mark.parametrize(("decision", "code"), [("PROMOTE", 0), ("REJECT", 1), ("HOLD", 2)])
def test_exit_code_of_each_decision(decision: str, code: int) -> None:
    assert verdict.EXIT_CODES[decision] == code


def test_the_worst_reason_comes_first_and_the_cause_before_the_loss() -> None:
    body = document(
        check("pass", "fine"),
        check("warn", "note"),
        check("reject", "held_out_loss"),
        check("hold", "few"),
        check("reject", "reward_hacking"),
    )
    assert [reason["code"] for reason in body["reasons"]] == ["reward_hacking", "held_out_loss", "few", "note", "fine"]


def test_a_code_is_not_repeated_with_a_lesser_effect() -> None:
    body = document(check("reject", "held_out_loss"), check("hold", "held_out_loss", "other"))
    assert [reason["effect"] for reason in body["reasons"]] == ["reject"]


def test_what_does_not_apply_is_no_reason_but_stays_among_the_checks() -> None:
    body = document(check("pass"), check("ignore", "guards"))
    assert [reason["code"] for reason in body["reasons"]] == ["some_code"]
    assert [one["code"] for one in body["checks"]] == ["some_code", "guards"]


def test_a_finding_speaks_for_itself_in_its_reason() -> None:
    finding = Finding("starved_floor", Severity.CRITICAL, "Starved at the floor.", "Nothing to reinforce.", "Check.")
    body = document(check("hold", "health_starved_floor", "critical_starved_floor"), findings=(finding,))
    assert body["reasons"][0]["title"] == "Starved at the floor."
    assert body["reasons"][0]["observed"] == "Nothing to reinforce."
    assert body["findings"][0]["severity"] == "critical"


def test_a_finding_that_was_not_made_is_no_reason() -> None:
    assert document(check("pass", "health_starved", "finding_starved"), check("pass"))["reasons"][0]["code"] == (
        "some_code"
    )


def test_the_id_does_not_depend_on_when_and_how_it_was_called() -> None:
    first = document(check("pass"))
    second = json.loads(json.dumps(first))
    second |= {"created_at": "2001-01-01T00:00:00+00:00", "orchestrator": "elsewhere", "override": {"reason": "x"}}
    second["provenance"]["command"] = "something else"
    assert verdict.content_sha256(first) == verdict.content_sha256(second)
    assert first["id"] == verdict.content_sha256(first)[:16]


@pytest.mark.parametrize("change", [{"comparison": {"difference": 0.2}}, {"not_measured": ["kl"]}])
def test_the_id_depends_on_the_evidence(change: dict[str, Any]) -> None:
    assert document(check("pass"))["id"] != document(check("pass"), **change)["id"]


def test_a_number_that_json_cannot_hold_is_refused_rather_than_written() -> None:
    with pytest.raises(ValueError, match="JSON"):
        document(check("pass"), comparison={"difference": float("nan")})


def test_the_contract_of_the_document() -> None:
    body = document(check("pass"))
    assert body["version"] == 1
    assert {"id", "decision", "run", "candidate", "baseline", "judge", "graders"} <= body.keys()
    assert {"code", "status", "effect", "title", "observed", "expected", "advice"} == body["reasons"][0].keys()
    assert {"inputs", "suites", "rlchecks"} <= body["provenance"].keys()


def test_what_failed_comes_before_what_could_not_be_measured() -> None:
    listed = document(
        check("hold", "held_out_loss", outcome="missing"), check("hold", "prompts_repeated", outcome="failed")
    )["reasons"]
    assert [one["code"] for one in listed] == ["prompts_repeated", "held_out_loss"]


def test_judges_that_disagree_are_the_cause_and_a_guards_loss_still_counts() -> None:
    listed = document(
        check("hold", "held_out_loss", "margin_upper", outcome="missing"),
        check("hold", "gain_not_confirmed", "margin_lower"),
        check("hold", "judges_disagree", "judges_disagree"),
        check("reject", "held_out_loss", "guard_upper"),
    )["reasons"]
    assert [one["code"] for one in listed] == ["held_out_loss", "judges_disagree"]


def test_advice_on_what_was_seen_takes_the_place_of_the_suites() -> None:
    found = document(
        check("warn", "gain_gap", "gain_gap_warns", outcome="missing"),
        check("warn", "category_loss", "category_upper"),
        check("warn", "other"),
        advice={"gain_gap_warns": "Declare it.", "category_upper": "Read maths."},
    )["reasons"]
    assert {one["code"]: one["advice"] for one in found} == {
        "gain_gap": "Declare it.",
        "category_loss": "Read maths.",
        "other": "Do something.",
    }
