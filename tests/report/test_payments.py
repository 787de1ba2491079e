"""What the grader pays for, on the page."""

from __future__ import annotations

from typing import Any

from rlchecks.report import payments
from rlchecks.report.page import render
from rlchecks.run import RunLog

HOSTILE = "<script>alert(1)</script>"
EXAMPLE = {"step": 7, "prompt": "Why?", "more": "Long " * 9, "more_score": 0.9, "less": "Short.", "less_score": 0.2}


def paid(**changes: Any) -> dict[str, Any]:
    return {
        "function": "lazy",
        "feature": "length",
        "unit": "100 more characters",
        "amount": 0.11,
        "lower": 0.08,
        "upper": 0.14,
        "p": 0.0001,
        "prompts": 40,
        "clear": True,
        "reason": None,
        "example": EXAMPLE,
    } | changes


UNCLEAR = paid(feature="hedges", unit="one more hedge", amount=-0.01, lower=-0.03, upper=0.01, p=0.3, clear=False)
UNKNOWN = paid(feature="cut", amount=None, lower=None, upper=None, p=None, clear=False, example=None, reason="no cut")


def test_the_table_says_what_is_paid_and_what_is_not() -> None:
    first, second = payments.rows({"grader_pays": [paid(), UNCLEAR, UNKNOWN]})
    assert (first.function, first.unit, first.amount, first.p) == ("lazy", "100 more characters", "+0.110", "< 0.001")
    assert (first.between, first.prompts, first.clear) == ("+0.080 to +0.140", "40", True)
    assert (second.amount, second.p, second.clear) == ("-0.010", "0.300", False)


def test_only_clear_payments_are_shown_by_answers() -> None:
    (shown,) = payments.examples({"grader_pays": [UNCLEAR, paid(), UNKNOWN]})
    assert shown.claim == "lazy: +0.110 for 100 more characters"
    assert (shown.step, shown.more_score, shown.less_score) == ("7", "0.900", "0.200")
    assert len(payments.examples({"grader_pays": [paid()] * 5})) == 3


def test_the_page_has_the_table_and_the_answers(document: dict[str, Any], run: RunLog, signals: dict[str, Any]) -> None:
    hostile = paid(function=HOSTILE, example=EXAMPLE | {"more": HOSTILE})
    page = render(document | {"grader_pays": [hostile, UNCLEAR]}, run, signals)
    section = page.partition('<section id="pays">')[2].partition("</section>")[0]
    assert "+0.110" in section
    assert "100 more characters" in section
    assert "-0.010" in section
    assert "Short." in section
    assert "alert(1)" in section
    assert "<script" not in section
    assert 'id="pays"' not in render(document | {"grader_pays": []}, run, signals)
