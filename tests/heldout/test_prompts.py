from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlchecks.heldout.prompts import forms, normalised, whole

USER = {"role": "user", "content": "26+31"}
SYSTEM = {"role": "system", "content": "Be brief."}
EXAMPLES = [{"role": "user", "content": "1+1"}, {"role": "assistant", "content": "2"}]
PARTS = {"role": "user", "content": [{"type": "text", "text": "26+31"}, {"type": "image"}]}


@pytest.mark.parametrize(
    "prompt",
    [
        " 26+31\n",
        json.dumps([USER]),
        json.dumps(USER),
        json.dumps({"messages": [USER]}),
        json.dumps([PARTS]),
        json.dumps([SYSTEM, USER], indent=1),
        json.dumps([*EXAMPLES, USER]),
        "user: 26+31",
        "system: Be brief.\n\nuser: 26+31",  # as TRL's reader writes several messages
    ],
)
def test_one_question_in_all_forms_has_a_form_in_common(prompt: str) -> None:
    assert forms(prompt) & forms("26+31") == {"26+31"}


def test_different_questions_after_one_system_prompt_have_none_in_common() -> None:
    one, other = (json.dumps([SYSTEM, {"role": "user", "content": text}]) for text in ("26+31", "26+32"))
    assert not forms(one) & forms(other)
    assert whole(one) == "be brief. 26+31"


@pytest.mark.parametrize(
    "prompt", ["[1, 2]", "[not json", "{}", "[" * 50_000, '[{"role": "user"}]', "[]", "plan: a\n\nuser: b", "{" * 3]
)
def test_other_text_is_only_itself(prompt: str) -> None:
    assert forms(prompt) == {normalised(prompt)}
    assert whole(prompt) == normalised(prompt)


def test_an_empty_prompt_is_none() -> None:
    assert forms(" \n") == frozenset()
    assert forms(json.dumps([{"role": "user", "content": None}])) == {'[{"role": "user", "content": null}]'}


@given(st.text(max_size=30), st.text(max_size=30))
def test_a_message_is_the_same_as_its_content(system: str, content: str) -> None:
    chat = json.dumps([{"role": "system", "content": system}, {"role": "user", "content": content}])
    assert normalised(content) in forms(chat) or not normalised(content)
    assert whole(chat) == normalised(f"{system} {content}") or not normalised(f"{system} {content}")
