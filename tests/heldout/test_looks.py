from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from rlchecks.heldout import HeldoutRows, QuestionSet, answers_identity, candidate_identity, count_looks, count_together
from rlchecks.schema import VERDICTS

Make = Callable[..., HeldoutRows]
Answers = Callable[..., list[dict[str, Any]]]

SET = QuestionSet("s", "aaaaaaaaaaaabbbbbbbbbbbb")


def verdicts(*rows: dict[str, Any]) -> pa.Table:
    known = {"run_id": "r", "heldout_set": "s", "family": "f"}
    return pa.Table.from_pylist([known | row for row in rows], schema=VERDICTS)


def gated(answers: str | None, **fields: Any) -> dict[str, Any]:
    return {"answers_identity": answers, **fields}


def looks(seen: pa.Table, *answers: str, share: float | None = None) -> int:
    return count_looks(seen, questions=SET, family="f", answers=answers, choose_on=share)


def test_the_first_candidate_is_the_first_look() -> None:
    assert looks(VERDICTS.empty_table(), "1") == 1


def test_the_same_answers_again_are_no_new_look() -> None:
    seen = verdicts(gated("1"), gated("1"), gated("2"))
    assert looks(seen, "1") == 2
    assert looks(seen, "3") == 3


def test_naming_the_files_later_is_no_new_look() -> None:
    assert looks(verdicts(gated("1", candidate_identity="tuned:1")), "1") == 1


def test_new_answers_of_the_same_files_are_a_new_look() -> None:
    assert looks(verdicts(gated("1", candidate_identity="hash")), "2") == 2


def test_a_verdict_without_the_answers_identity_counts_by_the_candidates() -> None:
    assert looks(verdicts(gated(None, candidate_identity="hash"), gated(None)), "1") == 2


def test_other_questions_and_other_families_do_not_count() -> None:
    seen = verdicts(gated("1", heldout_set="other"), gated("2", family="other"))
    assert looks(seen, "3") == 1


def test_a_set_that_shares_most_questions_is_the_same() -> None:
    half = gated("1", heldout_set="other", heldout_sketch="aaaaaaaaaaaacccccccccccc")
    none = gated("2", heldout_set="third", heldout_sketch="ccccccccccccdddddddddddd")
    assert looks(verdicts(half, none), "3") == 2


def test_all_candidates_of_a_call_count() -> None:
    assert looks(VERDICTS.empty_table(), "1", "2", "3") == 3
    seen = verdicts(gated("1", other_answers=["2", "3"]))
    assert looks(seen, "4") == 4
    assert looks(seen, "3", "2", "1") == 3


@pytest.mark.parametrize(("now", "expected"), [(0.5, 2), (0.4, 4), (None, 4)])
def test_candidates_set_aside_on_the_choosing_part_count_elsewhere(now: float | None, expected: int) -> None:
    seen = verdicts(gated("1", other_answers=["2", "3"], choose_on=0.5))
    assert looks(seen, "4", share=now) == expected


def test_a_candidate_is_its_answers_whoever_judged_them(make_rows: Make, answers: Answers) -> None:
    rows = answers("tuned", [0, 1, 1])
    identity = answers_identity(make_rows(rows), "tuned")
    assert answers_identity(make_rows(reversed(rows), answers("tuned", [1, 0, 0], judge="other")), "tuned") == identity
    assert answers_identity(make_rows(answers("tuned", [0, 1, 1], answer="other")), "tuned") != identity


def test_without_answers_the_scores_tell_candidates_apart(make_rows: Make, answers: Answers) -> None:
    one = make_rows(answers("tuned", [0, 1, None], answer=None))
    other = make_rows(answers("tuned", [1, 1, None], answer=None))
    assert answers_identity(one, "tuned") != answers_identity(other, "tuned")


def test_texts_that_only_joined_are_alike_are_different(make_rows: Make, answers: Answers) -> None:
    one = make_rows(answers("tuned", [0], answer="a b", decoding="c"))
    other = make_rows(answers("tuned", [0], answer="b", decoding="c a"))
    assert answers_identity(one, "tuned") != answers_identity(other, "tuned")


def test_a_checkpoints_hash_is_the_better_identity() -> None:
    assert candidate_identity("tuned", "1", "c0ffee") == "c0ffee"
    assert candidate_identity("tuned", "1") == "tuned:1"


def test_answers_that_are_all_the_same_text_tell_no_candidates_apart(make_rows: Make, answers: Answers) -> None:
    one = make_rows(answers("tuned", [0, 1, 1], answer="[redacted]"))
    other = make_rows(answers("tuned", [1, 1, 1], answer="[redacted]"))
    assert answers_identity(one, "tuned") != answers_identity(other, "tuned")


def together(seen: pa.Table, *answers: str, share: float | None = None) -> int:
    return count_together(seen, questions=SET, family="f", answers=answers, choose_on=share)


def test_candidates_of_one_call_are_looked_at_together_also_when_it_is_repeated() -> None:
    assert together(VERDICTS.empty_table(), "1", "2", "3") == 3
    seen = verdicts(gated("2", other_answers=["1", "3"]), gated("4"))
    assert together(seen, "3", "2", "1") == 3


def test_candidates_that_come_one_after_the_other_are_not_looked_at_together() -> None:
    seen = verdicts(gated("1"), gated("2", other_answers=["1"]), gated("1", other_answers=["2", "3"]))
    assert [together(seen.slice(0, count), *"1234"[: count + 1]) for count in range(4)] == [1, 1, 1, 1]
    assert together(verdicts(gated("1")), "1", "2", "3") == 2
    assert together(verdicts(gated("1", family="other")), "1", "2") == 2
