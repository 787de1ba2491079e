"""Who judged and who graded, on the page and in the terminal."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from rlchecks.report.identities import Row, rows
from rlchecks.report.page import render
from rlchecks.report.terminal import verdict
from rlchecks.run import RunLog

HOSTILE = "<script>alert(1)</script>\x1b[31m\n"


def known(name: str, **fields: str) -> dict[str, Any]:
    unknown = dict.fromkeys(("kind", "model", "family", "prompt_sha256"))
    return {"name": name, **unknown, **fields, "from": dict.fromkeys(fields, "declared")}


def told(document: dict[str, Any]) -> str:
    console = Console(file=io.StringIO(), width=300, force_terminal=False)
    verdict(console, document, {})
    return console.file.getvalue()  # type: ignore[attr-defined]


def identified() -> dict[str, Any]:
    judge = known("strict", kind="model", model="openai/gpt-5", prompt_sha256="ab" * 32)
    return {
        "judge": {"name": "strict", "decisive": ["strict"], "identities": [judge, known("tone")]},
        "graders": [{"name": "lazy", "identity": known("lazy", kind="rule")}, {"name": "of an older version"}],
    }


def test_every_judge_and_grader_has_a_row() -> None:
    source = "kind, model, prompt: declared"
    assert rows(identified()) == [
        Row("judge", "strict", "model", "openai/gpt-5", "unknown", "ab" * 6, source),
        Row("advisory judge", "tone", "unknown", "unknown", "unknown", "unknown", ""),
        Row("training grader", "lazy", "rule", "unknown", "unknown", "unknown", "kind: declared"),
    ]


def test_page_and_terminal_show_them(document: dict[str, Any], run: RunLog) -> None:
    given = document | identified()
    page, terminal = render(given, run, {}), told(given)
    for text in ("Judge and grader", "openai/gpt-5"):
        assert text in page
        assert text in terminal
    assert "<td>nothing but the name</td>" in page
    assert "known by name only" in terminal
    assert f"prompt {'ab' * 6} (kind, model, prompt: declared)" in terminal


def test_a_document_without_identities_has_no_table(document: dict[str, Any], run: RunLog) -> None:
    assert rows({}) == rows({"judge": "strict", "graders": ["lazy"]}) == []
    assert "Judge and grader" not in told(document | {"judge": {"name": "strict"}, "graders": []})


def test_names_from_outside_are_harmless(document: dict[str, Any], run: RunLog) -> None:
    judge = known(HOSTILE, kind=HOSTILE, model=HOSTILE, family=HOSTILE, prompt_sha256=HOSTILE)
    judge["from"] = {HOSTILE: HOSTILE, "kind": HOSTILE}
    given = document | {"judge": {"name": "a", "decisive": ["a"], "identities": [judge]}}
    assert "<script>" not in render(given, run, {})
    assert "\x1b" not in told(given)
