"""What was read, in the terminal: a line for each run, then what was understood, and what a person should know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rlchecks.report import format as fmt
from rlchecks.report import summary
from rlchecks.report.summary import Document
from rlchecks.report.terminal.parts import clean, grid, hanging, heading, paragraph, refusals

_MOST_RUNS, _MOST_GROUPS, _MOST_NAMES = 200, 20, 40
# Narrower than this a list of names says nothing, and an id cannot be read.
_NARROWEST_LIST, _NARROWEST_NAME = 16, 16
_GAP = 2
_HEADERS = ("run", "framework", "steps", "metrics", "unmapped", "warnings")
_LISTS = ("metrics", "unmapped")
_WHOLE = ("run", "framework", "steps", "warnings")
# Which columns a narrow terminal does without, the first one first.
_DISPENSABLE = ("framework", "unmapped", "metrics", "warnings")


def ingest(console: Console, document: Mapping[str, Any]) -> None:
    """Print what was read, as in ``ingest --json``."""
    runs = summary.items(document, "runs")
    if len(runs) == 1:
        _numbers(console, runs[0])
    else:
        _groups(console, "Metrics", runs, "metrics")
    _groups(console, "Kept without a known meaning", runs, "unmapped")
    console.print()
    console.print(_counts(runs, document))
    if runs:
        _table(console, runs)
    warned = [run for run in runs if _listed(run, "warnings")]
    if warned:
        heading(console, "Warnings")
    for run in warned[:_MOST_RUNS]:
        for warning in _listed(run, "warnings"):
            hanging(console, Text.assemble(clean(console, summary.name_of(run), "bold"), "  ", clean(console, warning)))
    refusals(console, document.get("skipped"), "Skipped")
    refusals(console, document.get("refused"))


def _counts(runs: Sequence[Document], document: Document) -> Text:
    unchanged = sum(run.get("unchanged") is True for run in runs)
    parts = [Text(f"{unchanged:,} unchanged")] if unchanged else []
    for key, style in (("skipped", "dim"), ("refused", "bold red")):
        if number := len(_listed(document, key)):
            parts.append(Text(f"{number:,} {key}", style=style))
    return Text.assemble((fmt.count(len(runs), "run"), "bold"), ": " if parts else "", Text(", ").join(parts))


def _numbers(console: Console, run: Document) -> None:
    """The metrics of one run."""
    rows = [[Text(word, style="dim") for word in ("metric", "first", "last", "mean", "rows")]]
    for name, values in summary.mapping(run.get("metrics")).items():
        cells = summary.mapping(values)
        numbers = [clean(console, fmt.signal(str(name), cells.get(key))) for key in ("first", "last", "mean")]
        rows.append([clean(console, name, limit=40), *numbers, clean(console, fmt.number(cells.get("count")))])
    heading(console, "Metrics")
    console.print(grid([None, "right", "right", "right", "right"], rows=rows))


def _groups(console: Console, title: str, runs: Sequence[Document], key: str) -> None:
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
        more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
        shown = clean(console, ", ".join(names[:_MOST_NAMES]) + more, limit=2000)
        if len(groups) > 1:
            of = members[0] if len(members) == 1 else f"{len(members):,} runs"
            shown = Text.assemble(clean(console, of, "bold"), "  ", shown)
        hanging(console, shown)
    if len(groups) > _MOST_GROUPS:
        paragraph(console, Text(f"and {len(groups) - _MOST_GROUPS:,} more sets; --json prints them all", "dim"))


def _table(console: Console, runs: Sequence[Document]) -> None:
    rows = [_row(console, run) for run in runs[:_MOST_RUNS]]
    headers = [Text(word, style="dim") for word in _HEADERS]
    needed = {word: max(row[at].cell_len for row in [headers, *rows]) for at, word in enumerate(_HEADERS)}
    # What is left beside the columns that are wanted whole.
    room = console.width - sum(needed[word] for word in _WHOLE) - _GAP * (len(_HEADERS) + 1)
    if room < 2 * _NARROWEST_LIST:
        rows = [
            [cell if word in _WHOLE else _number(cell) for word, cell in zip(_HEADERS, row, strict=True)]
            for row in rows
        ]
        needed |= {word: len(word) for word in _LISTS}
        room = sum(needed[word] for word in _LISTS)
    metrics = min(needed["metrics"], max(room // 2, room - needed["unmapped"]))
    widths = needed | {"metrics": metrics, "unmapped": min(needed["unmapped"], room - metrics)}
    del widths["run"]
    for word in _DISPENSABLE:
        if console.width - sum(widths.values()) - _GAP * (len(widths) + 2) < min(needed["run"], _NARROWEST_NAME):
            del widths[word]
    table = Table.grid(padding=(0, _GAP, 0, 0))
    table.add_column(overflow="fold")
    for width in widths.values():
        table.add_column(width=width, no_wrap=True, overflow="ellipsis")
    for row in [headers, *rows]:
        table.add_row(*(cell for word, cell in zip(_HEADERS, row, strict=True) if word == "run" or word in widths))
    console.print(Padding(table, (0, 0, 0, _GAP)))
    if len(runs) > _MOST_RUNS:
        paragraph(console, Text(f"and {len(runs) - _MOST_RUNS:,} more; --json prints them all", style="dim"))


def _number(cell: Text) -> Text:
    return Text(cell.plain.partition(":")[0])


def _row(console: Console, run: Document) -> list[Text]:
    first, last = (fmt.number(run.get(key), "?") for key in ("first_step", "last_step"))
    warnings = _listed(run, "warnings")
    return [
        clean(console, summary.name_of(run), "bold", 120),
        clean(console, run.get("framework") or "", limit=24),
        clean(console, first if first == last else f"{first}-{last}", limit=40),
        _few(console, _listed(run, "metrics")),
        _few(console, _listed(run, "unmapped")),
        Text(f"{len(warnings):,}" if warnings else "", style="yellow"),
    ]


def _few(console: Console, names: Sequence[object]) -> Text:
    """How many there are, and the first ones."""
    return clean(console, f"{len(names):,}: {', '.join(map(str, names[:10]))}", limit=200) if names else Text("")


def _listed(document: Document, key: str) -> list[Any]:
    value = document.get(key)
    if isinstance(value, str) or not isinstance(value, Sequence | Mapping):
        return []
    return list(value)
