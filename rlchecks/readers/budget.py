"""How much of a log is kept in memory, and what is refused because it is more."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rlchecks.errors import InputError
from rlchecks.readers.text import place

MAX_VALUES = 100_000_000
"""Most values of a log, each row counted as one more: about four million rows of 25 keys."""

MAX_TEXT = 1 << 30
"""Most memory for what is no number, in bytes."""

MAX_KEYS = 20_000
"""Most different keys of a log; with statistics of every layer logs have some thousands."""


@dataclass
class Budget:
    """What is kept of a log so far.

    Attributes:
        path: the log, for the error.
        values: how many values and rows.
        text: the memory of what is no number, in bytes.
        keys: how many different keys.
    """

    path: Path | None = None
    values: int = 0
    text: int = 0
    keys: int = 0

    def check(self) -> None:
        """Make sure that it fits.

        Raises:
            InputError: it does not.
        """
        for number, most, what in (
            (self.keys, MAX_KEYS, "different keys, more than the {:,} of any log"),
            (self.values, MAX_VALUES, "values, more than the {:,} that are read"),
            (self.text, MAX_TEXT, "bytes of texts, more than the {:,} that are read"),
        ):
            if number > most:
                path = None if self.path is None else place(self.path)
                raise InputError(f"{number:,} {what.format(most)}", path=path)
