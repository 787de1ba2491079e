"""What the terminal views share: clean text, marks, tables without borders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.padding import Padding
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


def paragraph(console: Console, text: Text, indent: int = 2) -> None:
    """Wrapped text, indented as a whole."""
    console.print(Padding(text, (0, 0, 0, indent)))


def hanging(console: Console, text: Text, indent: int = 2) -> None:
    """Wrapped text, all but its first line indented further."""
    first, *rest = text.wrap(console, max(console.width - 2 * indent, 1), overflow="fold")
    paragraph(console, first, indent)
    for more in rest:
        paragraph(console, more, 2 * indent)


def grid(columns: Sequence[str | None], *, rows: Sequence[Sequence[Text]]) -> Padding:
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
    return Padding(table, (0, 0, 0, 2))


def refusals(console: Console, refused: object, word: str = "Refused") -> None:
    """Inputs that were not used, a line for each with the reason."""
    listed = [item for item in refused if isinstance(item, Mapping)] if isinstance(refused, Sequence) else []
    if not listed:
        return
    heading(console, f"{word} ({len(listed)})")
    for item in listed[:50]:
        source, reason = str(item.get("source")), str(item.get("reason")).removeprefix(f"{item.get('source')}: ")
        hanging(console, Text.assemble(clean(console, source, "bold"), "  ", clean(console, reason)))
    if len(listed) > 50:
        paragraph(console, Text(f"and {len(listed) - 50} more"))


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
    told = step is None or f"step {step}" in title_of(item)
    since = () if told else ("  from step ", clean(console, step, limit=20))
    title = Text.assemble(clean(console, title_of(item), "bold"), *since)
    rows = [[Text(f"{severity:<11}", style=SEVERITY_STYLES[severity]), title]]
    if not short:
        rows += [[Text(""), clean(console, item[key])] for key in ("meaning", "advice") if item.get(key)]
    if rest:
        rows.append([Text(""), clean(console, rest, "dim")])
    console.print(grid([None, "fold"], rows=rows))
