from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from rlchecks.heldout import HeldoutRows, answers_identity, candidate_identity, count_looks, heldout_set_id
from rlchecks.schema import VERDICTS

Make = Callable[..., HeldoutRows]
Answers = Callable[..., list[dict[str, Any]]]


def verdicts(*rows: tuple[str, str, str | None]) -> pa.Table:
    names = ("heldout_set", "family", "candidate_identity")
    return pa.Table.from_pylist(
        [{"run_id": "r", **dict(zip(names, row, strict=True))} for row in rows], schema=VERDICTS
    )


def test_the_first_candidate_is_the_first_look() -> None:
    assert count_looks(VERDICTS.empty_table(), heldout_set="s", family="f", candidate_identity="a") == 1


def test_the_same_candidate_again_is_no_new_look() -> None:
    seen = verdicts(("s", "f", "a"), ("s", "f", "a"), ("s", "f", "b"))
    assert count_looks(seen, heldout_set="s", family="f", candidate_identity="a") == 2
    assert count_looks(seen, heldout_set="s", family="f", candidate_identity="c") == 3


def test_other_questions_and_other_families_do_not_count() -> None:
    seen = verdicts(("other", "f", "a"), ("s", "other", "b"), ("s", "f", None))
    assert count_looks(seen, heldout_set="s", family="f", candidate_identity="c") == 1


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
