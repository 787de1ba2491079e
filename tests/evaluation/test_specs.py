from __future__ import annotations

import pytest

from rlchecks.errors import UsageError
from rlchecks.evaluation.request import EvaluateRequest
from rlchecks.evaluation.specs import Endpoint, JudgeSpec, parse_judges, parse_models, parse_scale


def test_a_model_is_a_name_a_model_and_an_address() -> None:
    given = ["base=Qwen/Qwen3-4B@http://localhost:8000/v1/", "step-100=lora@v2@https://host/v1/chat/completions"]
    assert parse_models(given, ["BOTH", "base=MINE"]) == (
        Endpoint("base", "Qwen/Qwen3-4B", "http://localhost:8000/v1", "MINE"),
        Endpoint("step-100", "lora@v2", "https://host/v1", "BOTH"),
    )


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("Qwen@http://localhost/v1", "expected NAME=MODEL@BASE_URL"),
        ("base=Qwen", "expected MODEL@BASE_URL"),
        ("base=Qwen@localhost:8000", "expected MODEL@BASE_URL"),
        ("../base=Qwen@http://localhost/v1", "expected NAME=MODEL@BASE_URL"),
        (".base=Qwen@http://localhost/v1", "expected NAME=MODEL@BASE_URL"),
        ("base=Qwen@http://:1/v1", "is no address"),
        ("base=Qwen@http://localhost:x/v1", "is no address"),
    ],
)
def test_a_malformed_model_is_refused(given: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        parse_models([given], [])


@pytest.mark.parametrize(
    "address", ["https://user:hidden@host/v1", "https://host/v1?key=hidden", "https://host#hidden"]
)
def test_a_password_in_an_address_is_refused_and_not_shown(address: str) -> None:
    with pytest.raises(UsageError, match="no password or query") as caught:
        parse_models([f"base=m@{address}"], [])
    assert "hidden" not in str(caught.value)


def test_names_are_unique_without_regard_to_case() -> None:
    with pytest.raises(UsageError, match="is there twice"):
        parse_models(["a=m@http://h/v1", "A=n@http://h/v1"], [])
    with pytest.raises(UsageError, match="numeric is there twice"):
        parse_judges(["numeric:1", "numeric:2"], [])


def test_judges_have_a_kind_and_the_name_that_they_are_given() -> None:
    given = ["exact", "near=numeric:1%", r"regex:a=(\d+):x", "own=python:ours.judges:fair", "q=model:gpt@http://h:1/v1"]
    assert parse_judges(given, []) == (
        JudgeSpec("exact", "exact"),
        JudgeSpec("near", "numeric", "1%"),
        JudgeSpec("regex", "regex", r"a=(\d+):x"),
        JudgeSpec("own", "python", "ours.judges:fair"),
        JudgeSpec("q", "model", None, Endpoint("q", "gpt", "http://h:1/v1")),
    )


@pytest.mark.parametrize("given", ["vibes", "regex", "regex:", "python", "model", "exact:1", "a b=exact", "=exact"])
def test_a_malformed_judge_is_refused(given: str) -> None:
    with pytest.raises(UsageError, match="--judge"):
        parse_judges([given], [])


def test_a_scale_has_a_low_and_a_high_end() -> None:
    assert parse_scale("-1..2.5") == (-1.0, 2.5)
    for wrong in ("10..0", "1..1", "0-10", "nan..1"):
        with pytest.raises(UsageError, match="expected LOW"):
            parse_scale(wrong)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"judges": ()}, "Who shall judge"),
        ({"models": ()}, "Which models"),
        ({"questions": None}, "Which questions"),
        ({"rejudge": True}, "--rejudge takes the answers"),
        ({"epochs": 2}, "At temperature 0 every repeat gives the same answer"),
        ({"temperature": float("nan")}, "--temperature"),
        ({"top_p": 0.0}, "--top-p"),
        ({"max_tokens": 0}, "--max-tokens"),
        ({"out": " "}, "--out DIR"),
        ({"retries": -1}, "--retries"),
    ],
)
def test_a_request_that_contradicts_itself_is_refused(options: dict[str, object], sentence: str) -> None:
    given = {"out": "o", "judges": ("exact",), "questions": "q.jsonl", "models": ("a=m@http://h/v1",), **options}
    with pytest.raises(UsageError, match=sentence):
        EvaluateRequest(**given)  # type: ignore[arg-type]
