"""Identifiers made from hostile names."""

from __future__ import annotations

import re
from typing import Any

import prefect.events
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlchecks.errors import OrchestratorError
from rlchecks.orchestrator import ledger
from rlchecks.orchestrator.publish import artifact_key, emit_verdict

DOCUMENT = {
    "id": "0123456789abcdef",
    "decision": "HOLD",
    "run": {"id": "../Run\x1b[2J 1", "name": "<b>run</b>\n\u202e"},
    "candidate": "checkpoint-2",
    "baseline": None,
    "reasons": [{"code": "too_few_questions", "effect": "hold"}, {"code": "gain_confirmed", "effect": "pass"}],
    "comparison": {"difference": 0.25, "ci_lower": float("nan"), "ci_upper": None, "n_questions": 20},
}

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


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The events that would have been sent."""
    events: list[dict[str, Any]] = []

    def emit(**event: Any) -> object:
        events.append(event)
        return object()

    monkeypatch.setattr(prefect.events, "emit_event", emit)
    ledger.take()
    return events


def test_a_verdict_is_one_event_with_escaped_names(sent: list[dict[str, Any]]) -> None:
    identity = emit_verdict(DOCUMENT)
    (event,) = sent
    assert event["event"] == "rlchecks.verdict.hold"
    assert re.fullmatch(r"rlchecks\.run\.[a-z0-9%_.-]+", event["resource"]["prefect.resource.id"])
    assert "\n" not in event["resource"]["prefect.resource.name"]
    assert event["payload"]["reasons"] == ["too_few_questions"]
    numbers = {"difference": 0.25, "ci_lower": None, "ci_upper": None, "n_questions": 20}
    assert event["payload"]["comparison"] == numbers
    assert ledger.take() == ([], [identity])


def test_a_repeated_verdict_is_the_same_event_and_another_verdict_another(sent: list[dict[str, Any]]) -> None:
    assert emit_verdict(DOCUMENT) == emit_verdict(DOCUMENT)
    assert emit_verdict(DOCUMENT | {"id": "fedcba9876543210"}) != emit_verdict(DOCUMENT)


def test_an_event_that_prefect_does_not_take_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefect.events, "emit_event", lambda **event: None)
    with pytest.raises(OrchestratorError, match="did not accept"):
        emit_verdict(DOCUMENT)
