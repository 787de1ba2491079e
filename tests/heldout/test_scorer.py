from __future__ import annotations

import pytest

from rlchecks.errors import UsageError
from rlchecks.heldout.scorer import Scorer, parse_scorer


@pytest.mark.parametrize(
    ("text", "scorer"),
    [
        ("accuracy", Scorer("accuracy")),
        ("help:0..10", Scorer("help", 0.0, 10.0)),
        ("help:-1..1.5e1", Scorer("help", -1.0, 15.0)),
        ("toxicity:0..1:lower", Scorer("toxicity", 0.0, 1.0, higher_is_better=False)),
        ("tone::advisory", Scorer("tone", decisive=False)),
        ("tone:0..5:lower:advisory", Scorer("tone", 0.0, 5.0, higher_is_better=False, decisive=False)),
        ("tone::advisory:higher", Scorer("tone", decisive=False)),
        (" a b ", Scorer("a b")),
        ("openai:gpt-4", Scorer("openai:gpt-4")),
        ("openai:gpt-4:0..10:lower", Scorer("openai:gpt-4", 0.0, 10.0, higher_is_better=False)),
        ("together:meta/llama-3.1::advisory", Scorer("together:meta/llama-3.1", decisive=False)),
        ('"openai:chat"', Scorer("openai:chat")),
        ('"ollama:llama3:8b":0..1', Scorer("ollama:llama3:8b", 0.0, 1.0)),
        ('"a:b"::advisory', Scorer("a:b", decisive=False)),
    ],
)
def test_forms(text: str, scorer: Scorer) -> None:
    assert parse_scorer(text) == scorer


@pytest.mark.parametrize(
    "text",
    [
        "help:10",
        "help:0..x",
        "help:",
        "help::",
        "help::loud",
        "help:0..1:0..2",
        "help::lower:higher",
        "help::lower:lower",
        "help:lowr",
        "help:lower-is-better",
        "help:0to10",
        "help:1e5",
        "help:o..1",
        "openai:gpt-4:10",
        '"a:b":10',
    ],
)
def test_an_unknown_suffix_tells_the_forms(text: str) -> None:
    with pytest.raises(UsageError, match=r"NAME:0\.\.10.*NAME::advisory"):
        parse_scorer(text)


@pytest.mark.parametrize("text", ["", "  ", ":0..1", '"":0..1'])
def test_a_name_is_needed(text: str) -> None:
    with pytest.raises(UsageError, match="needs a name"):
        parse_scorer(text)


@pytest.mark.parametrize("text", ["x:1..1", "x:5..2"])
def test_a_range_ascends(text: str) -> None:
    with pytest.raises(UsageError, match="must ascend"):
        parse_scorer(text)


def test_half_a_range_is_refused() -> None:
    with pytest.raises(UsageError, match="both ends"):
        Scorer("x", low=0.0)
    with pytest.raises(UsageError, match="finite"):
        Scorer("x", low=0.0, high=float("inf"))
