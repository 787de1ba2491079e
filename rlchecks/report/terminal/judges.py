"""Several judges on the same answers, in the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from rlchecks.report import format as fmt
from rlchecks.report import judges as shown
from rlchecks.report.summary import items
from rlchecks.report.terminal.parts import clean, grid, heading, paragraph

_MOST_DISPUTED = 3


def judges(console: Console, document: Mapping[str, Any]) -> None:
    """Print the table of ``rlchecks judges``.

    Args:
        console: where to print.
        document: of :func:`rlchecks.judging.compare_judges`.
    """
    heading(console, "Judges")
    rows = [_heads("judge", "role", "scored", "unscored", "mean")]
    for item in items(document, "judges"):
        numbers = [clean(console, fmt.number(item.get(key))) for key in ("scored", "unscored", "mean")]
        rows.append([clean(console, item.get("name"), limit=80), clean(console, item.get("role"), "dim"), *numbers])
    console.print(grid(["fold", None, "right", "right", "right"], rows=rows))
    _agreement(console, document)
    _verdicts(console, document)
    _corrected(console, document)
    disputed = shown.disputed(document, _MOST_DISPUTED)
    if disputed:
        heading(console, "Where they differ most")
    for answer in disputed:
        paragraph(console, clean(console, f"{answer.question}   {answer.scores}", "bold"))
        for text, style in ((answer.prompt, "dim"), (answer.answer, "")):
            if text:
                paragraph(console, clean(console, text, style, 200), 4)
    for remark in document.get("warnings") or ():
        paragraph(console, clean(console, remark, "dim"), 0)


def _agreement(console: Console, document: Mapping[str, Any]) -> None:
    heading(console, "Agreement")
    found = shown.pairs(document)
    rows = [_heads("pair", "answers", "equal", "closeness", "kappa", "alpha")]
    for pair in found:
        texts = (pair.pair, pair.answers, pair.equal, pair.closeness, pair.kappa, pair.alpha)
        rows.append([clean(console, text) for text in texts])
    console.print(grid(["fold", "right", "right", "right", "right", "right"], rows=rows))
    for pair in found:
        if pair.bounds:
            text = f"{pair.pair}: a closeness of {pair.bounds}, whatever the unscored would have been"
            paragraph(console, clean(console, text, "dim"))
        if pair.reason:
            paragraph(console, clean(console, f"{pair.pair}: {pair.reason}", "dim"))
    alpha = fmt.finite(document.get("alpha_interval"))
    if alpha is not None and len(items(document, "judges")) > 2:
        paragraph(console, Text(f"Krippendorff's alpha over all of them: {alpha:.3f}", "dim"))


def _verdicts(console: Console, document: Mapping[str, Any]) -> None:
    found = items(document, "verdicts")
    if not found:
        return
    sides = " minus ".join(fmt.anything(document.get(key), 80) for key in ("candidate", "baseline"))
    console.print()
    console.print(clean(console, f"Each judge's difference, {sides}", "bold"))
    rows = []
    for item in found:
        difference = fmt.difference(item)
        why = clean(console, item.get("reason") or "", "dim")
        rows.append([clean(console, item.get("judge"), limit=80), clean(console, difference), why])
    console.print(grid(["fold", None, None], rows=rows))


def _corrected(console: Console, document: Mapping[str, Any]) -> None:
    found = shown.corrected(document)
    if not found:
        return
    heading(console, "What people would say, by their labels and the judge")
    for one in found:
        text = (
            f"{one.judge}, {one.of}: {one.estimate} ({one.method}; {one.labelled}); on the labelled ones people "
            f"{one.people}, the judge {one.beside}; the judge on all {one.alone}"
        )
        paragraph(console, clean(console, f"{text}: {one.reason}" if one.reason else text))
    paragraph(console, Text(shown.EACH_BY_ITSELF, "dim"))


def _heads(*words: str) -> list[Text]:
    return [Text(word, style="dim") for word in words]
