"""What the terminal views share: clean text, marks, tables without borders."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from rlchecks.report.inert import line
from rlchecks.report.summary import title as title_of

EFFECT_STYLES = {"reject": "bold red", "hold": "bold yellow", "warn": "yellow", "pass": "green"}
SEVERITY_STYLES = {"critical": "bold red", "warning": "yellow", "information": "cyan"}
STATUS_STYLES = {"sick": "bold red", "incomplete": "yellow", "warning": "yellow", "healthy": "green"}


def clean(console: Console, value: object, style: str = "", limit: int = 600) -> Text:
    """Text that prints as it is: built without markup, and in what the console's encoding can show."""
    shown = line(value, limit)
    if console.options.ascii_only:
        shown = shown.replace("…", "...").replace("→", "->").encode("ascii", "backslashreplace").decode("ascii")
    return Text(shown, style=style)


def heading(console: Console, words: str) -> None:
    """A section title with air above it."""
    console.print()
    console.print(Text(words, style="bold"))


class Trimmed:
    """Something without the blanks that Rich fills its lines with."""

    def __init__(self, inner: RenderableType) -> None:
        self._inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render it line by line."""
        for segments in console.render_lines(self._inner, options, pad=False):
            while segments and not segments[-1].text.strip(" "):
                segments.pop()
            if segments:
                segments[-1] = Segment(segments[-1].text.rstrip(" "), segments[-1].style)
            yield from segments
            yield Segment.line()


def paragraph(console: Console, text: Text, indent: int = 2) -> None:
    """Wrapped text, indented as a whole."""
    console.print(Trimmed(Padding(text, (0, 0, 0, indent))))


def hanging(console: Console, text: Text, indent: int = 2) -> None:
    """Wrapped text, all but its first line indented further."""
    first, *rest = text.wrap(console, max(console.width - 2 * indent, 1), overflow="fold")
    paragraph(console, first, indent)
    for more in rest:
        paragraph(console, more, 2 * indent)


def grid(columns: Sequence[str | None], *, rows: Sequence[Sequence[Text]]) -> Trimmed:
    """Aligned columns without borders: ``right`` is flush right, ``fold`` wraps, None is as narrow as it can be."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for kind in columns:
        table.add_column(
            justify="right" if kind == "right" else "left",
            no_wrap=kind != "fold",
            overflow="fold" if kind == "fold" else "ellipsis",
            ratio=1 if kind == "fold" else None,
        )
    for row in rows:
        table.add_row(*row)
    return Trimmed(Padding(table, (0, 0, 0, 2)))


def aligned(rows: Sequence[Sequence[Text]], right: Sequence[bool]) -> list[Text]:
    """Rows of cells as lines, two blanks between the columns, those that are ``right`` flush right."""
    widths = [max(cell.cell_len for cell in column) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        line = Text("")
        for cell, width, flush_right in zip(row, widths, right, strict=True):
            blanks = " " * (width - cell.cell_len)
            line.append("  ").append(blanks if flush_right else "").append_text(cell)
            line.append("" if flush_right else blanks)
        line.rstrip()
        lines.append(line)
    return lines


def unbroken(console: Console, line: Text) -> None:
    """A line that is neither wrapped nor cut, so that ids and paths in it can be copied."""
    console.print(line, soft_wrap=True)


def nothing_found(console: Console, document: Mapping[str, Any]) -> None:
    """Say so where there was nothing to read at all."""
    if any(document.get(key) for key in ("runs", "refused", "skipped")):
        return
    console.print()
    words = "No log of a training run was found there. Name its log, or the folder that the trainer wrote to; "
    paragraph(console, Text(words + "`rlchecks diagnose FILE` says what it makes of one file."))


def refusals(console: Console, refused: object, word: str = "Refused", most: int = 50) -> None:
    """Inputs that were not used: each on a line of its own, below it the reason."""
    listed = [item for item in refused if isinstance(item, Mapping)] if isinstance(refused, Sequence) else []
    if not listed:
        return
    heading(console, f"{word} ({len(listed):,})")
    for item in listed[:most]:
        source, reason = str(item.get("source")), str(item.get("reason"))
        for mark in (": ", ", "):
            reason = reason.removeprefix(source + mark)
        unbroken(console, Text.assemble("  ", clean(console, source, "bold", 4000)))
        paragraph(console, clean(console, reason), 4)
    if len(listed) > most:
        paragraph(console, Text(f"and {len(listed) - most:,} more; --json prints them all", "dim"))


def finding(console: Console, item: Mapping[str, Any], severity: str, *, short: bool = False, rest: str = "") -> None:
    """One finding: severity and title, then what it means, what to do, and the rest.

    Args:
        console: where to print.
        item: the finding.
        severity: its severity.
        short: the title alone.
        rest: a last line, faint.
    """
    step = item.get("onset_step")
    # Most titles name their step themselves.
    told = step is None or re.search(rf"\bsteps? {step}\b", title_of(item))
    since = () if told else (", from step ", clean(console, step, limit=20))
    title = Text.assemble(clean(console, title_of(item), "bold"), *since)
    rows = [[Text(f"{severity:<11}", style=SEVERITY_STYLES[severity]), title]]
    if not short:
        rows += [[Text(""), clean(console, item[key])] for key in ("meaning", "advice") if item.get(key)]
    if rest:
        rows.append([Text(""), clean(console, rest, "dim")])
    console.print(grid([None, "fold"], rows=rows))
