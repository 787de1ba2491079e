from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from rlchecks.heldout import HeldoutRows, answers_identity, candidate_identity, count_looks, heldout_set_id
from rlchecks.schema import VERDICTS

Make = Callable[..., HeldoutRows]
Answers = Callable[..., list[dict[str, Any]]]


def verdicts(*rows: tuple[str, str, str | None, str | None]) -> pa.Table:
    names = ("heldout_set", "family", "candidate_identity", "answers_identity")
    return pa.Table.from_pylist(
        [{"run_id": "r", **dict(zip(names, row, strict=True))} for row in rows], schema=VERDICTS
    )


def looks(seen: pa.Table, candidate: str, answers: str) -> int:
    return count_looks(seen, heldout_set="s", family="f", candidate_identity=candidate, answers_identity=answers)


def test_the_first_candidate_is_the_first_look() -> None:
    assert looks(VERDICTS.empty_table(), "a", "1") == 1


def test_the_same_candidate_again_is_no_new_look() -> None:
    seen = verdicts(("s", "f", "a", "1"), ("s", "f", "a", "1"), ("s", "f", "b", "2"))
    assert looks(seen, "a", "1") == 2
    assert looks(seen, "c", "3") == 3


def test_naming_the_files_later_is_no_new_look() -> None:
    seen = verdicts(("s", "f", "tuned:1", "1"), ("s", "f", "hash", "1"), ("s", "f", "hash", "2"))
    assert looks(seen, "hash", "1") == 1
    assert looks(seen, "tuned:1", "1") == 1


def test_new_answers_of_a_candidate_without_files_are_a_new_look() -> None:
    assert looks(verdicts(("s", "f", "tuned:1", "1")), "tuned:2", "2") == 2


def test_two_that_this_one_connects_are_one() -> None:
    seen = verdicts(("s", "f", "hash", "1"), ("s", "f", "tuned:2", "2"))
    assert looks(seen, "hash", "2") == 1


def test_other_questions_and_other_families_do_not_count() -> None:
    seen = verdicts(("other", "f", "a", "1"), ("s", "other", "b", "2"), ("s", "f", None, None))
    assert looks(seen, "c", "3") == 1


def test_the_set_is_its_questions_and_prompts(make_rows: Make, answers: Answers) -> None:
    rows = [*answers("base", [0, 1, 1]), *answers("tuned", [1, 1, 1])]
    identity = heldout_set_id(make_rows(rows))
    shuffled = random.Random(0).sample(rows, len(rows))
    assert heldout_set_id(make_rows(shuffled)) == identity
    assert heldout_set_id(make_rows(answers("third", [0, 0, 0], judge="other", decoding="sample"))) == identity
    assert heldout_set_id(make_rows(rows, answers("base", [0], prompt=None))) == identity
    assert heldout_set_id(make_rows(answers("base", [0, 1]))) != identity
    assert heldout_set_id(make_rows(answers("base", [0, 1, 1], prompt="changed"))) != identity


def test_a_candidate_is_its_answers_whoever_judged_them(make_rows: Make, answers: Answers) -> None:
    rows = answers("tuned", [0, 1, 1])
    identity = answers_identity(make_rows(rows), "tuned")
    assert answers_identity(make_rows(reversed(rows), answers("tuned", [1, 0, 0], judge="other")), "tuned") == identity
    assert answers_identity(make_rows(answers("tuned", [0, 1, 1], answer="other")), "tuned") != identity


def test_without_answers_the_scores_tell_candidates_apart(make_rows: Make, answers: Answers) -> None:
    one = make_rows(answers("tuned", [0, 1, None], answer=None))
    other = make_rows(answers("tuned", [1, 1, None], answer=None))
    assert answers_identity(one, "tuned") != answers_identity(other, "tuned")


def test_a_checkpoints_hash_is_the_better_identity(make_rows: Make, answers: Answers) -> None:
    rows = make_rows(answers("tuned", [0, 1]))
    assert candidate_identity(rows, "tuned", "c0ffee") == "c0ffee"
    assert candidate_identity(rows, "tuned").startswith("tuned:")
