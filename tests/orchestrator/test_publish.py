"""Identifiers made from hostile names."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from rlchecks.orchestrator.publish import artifact_key

NAMES = st.text(st.characters(codec=None), max_size=300)


@given(NAMES, NAMES)
def test_a_key_has_only_what_prefect_allows(run: str, candidate: str) -> None:
    key = artifact_key(run, candidate)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", key)
    assert len(key) <= 60


@given(st.lists(NAMES, min_size=2, max_size=2), st.lists(NAMES, min_size=2, max_size=2))
def test_different_names_have_different_keys(one: list[str], other: list[str]) -> None:
    assert (artifact_key(*one) == artifact_key(*other)) == (one == other)


def test_a_key_shows_what_it_can_of_the_names() -> None:
    assert re.fullmatch(r"healthy-s1-checkpoint-100-[0-9a-f]{8}", artifact_key("healthy-s1", "Checkpoint_100"))
    assert re.fullmatch(r"[0-9a-f]{8}", artifact_key("../", "\u202e"))
