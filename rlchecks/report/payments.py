"""What the grader pays for, ready for the page: numbers in words, every text made harmless."""

from __future__ import annotations

from typing import NamedTuple

from rlchecks.report import format as fmt
from rlchecks.report import summary
from rlchecks.report.inert import block, line
from rlchecks.report.summary import Document, mapping

_MOST_EXAMPLES = 3
_LONGEST = 800


class Row(NamedTuple):
    """A line of the table."""

    function: str
    unit: str
    amount: str
    between: str
    p: str
    prompts: str
    clear: bool


class Shown(NamedTuple):
    """Two answers to one prompt that show what is paid for."""

    claim: str
    step: str
    prompt: str
    more: str
    more_score: str
    less: str
    less_score: str


def rows(document: Document) -> list[Row]:
    """The table; features that vary in no group are left out, since there is nothing to see."""
    return [
        Row(
            line(item.get("function"), 80),
            line(item.get("unit"), 80),
            fmt.signed(item.get("amount")),
            f"{fmt.signed(item.get('lower'))} to {fmt.signed(item.get('upper'))}",
            _p(item.get("p")),
            fmt.number(item.get("prompts")),
            item.get("clear") is True,
        )
        for item in summary.items(document, "grader_pays")
        if fmt.finite(item.get("amount")) is not None
    ]


def examples(document: Document) -> list[Shown]:
    """The answers that show the clearest payments."""
    clear = [
        item for item in summary.items(document, "grader_pays") if item.get("clear") is True and item.get("example")
    ]
    return [_shown(item, mapping(item.get("example"))) for item in clear[:_MOST_EXAMPLES]]


def _shown(item: Document, example: Document) -> Shown:
    return Shown(
        f"{line(item.get('function'), 80)}: {fmt.signed(item.get('amount'))} for {line(item.get('unit'), 80)}",
        fmt.number(example.get("step")),
        block(example.get("prompt"), _LONGEST),
        block(example.get("more"), _LONGEST),
        fmt.number(example.get("more_score")),
        block(example.get("less"), _LONGEST),
        fmt.number(example.get("less_score")),
    )


def _p(value: object) -> str:
    p = fmt.finite(value)
    return fmt.UNDEFINED if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"
