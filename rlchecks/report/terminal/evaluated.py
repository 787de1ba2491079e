"""An evaluation in the terminal: what was asked and what it cost, then who scored what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from rlchecks.report import format as fmt
from rlchecks.report.terminal.parts import clean, grid, hanging, heading, paragraph, unbroken

_LISTED = 10
_COSTS = ("calls", "reused", "failed", "tokens_in", "tokens_out")


def evaluation(console: Console, document: Mapping[str, Any]) -> None:
    """Print an evaluation, as in ``evaluate --json``."""
    models, judges = document["models"], document["judges"]
    heading(console, "Answers (in, out: tokens of the calls)")
    rows = [_heads("checkpoint", "answered", "cut", "calls", "reused", "failed", "in", "out")]
    for model in models:
        answered = f"{model['answered']:,} of {model['planned']:,}"
        style = "" if model["answered"] == model["planned"] else "bold yellow"
        name = clean(console, model["name"], "bold", 60)
        rows.append([name, Text(answered, style), _count(model["cut"]), *_costs(model)])
    console.print(grid([None, *["right"] * 7], rows=rows))
    for model in models:
        _unanswered(console, model)
    heading(console, "Scores")
    rows = [_heads("judge", "checkpoint", "mean", "scored", "unscored")]
    for judge in judges:
        for scores in judge["models"]:
            missing = scores["unscored"]
            rows.append(
                [
                    clean(console, judge["name"], "bold", 60),
                    clean(console, scores["name"], limit=60),
                    clean(console, fmt.number(scores["mean"])),
                    _count(scores["scored"]),
                    Text(f"{missing:,}" if missing else "", "bold yellow"),
                ]
            )
    console.print(grid([None, None, "right", "right", "right"], rows=rows))
    for judge in judges:
        for scores in judge["models"]:
            _notes(console, judge["name"], scores)
    asked = [judge for judge in judges if "calls" in judge]
    if asked:
        heading(console, "Cost of the judges")
        rows = [_heads("judge", "calls", "reused", "failed", "in", "out")]
        rows += [[clean(console, judge["name"], "bold", 60), *_costs(judge)] for judge in asked]
        console.print(grid([None, *["right"] * 5], rows=rows))
    unmetered = sum(one.get("unmetered", 0) for one in (*models, *asked))
    if unmetered:
        paragraph(console, Text(f"The servers told no tokens for {fmt.count(unmetered, 'answer')}.", "dim"))
    heading(console, "Logs")
    for model in models:
        unbroken(console, Text.assemble("  ", clean(console, model["log"], limit=4000)))
    missing = sum(model["planned"] - model["answered"] for model in models)
    if missing and document.get("questions") is not None:
        again = f"Repeat the command to ask again for {fmt.count(missing, 'answer')} that did not come."
        paragraph(console, Text(again, "bold yellow"))


def _heads(*words: str) -> list[Text]:
    return [Text(word, style="dim") for word in words]


def _count(number: int) -> Text:
    return Text(f"{number:,}" if number else "")


def _costs(one: Mapping[str, Any]) -> list[Text]:
    return [_count(one.get(name, 0)) for name in _COSTS]


def _unanswered(console: Console, model: Mapping[str, Any]) -> None:
    reasons: dict[str, list[str]] = {}
    for one in model["unanswered"]:
        reasons.setdefault(str(one["reason"]), []).append(str(one["question_id"]))
    for reason, questions in reasons.items():
        said = f"unanswered, {reason}: {_some(questions)}"
        hanging(console, Text.assemble(clean(console, model["name"], "bold"), "  ", clean(console, said)))


def _notes(console: Console, judge: str, scores: Mapping[str, Any]) -> None:
    name = clean(console, f"{judge} on {scores['name']}", "bold")
    for one in scores["reasons"][:_LISTED]:
        hanging(console, Text.assemble(name, "  ", clean(console, f"unscored: {one['count']:,}, {one['reason']}")))
    if scores["instructing"]:
        questions = [str(one["question_id"]) for one in scores["instructing_answers"]]
        said = f"{fmt.count(scores['instructing'], 'answer')} that tried to instruct the judge: {_some(questions)}"
        hanging(console, Text.assemble(name, "  ", clean(console, said, "yellow")))


def _some(names: Sequence[str]) -> str:
    """The first questions, each once and with the number of its answers where it is not one."""
    counts = Counter(names)
    more = f" and {len(counts) - _LISTED} more" if len(counts) > _LISTED else ""
    listed = [name if count == 1 else f"{name} ({count:,} times)" for name, count in counts.items()]
    return ", ".join(listed[:_LISTED]) + more
