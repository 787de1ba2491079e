"""What was found in console text."""

from __future__ import annotations

from dataclasses import dataclass, field

from rlchecks.readers.console_rows import Entry
from rlchecks.readers.rows import Rows
from rlchecks.readers.text import counted


@dataclass
class Scan:
    """What was found.

    Attributes:
        rows: the logged rows in order.
        entries: what else is known about each of them.
        planned: where a number of planned steps was printed, and the number.
        lost: rows that could not be read.
        first_lost: the line of the first of them, from 1.
        cut: rows of which the last value was left out, since it may be cut.
        torn: whether the last row is cut off by the end of the text.
        damaged: rows with bytes that are no UTF-8.
        passed_over: lines too long to be looked at.
    """

    rows: Rows = field(default_factory=Rows)
    entries: list[Entry] = field(default_factory=list)
    planned: list[tuple[int, int]] = field(default_factory=list)
    lost: int = 0
    first_lost: int = 0
    cut: int = 0
    torn: bool = False
    damaged: int = 0
    passed_over: int = 0

    def warnings(self) -> list[str]:
        """Say in sentences what was not read as it was printed."""
        found = []
        if self.lost:
            first = f" (first near line {self.first_lost})" if self.first_lost else ""
            found.append(f"{counted(self.lost, 'row')} cut apart or mixed with other output{first}: left out")
        if self.torn:
            found.append("the last row is cut off: left out")
        if self.cut:
            found.append(f"{counted(self.cut, 'line')} cut off, or without an end: the last value of each left out")
        if self.damaged:
            found.append(f"{counted(self.damaged, 'row')} with bytes that are no UTF-8: these are replaced")
        if self.passed_over:
            found.append(f"{counted(self.passed_over, 'line')} too long to be one: passed over")
        return found
