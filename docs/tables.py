"""Write the reference pages that are tables: signals, evidence columns, finding codes.

python docs/tables.py rewrites them; a test checks that they are current.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from rlchecks import evidence
from rlchecks.signals import SIGNALS
from rlchecks.suites import PROMOTION_FILE, SHIPPED

HERE = Path(__file__).parent


def signals() -> str:
    """The page of the signals, which suites check by name."""
    rows = [(f"`{one.name}`", one.unit or "-", one.kind, one.formula) for one in SIGNALS.values()]
    words = (
        "*Early* and *late* are the first and last fifth of the rows that have the metric. *Blocks*: the run cut into "
        "40 stretches of equal length, a mean each (KL: a median). *Scale*: the reward's range. A signal that cannot "
        "be computed is null, never 0. Health suites (`training_health*.json`) name these columns."
    )
    return page("Signals", words, ("signal", "unit", "type", "formula"), rows)


def columns() -> str:
    """The page of the evidence columns, with what the shipped promotion suite makes of them."""
    suite = json.loads((SHIPPED / PROMOTION_FILE).read_text(encoding="utf-8"))
    rows = []
    for column in evidence.COLUMNS.values():
        checks = [one for one in suite["expectations"] if one["kwargs"]["column"] == column.name]
        for check in checks or [None]:
            if check is None:
                rows.append((f"`{column.name}`", str(column.kind), "-", "-", "-", column.meaning))
                continue
            meta = check["meta"]
            code = f"`{meta.get('code', 'health_' + column.name)}`"
            reason = f"{column.meaning}. {meta['why']}"
            rows.append((f"`{column.name}`", str(column.kind), meta["on_failure"], meta["on_missing"], code, reason))
    words = (
        "The promotion suite (`promotion.json`) decides over one row with these columns. A column without effects is "
        "for the report, or stands ready for a suite of your own. A finding of warning or worse that no expectation "
        "names sets `unnamed_finding`."
    )
    return page("Evidence", words, ("column", "type", "on failure", "on missing", "reason code", "reason"), rows)


def page(title: str, words: str, head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A page with a table in Markdown."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    return "\n".join([f"# {title}", "", words, "", "Written by `docs/tables.py`.", "", *lines, ""])


PAGES = {"signals.md": signals, "evidence.md": columns}

if __name__ == "__main__":
    for name, write in PAGES.items():
        (HERE / name).write_text(write(), encoding="utf-8")
