from __future__ import annotations

import json
import re
from typing import Any

import pytest

from rlchecks.report.markdown import findings_table, verdict_markdown

HOSTILE = "[x](https://example.org) <img src=x> | `a` **b** \n# c\n- d www.example.org me@example.org ![i](j)"
ESCAPED = r"\\[\\`*_{}\[\]()#~|!]"


def poisoned(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: item if key in ("decision", "effect", "severity") else poisoned(item) for key, item in value.items()
        }
    if isinstance(value, list):
        return [poisoned(item) for item in value]
    return HOSTILE if isinstance(value, str) else value


def test_the_verdict_holds_decision_reason_numbers_and_override(document: dict[str, Any]) -> None:
    text = verdict_markdown(document)
    assert text.startswith("# REJECT: toy\n\ncheckpoint-40 against base\n\n> **Overridden by somebody:**")
    assert "- Do not promote." in text
    assert r"| strict | sample | decides | -0.358 \[-0.396, -0.319\] | 200 |" in text
    assert "1 reason in favour, or not applicable." in text


def inert(text: str) -> None:
    bare = re.sub(ESCAPED, "", text)
    assert not re.search(r"<[a-z/!]|\]\(|`|://|(?i:www)\.|@\w", bare)


def test_hostile_text_is_neither_markup_nor_link(document: dict[str, Any]) -> None:
    hostile = verdict_markdown(poisoned(document))
    inert(hostile)
    plain = verdict_markdown(document)
    # The same lines of the same kinds: no text begins a heading, a list or a row of its own.
    kinds = [[line[:1] for line in text.splitlines() if line[:1] in "#-|>"] for text in (hostile, plain)]
    assert kinds[0] == kinds[1]
    borders = [len(re.findall(r"(?<!\\)\|", line)) for line in hostile.splitlines() if line.startswith("|")]
    assert borders == [6] * 5 + [5] * 4


def test_an_empty_document_is_no_pass() -> None:
    assert verdict_markdown({}).startswith("# NO DECISION: unnamed")


def test_a_long_list_of_reasons_is_cut(document: dict[str, Any]) -> None:
    document["reasons"] = document["reasons"][:1] * 100
    assert "and 60 more" in verdict_markdown(document)


def test_findings_are_rows_worst_first(document: dict[str, Any]) -> None:
    rows = findings_table(document)
    assert [(row["severity"], row["from step"]) for row in rows] == [("critical", "12"), ("information", "")]
    assert rows[0]["evidence"] == "grader gain 0.510; clipped ratio late 25%"
    json.dumps(rows, allow_nan=False)


@pytest.mark.parametrize("column", ["finding", "meaning", "advice"])
def test_cells_of_the_findings_are_inert(document: dict[str, Any], column: str) -> None:
    for row in findings_table(poisoned(document)):
        inert(row[column])
