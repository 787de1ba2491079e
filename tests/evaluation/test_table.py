from __future__ import annotations

import io

from rich.console import Console

from rlchecks.report.terminal import evaluation


def test_the_table_tells_costs_gaps_and_attempts_and_prints_names_as_text() -> None:
    hostile = "[red]q\x1b[2J"
    scores = {
        "name": "base",
        "scored": 1,
        "unscored": 1,
        "mean": 7.0,
        "reasons": [{"reason": "the judge's reply is no verdict", "count": 1}],
        "instructing": 1,
        "instructing_answers": [{"question_id": hostile, "epoch": 1, "how": ["asks for a score"]}],
    }
    cost = {"calls": 5, "reused": 1, "failed": 2, "tokens_in": 1234, "tokens_out": 9, "unmetered": 1}
    model = {
        "name": "base",
        "planned": 3,
        "answered": 2,
        "cut": 1,
        "log": "out/base.eval",
        "unanswered": [{"question_id": hostile, "epoch": 1, "reason": "the server did not answer in time"}],
        **cost,
    }
    judges = [{"name": "quality", "models": [scores], **cost}]
    model["unanswered"] += [{"question_id": "q7", "epoch": epoch, "reason": "no"} for epoch in (1, 2)]
    document = {"questions": {"count": 3}, "models": [model], "judges": judges}
    output = io.StringIO()
    evaluation(Console(file=output, width=100, color_system=None), document)
    text = output.getvalue()
    assert "\x1b" not in text
    assert "[red]q" in text
    for words in (
        "2 of 3",
        "unanswered, no: q7 (2 times)",
        "Repeat the command to ask again for 1 answer that did not come.",
        "1,234",
        "unanswered, the server did not answer in time",
        "unscored: 1, the judge's reply is no verdict",
        "1 answer that tried to instruct the judge",
        "The servers told no tokens for 2 answers.",
        "out/base.eval",
    ):
        assert words in text
