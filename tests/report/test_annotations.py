"""Workflow commands of a verdict: one line each, and no command that text could make."""

from __future__ import annotations

from typing import Any

from rlchecks.report.annotations import verdict_annotations


def test_the_decision_comes_first_then_the_gravest(document: dict[str, Any]) -> None:
    warning = document["reasons"][0] | {"effect": "warn", "title": "Mild."}
    lines = verdict_annotations(document | {"reasons": [warning, document["reasons"][0]]}).splitlines()
    assert lines[0].startswith("::error title=REJECT%3A toy%2C checkpoint-40::Reward hacking")
    assert [line.split(" ")[0] for line in lines[1:]] == ["::error", "::warning"]


def test_a_promotion_is_a_notice(document: dict[str, Any]) -> None:
    lines = verdict_annotations(document | {"decision": "PROMOTE", "reasons": []}).splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("::notice title=PROMOTE")


def test_text_can_be_no_command(document: dict[str, Any]) -> None:
    evil = "a\n::error::b\r::add-mask::x%0A,title=y::z"
    reason = document["reasons"][0] | {"title": evil, "observed": evil, "advice": evil}
    lines = verdict_annotations(document | {"reasons": [reason], "candidate": evil}).splitlines()
    assert len(lines) == 2
    for line in lines:
        _, properties, _ = line.split("::", 2)
        assert properties.startswith("error title=")
        assert ":" not in properties
        assert "," not in properties


def test_at_most_ten_of_a_kind_are_written(document: dict[str, Any]) -> None:
    reasons = [document["reasons"][0]] * 30
    assert len(verdict_annotations(document | {"reasons": reasons}).splitlines()) == 10
