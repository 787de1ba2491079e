"""The verdict in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from rich.console import Console
from rich.text import Text

from rlchecks.report import breakdown, candidates, checkpoints, comparison, identities, overlap, summary
from rlchecks.report import format as fmt
from rlchecks.report.summary import Document
from rlchecks.report.terminal.parts import EFFECT_STYLES, clean, finding, grid, heading, paragraph

_MOST_CATEGORIES = 3

_STYLES = {"PROMOTE": "bold white on green", "HOLD": "bold black on yellow", "REJECT": "bold white on red"}


def verdict(console: Console, document: Mapping[str, Any], paths: Mapping[str, str | PathLike[str]]) -> None:
    """Print a verdict: decision, reason, what to do, held-out differences, reasons, findings, where it is written.

    Args:
        console: where to print.
        document: the ``verdict.json`` document.
        paths: what each file is to its path; paths are printed unbroken, so that they can be copied.
    """
    decided = summary.decision(document)
    names = (summary.name_of(document.get(key)) for key in ("run", "candidate", "baseline"))
    run, candidate, baseline = (clean(console, name) for name in names)
    run.stylize("bold")
    console.print()
    console.print(
        Text.assemble(
            (f" {decided} ", _STYLES.get(decided, "bold black on yellow")),
            " ",
            run,
            ", ",
            candidate,
            " against ",
            baseline,
        )
    )
    override = summary.mapping(document.get("override"))
    if override:
        who = fmt.anything(override.get("who") or "somebody", 120)
        paragraph(
            console,
            clean(console, f"Overridden by {who}: {fmt.anything(override.get('reason'), 400)}", "bold magenta"),
            0,
        )
    console.print()
    console.print(clean(console, summary.headline(document)))
    advice = [[Text("-"), clean(console, text)] for text in summary.todo(document)]
    console.print(grid([None, "fold"], rows=advice))
    _held_out(console, document)
    _identities(console, document)
    _reasons(console, summary.items(document, "reasons"))
    found = summary.findings(document)
    if found:
        heading(console, "Findings")
    for item in found:
        finding(console, item, summary.severity(item), short=summary.severity(item) == "information")
    missing = document.get("not_measured")
    if missing:
        console.print()
        console.print(clean(console, f"Not measured: {fmt.anything(missing)}", "dim"))
    for remark in summary.remarks(document):
        console.print(clean(console, remark, "dim"))
    if paths:
        console.print()
    for kind, path in paths.items():
        console.print(Text.assemble((f"{kind:<9}", "dim"), clean(console, path, limit=4000)), soft_wrap=True)


def _held_out(console: Console, document: Document) -> None:
    parts = comparison.parts(document)
    if not parts:
        return
    heading(console, "Held-out difference")
    rows = []
    for part in parts:
        difference = fmt.interval(part.difference, part.lower, part.upper)
        style = "bold" if part.role == "decisive" else ""
        rows.append(
            [
                clean(console, ", ".join(filter(None, (part.judge, part.decoding))), style),
                Text(difference, style=style),
                clean(console, fmt.number(part.n_questions)),
                clean(console, comparison.ROLES.get(part.role, part.role), "dim"),
            ]
        )
    console.print(grid(["fold", None, "right", None], rows=rows))
    accepted = summary.margin(document)
    if accepted is not None:
        words = f"margin {accepted:g}: a loss of up to that fraction of the judge's range is accepted"
        paragraph(console, Text(words, "dim"))
    looks = summary.mapping(document.get("comparison")).get("looks")
    if isinstance(looks, int) and looks > 1:
        paragraph(
            console, Text(f"{looks} candidates were compared on these questions: the intervals are wider for it", "dim")
        )
    for text in (candidates.choice(document), *_lost_categories(document)):
        if text:
            paragraph(console, clean(console, text))
    left_out = overlap.sentence(document)
    if left_out:
        paragraph(console, clean(console, left_out))
    best = checkpoints.sentence(document)
    if best:
        paragraph(console, clean(console, best))


def _identities(console: Console, document: Document) -> None:
    known = identities.rows(document)
    if not known:
        return
    heading(console, "Judge and grader")
    rows = [[Text(one.role, style="dim"), clean(console, one.name), clean(console, one.words, "dim")] for one in known]
    console.print(grid([None, "fold", "fold"], rows=rows))


def _lost_categories(document: Document) -> list[str]:
    lost = [one for one in breakdown.categories(document) if one.lost]
    return [f"Confirmed loss in the category {one.name}: {one.difference}" for one in lost[:_MOST_CATEGORIES]]


def _reasons(console: Console, reasons: Sequence[Document]) -> None:
    heading(console, "Reasons")
    rows = []
    for reason in summary.failing(reasons):
        effect, account = summary.effect(reason), summary.account(reason)
        title = Text.assemble(
            clean(console, summary.title(reason)), "  ", clean(console, reason.get("code"), "dim", 80)
        )
        rows.append([Text(f"{effect:<6}", style=EFFECT_STYLES[effect]), title])
        if account:
            rows.append([Text(""), clean(console, account, "dim")])
    rest = len(summary.harmless(reasons))
    if rest:
        words = f"{fmt.count(rest, 'reason')} in favour, or not applicable"
        rows.append([Text("pass", style=EFFECT_STYLES["pass"]), Text(words)])
    console.print(grid([None, "fold"], rows=rows or [[Text("none"), Text("")]]))
