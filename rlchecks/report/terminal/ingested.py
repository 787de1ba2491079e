"""What was read, in the terminal: what was understood and what a person should know, then a line for each run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from rlchecks.report import format as fmt
from rlchecks.report import summary
from rlchecks.report.summary import Document
from rlchecks.report.terminal.parts import (
    aligned,
    clean,
    grid,
    hanging,
    heading,
    nothing_found,
    paragraph,
    refusals,
    unbroken,
)

_MOST_RUNS, _MOST_GROUPS, _MOST_METRICS, _MOST_UNKNOWN, _MOST_NAMED, _MOST_SKIPPED = 200, 20, 40, 8, 3, 10
_HEADERS = ("run", "framework", "steps", "metrics", "unmapped", "warnings", "source")
# Which columns a narrow terminal does without, the first one first; the source then has a line of its own.
_DISPENSABLE = ("source", "framework", "unmapped", "metrics", "warnings", "steps")
_NUMBERS = ("metrics", "unmapped", "warnings")


def ingest(console: Console, document: Mapping[str, Any]) -> None:
    """Print what was read, as in ``ingest --json``; the summary stands last, where it is seen."""
    runs = summary.items(document, "runs")
    nothing_found(console, document)
    if len(runs) == 1:
        _numbers(console, runs[0])
    else:
        _groups(console, "Metrics", runs, "metrics", _MOST_METRICS)
    _groups(console, "Kept without a known meaning", runs, "unmapped", _MOST_UNKNOWN)
    _warnings(console, runs)
    refusals(console, document.get("skipped"), "Skipped", _MOST_SKIPPED)
    refusals(console, document.get("refused"))
    if runs:
        heading(console, "Runs")
        _table(console, runs)
    console.print()
    console.print(_counts(runs, document))


def _counts(runs: Sequence[Document], document: Document) -> Text:
    unchanged = sum(run.get("unchanged") is True for run in runs)
    parts = [Text(f"{unchanged:,} unchanged")] if unchanged else []
    for key, style in (("skipped", "dim"), ("refused", "bold red")):
        if number := len(_listed(document, key)):
            parts.append(Text(f"{number:,} {key}", style=style))
    return Text.assemble((fmt.count(len(runs), "run"), "bold"), ": " if parts else "", Text(", ").join(parts))


def _numbers(console: Console, run: Document) -> None:
    """The metrics of one run, and its rewards in validation."""
    found = {str(name): summary.mapping(values) for name, values in summary.mapping(run.get("metrics")).items()}
    checks = summary.mapping(run.get("validation"))
    if checks:
        found["reward (validation)"] = checks
    if not found:
        return
    rows = [[Text(word, style="dim") for word in ("metric", "first", "last", "mean", "values")]]
    for name, cells in found.items():
        numbers = [clean(console, fmt.signal(name, cells.get(key))) for key in ("first", "last", "mean")]
        rows.append([clean(console, name, limit=40), *numbers, clean(console, fmt.number(cells.get("count")))])
    heading(console, "Metrics")
    console.print(grid([None, "right", "right", "right", "right"], rows=rows))


def _groups(console: Console, title: str, runs: Sequence[Document], key: str, most: int) -> None:
    """What many runs have in common is said once."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for run in runs:
        if names := tuple(map(str, _listed(run, key))):
            groups.setdefault(names, []).append(summary.name_of(run))
    if not groups:
        return
    heading(console, title)
    largest = sorted(groups.items(), key=lambda group: -len(group[1]))
    for names, members in largest[:_MOST_GROUPS]:
        more = f" and {len(names) - most:,} more" if len(names) > most else ""
        shown = clean(console, ", ".join(names[:most]) + more, limit=2000)
        if len(groups) > 1:
            of = members[0] if len(members) == 1 else f"{len(members):,} runs"
            shown = Text.assemble(clean(console, of, "bold"), "  ", shown)
        hanging(console, shown)
    if len(groups) > _MOST_GROUPS:
        paragraph(console, Text(f"and {len(groups) - _MOST_GROUPS:,} more sets; --json prints them all", "dim"))
    elif any(len(names) > most for names in groups):
        paragraph(console, Text("--json prints them all", "dim"))


def _warnings(console: Console, runs: Sequence[Document]) -> None:
    """What is told of several runs is said once."""
    told: dict[str, list[str]] = {}
    for run in runs:
        for warning in _listed(run, "warnings"):
            told.setdefault(str(warning), []).append(summary.name_of(run))
    if told:
        heading(console, "Warnings")
    for warning, names in list(told.items())[:_MOST_RUNS]:
        more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
        of = clean(console, ", ".join(names[:_MOST_NAMED]) + more, "bold")
        hanging(console, Text.assemble(of, "  ", clean(console, warning)))
    if len(told) > _MOST_RUNS:
        paragraph(console, Text(f"and {len(told) - _MOST_RUNS:,} more; --json prints them all", "dim"))


def _table(console: Console, runs: Sequence[Document]) -> None:
    """A line for each run, as wide as the terminal allows; ids and sources are never broken: they are to be copied."""
    rows = [dict(zip(_HEADERS, _row(console, run), strict=True)) for run in runs[:_MOST_RUNS]]
    headers = {word: Text(word, style="dim") for word in _HEADERS}
    shown = list(_HEADERS)
    for word in _DISPENSABLE:
        lines = aligned([[row[one] for one in shown] for row in (headers, *rows)], _right(shown))
        if max(line.cell_len for line in lines) <= console.width:
            break
        shown.remove(word)
    lines = aligned([[row[one] for one in shown] for row in (headers, *rows)], _right(shown))
    unbroken(console, lines[0])
    for row, line in zip(rows, lines[1:], strict=True):
        unbroken(console, line)
        if "source" not in shown and row["source"]:
            unbroken(console, Text.assemble("    ", row["source"]))
    if len(runs) > _MOST_RUNS:
        paragraph(console, Text(f"and {len(runs) - _MOST_RUNS:,} more; --json prints them all", style="dim"))


def _right(shown: Sequence[str]) -> list[bool]:
    return [word in _NUMBERS for word in shown]


def _row(console: Console, run: Document) -> list[Text]:
    counts = [len(_listed(run, word)) for word in _NUMBERS]
    return [
        clean(console, summary.name_of(run), "bold", 120),
        clean(console, run.get("framework") or "", limit=24),
        clean(console, _steps(run), limit=40),
        *(
            Text(f"{count:,}" if count else "", "yellow" if word == "warnings" else "")
            for word, count in zip(_NUMBERS, counts, strict=True)
        ),
        clean(console, run.get("source") or "", "dim", 4000),
    ]


def _steps(run: Document) -> str:
    checks = summary.mapping(run.get("validation"))
    if not run.get("steps") and checks:
        return fmt.count(checks.get("count"), "check")
    first, last = (fmt.number(run.get(key), "?") for key in ("first_step", "last_step"))
    return first if first == last else f"{first}-{last}"


def _listed(document: Document, key: str) -> list[Any]:
    value = document.get(key)
    if isinstance(value, str) or not isinstance(value, Sequence | Mapping):
        return []
    return list(value)
