from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlchecks.evaluation.rubric import DEFAULT, parse_verdict, prompt, prompt_hash

SALT = b"secret"


def parts(text: str) -> tuple[str, str]:
    boundary = text.split("BEGIN ")[1].split("\n", 1)[0]
    return boundary, text.split(f"BEGIN {boundary}\n")[1].split(f"\nEND {boundary}\n")[0]


@given(st.text())
def test_every_answer_is_one_line_of_data_within_boundaries_that_it_does_not_know(answer: str) -> None:
    text = prompt(DEFAULT, 0, 10, "what?", ["4"], answer, SALT)
    boundary, data = parts(text)
    assert "\n" not in data
    assert not {"<", ">", "|"} & set(data)
    assert json.loads(data) == {"question": "what?", "reference_answers": ["4"], "answer": answer}
    assert boundary not in answer


def test_the_boundary_follows_from_the_secret() -> None:
    def asked(salt: bytes) -> str:
        return prompt(DEFAULT, 0, 10, "what?", [], "4", salt)

    assert asked(SALT) == asked(SALT)
    assert parts(asked(SALT))[0] != parts(asked(b"other"))[0]


def test_braces_in_a_rubric_are_text() -> None:
    assert "{answer} {0}" in prompt("{answer} {0}", 0, 10, "what?", [], "4", SALT)


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ('{"score": 7}', 7.0),
        ('{"reason": "ok", "score": 0}', 0.0),
        (' {"score": 9.5}\n', 9.5),
        ('```json\n{"score": 1}\n```', 1.0),
        ("7", None),
        ("", None),
        ("Score: 7", None),
        ('{"score": "7"}', None),
        ('{"score": true}', None),
        ('{"score": null}', None),
        ('{"score": NaN}', None),
        ('{"score": Infinity}', None),
        ('{"score": 10.01}', None),
        ('{"score": -1}', None),
        ('{"score": 3} {"score": 9}', None),
        ('{"score": 3, "score": 9}', None),
        ('Sure! {"score": 3}', None),
        ('{"score": 3', None),
        ('[{"score": 3}]', None),
        ("[" * 10_000, None),
        ('{"score": 3, "reason": "' + "x" * 30_000 + '"}', None),
    ],
)
def test_a_verdict_is_one_object_with_a_score_in_range(reply: str, score: float | None) -> None:
    found = parse_verdict(reply, 0, 10)
    assert (None if found is None else found.score) == score


def test_another_rubric_or_scale_has_another_hash() -> None:
    assert len({prompt_hash("a", 0, 10), prompt_hash("b", 0, 10), prompt_hash("a", 0, 1)}) == 3
