from __future__ import annotations

import hashlib
from pathlib import Path

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


SHA = "a" * 64


@pytest.mark.parametrize(
    ("text", "scorer"),
    [
        ("exact:kind=rule", Scorer("exact", kind="rule")),
        ("people::advisory:kind=Human", Scorer("people", decisive=False, kind="human")),
        ("help:model=gpt-4o", Scorer("help", kind="model", model="gpt-4o")),
        ("help:family=gpt", Scorer("help", kind="model", family="gpt")),
        (f"help:0..10:lower:model=a/b:prompt={SHA.upper()}",
         Scorer("help", 0.0, 10.0, higher_is_better=False, kind="model", model="a/b", prompt=SHA)),
        ('help:model="openai:gpt-4o":0..1', None),
        ('help:0..1:model="openai:gpt-4o"', Scorer("help", 0.0, 1.0, kind="model", model="openai:gpt-4o")),
        ('"a:b":0..1:model="openai:gpt-4o":kind=model', Scorer("a:b", 0.0, 1.0, kind="model", model="openai:gpt-4o")),
        ("openai:gpt-4:kind=model", Scorer("openai:gpt-4", kind="model")),
        ('say "hi', Scorer('say "hi')),
    ],
)  # fmt: skip
def test_identities(text: str, scorer: Scorer | None) -> None:
    if scorer is None:  # a range comes first
        with pytest.raises(UsageError, match="not understood"):
            parse_scorer(text)
    else:
        assert parse_scorer(text) == scorer


def test_the_file_of_a_prompt_is_hashed(tmp_path: Path) -> None:
    path = tmp_path / "rubric: strict.md"
    path.write_bytes(b"Score from 0 to 10.")
    found = parse_scorer(f'help:prompt=@"{path}"')
    assert found == parse_scorer(f'help:prompt="@{path}"')
    assert found.prompt == hashlib.sha256(b"Score from 0 to 10.").hexdigest()
    assert found.identified


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("help:kind=robot", "one of rule, model, human"),
        ("help:kind=rule:model=gpt-4o", "one or the other"),
        ("help:kind=human:family=gpt", "one or the other"),
        ("help:model=", "needs a name"),
        ("help:prompt=abc", "64 hexadecimal digits"),
        ("help:prompt=@no-such-file.md", "cannot be read from 'no-such-file.md'"),
        ("help:prompt=@", "cannot be read"),
        ("help:model=gpt-4o:family=claude", "of the family gpt"),
        ("help:kind=rule:kind=rule", "not understood"),
        ("help:modle=gpt-4o", "not understood"),
        ("help:kind", "not understood"),
    ],
)
def test_an_identity_that_means_nothing_is_refused(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        parse_scorer(text)
