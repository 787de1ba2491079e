from __future__ import annotations

from rlchecks.report import comparison


def test_a_comparison_without_parts_is_one_part() -> None:
    document = {"judge": {"name": "j"}, "comparison": {"difference": 0.1, "ci_lower": True, "n_questions": 7}}
    (part,) = comparison.parts(document)
    assert (part.judge, part.role, part.difference, part.lower, part.n_questions) == ("j", "decisive", 0.1, None, 7)
    assert comparison.parts({"comparison": None}) == []


def test_the_judge_is_named_or_not_chosen() -> None:
    assert comparison.judge_of({"judge": {"name": "j", "decisive": ["j"]}}) == "j"
    assert comparison.judge_of({"judge": {"name": "j", "decisive": ["j", "k"]}}) == "j, k"
    assert comparison.judge_of({"judge": {"name": None, "candidates": ["j", "k"]}}) == "not chosen"
    assert comparison.judge_of({}) == "unnamed"
