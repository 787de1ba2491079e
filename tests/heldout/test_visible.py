from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlchecks.heldout.copies import find_copies
from rlchecks.heldout.prompts import normalised
from rlchecks.heldout.visible import visible

QUESTION = "what is the seventh item of the list of a train"

# Unicode: zero-width space and joiner, soft hyphen, grapheme joiner, variation selector, Hangul filler, tag, direction.
UNSEEN = [
    "\u200b",
    "\u200d",
    "\u00ad",
    "\u034f",
    "\ufe0f",
    "\u3164",
    "\U000e0041",
    "\u202e",
    "\ufeff",
    "&#8203;",
    "&shy;",
]


@pytest.mark.parametrize("sign", UNSEEN)
def test_what_nobody_sees_makes_no_other_question(sign: str) -> None:
    hidden = QUESTION.replace("t", f"t{sign}")
    assert visible(hidden) == QUESTION
    assert normalised(hidden) == normalised(QUESTION)
    assert [copy.kind for copy in find_copies([QUESTION], [hidden])] == ["exact"]
    # Words too, where only a part is the same.
    assert [copy.kind for copy in find_copies([QUESTION], [f"Once: {hidden}. And then?"])] == ["whole"]


def test_html_is_what_it_shows() -> None:
    assert normalised("Is 3&nbsp;&lt; 4 &amp; 5?") == "is 3 < 4 & 5?"
    assert visible("AT&T & co") == "AT&T & co"


@given(st.text())
def test_only_unseen_signs_go(text: str) -> None:
    kept = visible(text.replace("&", ""))
    gone = set(text) - set(kept) - {"&"}
    assert all(unicodedata.category(sign) in {"Cf", "Mn", "Lo"} for sign in gone)
