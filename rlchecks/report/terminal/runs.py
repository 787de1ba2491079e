"""Runs in the terminal: what was read, what it shows, and how a fleet of runs is doing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from rich.console import Console
from rich.text import Text

from rlchecks.report import format as fmt
from rlchecks.report import summary
from rlchecks.report.summary import Document
from rlchecks.report.terminal.parts import (
    SEVERITY_STYLES,
    STATUS_STYLES,
    clean,
    finding,
    grid,
    nothing_found,
    paragraph,
    refusals,
)

_MOST_RUNS, _MOST_ROWS, _MOST_NOTES, _MOST_NAMED = 50, 200, 20, 3
# Narrower than this a column of text cannot be read; wider ones give way to the next columns.
_NARROWEST_TEXT = 24
_INDENT = _GAP = 2
# Of a fraction; the last ones of a double only tell in what order it was summed up.
_DIGITS = 12
_STATUSES = ("sick", "incomplete", "warning", "healthy")


def diagnosis(console: Console, document: Mapping[str, Any]) -> None:
    """Print the findings of each run, as in ``diagnose --json``."""
    for run in summary.items(document, "runs"):
        console.print()
        console.print(_title(console, run))
        found = summary.findings(run)
        for item in found:
            evidence = summary.mapping(item.get("evidence")).items()
            shown = ", ".join(f"{fmt.label(key)} {fmt.signal(str(key), value)}" for key, value in evidence)
            finding(console, item, summary.severity(item), rest=shown)
        if not found:
            paragraph(console, Text("no finding"))
        _remarks(console, run)
    nothing_found(console, document)
    _unused(console, document)
    if summary.items(document, "runs"):
        console.print()
        words = "From signals and findings alone: `rlchecks audit` checks the healthy ranges, too."
        paragraph(console, Text(words, "dim"), 0)


def audit(console: Console, document: Mapping[str, Any]) -> None:
    """Print an audit, as in ``audit --json``: how many runs are in which state, then those that are not healthy."""
    runs = summary.items(document, "runs")
    counts = Counter(_status(run) for run in runs)
    refused = document.get("refused")
    shown = [Text(f"{counts[status]} {status}", style=STATUS_STYLES[status]) for status in _STATUSES if counts[status]]
    number_refused = len(refused) if isinstance(refused, Sequence) else 0
    if number_refused:
        shown.append(Text(f"{number_refused} refused", style="bold red"))
    console.print()
    console.print(Text.assemble((fmt.count(len(runs), "run"), "bold"), ": " if shown else "", Text(", ").join(shown)))
    unwell = sorted((run for run in runs if _status(run) != "healthy"), key=lambda run: _STATUSES.index(_status(run)))
    for run in unwell[:_MOST_RUNS]:
        console.print()
        console.print(_title(console, run))
        for item in summary.findings(run):
            if summary.severity(item) != "information":
                finding(console, item, summary.severity(item), short=True)
        codes = [
            fmt.label(item.get("code")) for item in summary.findings(run) if summary.severity(item) == "information"
        ]
        if codes:
            paragraph(
                console,
                Text.assemble(
                    (f"{'information':<13}", SEVERITY_STYLES["information"]), clean(console, ", ".join(codes))
                ),
            )
        _remarks(console, run)
    _healthy(console, [run for run in runs if _status(run) == "healthy"])
    if len(unwell) > _MOST_RUNS:
        console.print()
        console.print(f"and {len(unwell) - _MOST_RUNS} more that are not healthy", highlight=False)
    _unused(console, document)


def _healthy(console: Console, runs: Sequence[Document]) -> None:
    """Name the healthy runs; what a person should know about how their logs were read is said once."""
    if not runs:
        return
    console.print()
    paragraph(console, clean(console, f"healthy: {_names(runs, _MOST_RUNS)}", "dim"), 0)
    told: dict[str, list[Document]] = {}
    for run in runs:
        for warning in summary.values(run.get("warnings")):
            told.setdefault(str(warning), []).append(run)
    if told:
        noted = len({summary.name_of(run) for some in told.values() for run in some})
        paragraph(console, Text(f"of these {noted} with notes on how they were read:", "dim"), 0)
    for warning, some in list(told.items())[:_MOST_NOTES]:
        _labelled(console, "reading", clean(console, f"{_names(some, _MOST_NAMED)}: {warning}"))
    if len(told) > _MOST_NOTES:
        paragraph(console, Text(f"and {len(told) - _MOST_NOTES:,} more notes; --json prints them all", "dim"))


def _names(runs: Sequence[Document], most: int) -> str:
    names = [summary.name_of(run) for run in runs]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _remarks(console: Console, run: Mapping[str, Any]) -> None:
    """Print which expectations a run failed, and what a person should know about how its log was read."""
    for check in summary.items(run, "failed"):
        outcome = summary.status(check)
        seen = "" if check.get("observed") is None else f" {fmt.signal(str(check.get('column')), check['observed'])},"
        words = f"{fmt.label(check.get('column'))} {outcome}:{seen} expected {check.get('expected')}"
        _labelled(console, summary.effect(check), clean(console, words))
    for warning in summary.values(run.get("warnings")):
        _labelled(console, "reading", clean(console, warning))
    if unknown := summary.not_understood(run):
        words = f"{fmt.anything(unknown)} not understood; name a metric with --column OWN=NAME"
        _labelled(console, "reading", clean(console, words))


def _labelled(console: Console, label: str, text: Text) -> None:
    console.print(grid([None, "fold"], rows=[[Text(f"{label:<11}", "dim"), text]]))


def signals(console: Console, row: Mapping[str, Any]) -> None:
    """Print one row of the signals table, a signal a line."""
    rows = [
        [
            clean(console, name, limit=60),
            clean(console, fmt.signal(str(name), value), "" if value is not None else "dim"),
        ]
        for name, value in row.items()
    ]
    console.print(grid([None, "fold"], rows=rows))


def _unused(console: Console, document: Document) -> None:
    refusals(console, document.get("refused"))
    refusals(console, document.get("skipped"), "Skipped")


def table(console: Console, rows: pa.Table) -> None:
    """Print the result of a query: at most 200 rows, and of the columns the first that fit, at least one."""
    shown = rows.slice(0, _MOST_ROWS)
    columns: list[list[Text]] = []
    kinds: list[str] = []
    room = console.width - _INDENT
    for field, values in zip(shown.schema, shown.columns, strict=True):
        cells = map(_cell, values.to_pylist())
        column = [clean(console, field.name, "bold", 60), *(clean(console, cell, limit=200) for cell in cells)]
        kind = "right" if pa.types.is_integer(field.type) or pa.types.is_floating(field.type) else "fold"
        width = max(cell.cell_len for cell in column)
        room -= _GAP + (width if kind == "right" else min(width, _NARROWEST_TEXT))
        if room < 0 and columns:
            break
        columns.append(column)
        kinds.append(kind)
    console.print(grid(kinds, rows=list(zip(*columns, strict=True))))
    if not rows.num_rows:
        paragraph(console, Text("no rows", "dim"))
    for left, noun in ((rows.num_rows - len(shown), "row"), (rows.num_columns - len(columns), "column")):
        if left:
            words = f"and {left:,} more {noun}{'s' if left > 1 else ''}; --json prints them all"
            paragraph(console, Text(words, style="dim"))


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return f"{value:.{_DIGITS}g}"
    return "null" if value is None else value


def _status(run: Document) -> str:
    # A status that is none of the known ones must not pass for healthy.
    value = run.get("status")
    return value if isinstance(value, str) and value in _STATUSES else "incomplete"


def _title(console: Console, run: Document) -> Text:
    name = clean(console, summary.name_of(run), "bold")
    framework = clean(console, run.get("framework") or "", "dim", 40)
    if "status" not in run:
        return Text.assemble(name, "  ", framework)
    status = _status(run)
    return Text.assemble(name, "  ", (status, STATUS_STYLES[status]), "  ", framework)
