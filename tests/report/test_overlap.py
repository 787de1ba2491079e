from __future__ import annotations

from typing import Any

from rlchecks.report import judges, overlap

HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e"


def document(**comparison: Any) -> dict[str, Any]:
    return {"comparison": {"difference": 0.1, "ci_lower": 0.05, "ci_upper": 0.15, **comparison}}


def test_both_results_are_told() -> None:
    found = document(
        overlap={"questions": 3, "of": 200, "share_seen": 1.0, "examples": []},
        with_overlap={"difference": 0.2, "ci_lower": 0.1, "ci_upper": 0.3},
    )
    told = overlap.sentence(found) or ""
    assert "3 of 200 questions occur among the training prompts and were left out (100%" in told
    assert "Without them the difference is +0.100 [+0.050, +0.150], with them +0.200 [+0.100, +0.300]." in told


def test_nothing_is_told_of_no_overlap() -> None:
    assert overlap.sentence({}) is None
    assert overlap.sentence(document(overlap=None)) is None
    assert overlap.sentence(document(overlap={"questions": 0, "of": 5})) is None
    assert overlap.examples({}) == []


def test_hostile_prompts_are_made_harmless() -> None:
    names = ("question_id", "kind", "prompt", "training_prompt", "matched")
    (shown,) = overlap.examples(document(overlap={"examples": [dict.fromkeys(names, HOSTILE)]}))
    assert all("\x1b" not in text and "\u202e" not in text for text in shown)
    assert shown.kind == "alike"


def test_what_a_document_lacks_is_shown_as_missing() -> None:
    (pair,) = judges.pairs({"pairs": [{"one": HOSTILE, "other": None}]})
    assert "\x1b" not in pair.pair
    assert (pair.equal, pair.kappa, pair.alpha, pair.bounds) == ("–", "–", "–", "")
    (estimate,) = judges.corrected({"corrected": [{"judge": "a", "of": "difference"}]})
    assert (estimate.estimate, estimate.method) == ("undefined", "")
    (disputed,) = judges.disputed({"disagreements": [{"answer": HOSTILE}]})
    assert "\x1b" not in disputed.answer
    assert judges.pairs({}) == judges.corrected({}) == judges.disputed({}) == []
