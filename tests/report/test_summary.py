from __future__ import annotations

from typing import Any

import pytest

from rlchecks.report import summary


def reason(effect: str, code: str = "x", **more: Any) -> dict[str, Any]:
    return {"code": code, "effect": effect, "status": "failed", "title": f"Title of {code}.", **more}


def test_reasons_against_are_sorted_by_gravity_and_keep_their_order() -> None:
    listed = [reason("warn", "a"), reason("pass"), reason("reject", "b"), reason("ignore"), reason("reject", "c")]
    assert [one["code"] for one in summary.failing(listed)] == ["b", "c", "a"]
    assert [one["effect"] for one in summary.harmless(listed)] == ["pass", "ignore"]


def test_findings_are_sorted_worst_first_and_an_unknown_severity_warns() -> None:
    listed = [{"severity": word} for word in ("information", "new", "critical", None)]
    found = summary.findings({"findings": listed})
    assert [summary.severity(one) for one in found] == ["critical", "warning", "warning", "information"]


@pytest.mark.parametrize(
    ("decision", "reasons", "sentence"),
    [
        ("PROMOTE", [reason("pass", "gain_confirmed", status="passed")], "The gain is confirmed on held-out questions"),
        ("PROMOTE", [reason("warn")], "Nothing stands against promotion. 1 warning to read."),
        ("HOLD", [reason("hold", "too_few_questions")], "There are too few held-out questions to decide."),
        ("HOLD", [reason("hold", "n", status="missing")], "Title of n: not measured."),
        ("HOLD", [reason("hold", "n", status="errored")], "Title of n: could not be checked."),
        ("HOLD", [reason("hold", "n", observed=0.62)], "Title of n: 0.620."),
        ("HOLD", [reason("hold", "health_drift", observed="It drifts.")], "Title of health_drift."),
        (
            "REJECT",
            [reason("hold"), reason("reject", "held_out_loss"), reason("reject")],
            "1 further reason to reject.",
        ),
        ("REJECT", [reason("hold")], "No reason is recorded."),
        ("REJECTED", [], "This document holds no decision, so it is no pass."),
    ],
)
def test_the_headline_names_the_gravest_reason(decision: str, reasons: list[dict[str, Any]], sentence: str) -> None:
    document = {"decision": decision, "reasons": reasons, "findings": [{"code": "drift"}]}
    assert sentence in summary.headline(document)


def test_what_to_do_is_the_advice_of_the_reasons_that_decided() -> None:
    reasons = [reason("hold", advice="Wait."), reason("reject", advice="Stop."), reason("reject", advice="Stop.")]
    assert summary.todo({"decision": "REJECT", "reasons": reasons}) == ["Stop."]
    assert summary.todo({"decision": "HOLD", "reasons": reasons}) == ["Wait."]
    (advice,) = summary.todo({"decision": "PROMOTE", "reasons": []})
    assert "top-scoring answers" in advice
    assert summary.todo({"decision": "HOLD", "reasons": []}) == []
    assert summary.todo({}) == []


def test_observed_and_expected_are_sentences() -> None:
    assert summary.observed({"observed": 20, "expected": ">= 100"}) == "Observed 20. Expected >= 100."
    assert summary.observed({"observed": "It fell.", "expected": ""}) == "It fell."
    assert summary.observed({"observed": None, "expected": "<= 1"}) == "Expected <= 1."
    assert summary.observed({}) == ""


def test_an_outcome_other_than_failed_is_said_first() -> None:
    assert summary.account({"status": "missing", "observed": "No range.", "expected": "<= 1"}) == (
        "Not measured. No range. Expected <= 1."
    )
    assert summary.account({"status": "failed", "observed": "It fell.", "expected": "false"}) == "It fell."
    assert [summary.expected({"expected": word}) for word in ("true", ">= 1", None)] == ["yes", "≥ 1", ""]


def confirmed(lower: float, margin: float = 0.02, **more: Any) -> dict[str, Any]:
    reasons = [reason("pass", "gain_confirmed", status="passed")]
    return {"decision": "PROMOTE", "reasons": reasons, "comparison": {"margin": margin, "ci_lower": lower, **more}}


def test_with_a_margin_a_gain_is_claimed_only_where_there_is_one() -> None:
    assert summary.headline(confirmed(-0.013)) == (
        "No loss beyond the margin of 0.02 on held-out questions; a gain is not confirmed."
    )
    assert summary.headline(confirmed(0.01)) == "The gain is confirmed on held-out questions."
    assert summary.headline(confirmed(0.01, margin=0.0)) == "The gain is confirmed on held-out questions."
    assert (summary.margin(confirmed(0.0)), summary.margin(confirmed(0.0, margin=0.0))) == (0.02, None)


def test_a_promotion_names_the_category_that_lost() -> None:
    rows = [{"category": f"c{place}", "confirmed_loss": place > 0} for place in range(6)]
    assert "but a loss in the category c1." in summary.headline(confirmed(0.01, categories={"rows": rows[:2]}))
    assert "in categories c1, c2, c3 and 2 more." in summary.headline(confirmed(0.01, categories={"rows": rows}))


@pytest.mark.parametrize(
    ("judge", "decoding", "words"),
    [("tone", "sample", "by the advisory judge tone, which guards"), ("strict", "greedy", "with the decoding greedy")],
)
def test_a_loss_that_a_guard_found_names_the_guard(judge: str, decoding: str, words: str) -> None:
    parts = [
        {"judge": "strict", "decoding": "sample", "role": "decisive", "ci_upper_adjusted": 0.3},
        {"judge": judge, "decoding": decoding, "role": "guard", "ci_upper_adjusted": -0.1},
    ]
    document = {"decision": "REJECT", "reasons": [reason("reject", "held_out_loss")], "comparison": {"parts": parts}}
    assert words in summary.headline(document)
    parts[0]["ci_upper_adjusted"] = -0.2
    assert summary.headline(document) == "The candidate is worse than the baseline on held-out questions."
