from __future__ import annotations

from typing import Any

import pytest

from rlchecks.report import breakdown, candidates

NASTY = "<b>x</b>\x1b[31m\u202e"


def document(**comparison: Any) -> dict[str, Any]:
    return {"comparison": comparison}


CHOICE = {
    "choose_on": None,
    "questions": 200,
    "chosen": "b",
    "rows": [
        {"candidate": "a", "difference": 0.1, "ci_lower": 0.0, "ci_upper": 0.2, "ci_lower_adjusted": 0.05,
         "confirmed": True, "n_questions": 200, "chosen": False},
        {"candidate": "b", "difference": 0.2, "ci_lower": 0.1, "ci_upper": 0.3, "ci_lower_adjusted": 0.1,
         "confirmed": True, "n_questions": 200, "chosen": True},
    ],
}  # fmt: skip


def test_every_candidate_stands_in_the_table() -> None:
    found = candidates.contenders(document(choice=CHOICE))
    assert [(one.name, one.standing) for one in found] == [("a", "set aside, confirmed"), ("b", "judged, confirmed")]
    assert found[0].difference == "+0.100 [0.000, +0.200]"


def test_it_is_said_how_the_candidate_was_chosen() -> None:
    assert "best of 2 candidates" in candidates.choice(document(choice=CHOICE))
    assert "on 200 questions, and judged on the others only" in candidates.choice(
        document(choice=CHOICE | {"choose_on": 0.5})
    )


@pytest.mark.parametrize("empty", [{}, {"comparison": None}, {"comparison": {"choice": [], "length": 3}}])
def test_an_old_or_broken_document_says_nothing(empty: dict[str, Any]) -> None:
    assert candidates.contenders(empty) == breakdown.categories(empty) == breakdown.passes(empty) == []
    assert candidates.choice(empty) == breakdown.carrying(empty) == breakdown.length(empty) == ""


def test_what_a_gain_hangs_on_is_named() -> None:
    influence = {"tried": 4, "count": 2, "questions": [{"question_id": "q1"}, {"question_id": NASTY}]}
    assert breakdown.carrying(document(influence=influence)) == (
        "Without 2 questions the gain would not be confirmed: q1, <b>x</b>."
    )
    assert breakdown.carrying(document(influence=influence | {"count": None})).startswith(
        "No 4 questions carry the gain"
    )


def test_the_difference_at_equal_length_stands_beside_the_other() -> None:
    found = {
        "baseline_length": 100.0, "candidate_length": 180.0, "difference": 0.2, "controlled": 0.01, "ci_lower": -0.05,
        "ci_upper": 0.07, "extrapolated": False, "reason": None,
    }  # fmt: skip
    said = breakdown.length(document(length=found))
    assert "+0.010 [-0.050, +0.070], where as it is it is +0.200" in said
    assert "not known" in breakdown.length(document(length=found | {"extrapolated": True}))
    missing = breakdown.length(document(length=found | {"controlled": None, "reason": "some rows give no answer"}))
    assert missing == "The difference at equal length of the answers is not known: some rows give no answer."


def test_categories_and_passes_are_told_in_words() -> None:
    row = {"category": NASTY, "difference": -0.3, "ci_lower": -0.4, "ci_upper": -0.2, "ci_upper_adjusted": -0.1,
           "confirmed_loss": True, "n_questions": 50}  # fmt: skip
    found = breakdown.categories(document(categories={"rows": [row]}))
    assert found == [("<b>x</b>", "-0.300 [-0.400, -0.200]", "-0.100", "50", True)]
    passed = {"k": 2, "baseline": 0.5, "candidate": 0.75, "difference": 0.25, "ci_lower": 0.1, "ci_upper": 0.4}
    assert breakdown.passes(document(pass_at_k={"rows": [passed]})) == [
        ("2", "0.500", "0.750", "+0.250 [+0.100, +0.400]")
    ]
