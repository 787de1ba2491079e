"""The error about a file that no reader knows: what was looked for, and what was found."""

from __future__ import annotations

import re
from pathlib import Path

from rlchecks.errors import NotARunError
from rlchecks.readers.parquet import is_archived
from rlchecks.readers.registry import readers
from rlchecks.readers.table_files import keys_in, peek
from rlchecks.readers.text import GZIP, UTF16_MARKS, listing, place, shown

# A step as trainers print it: a dictionary with the reward, or verl's line.
_CONSOLE = re.compile(rb"""['"]reward['"]\s*:|\bstep:\d+ - """)


def is_console(head: bytes) -> bool:
    """Whether a file begins like the console output of a training run."""
    return _CONSOLE.search(head) is not None


def explain(path: Path, head: bytes) -> NotARunError:
    """Build the error about a file without a reader."""
    if head.startswith(GZIP):
        return NotARunError("the file is compressed with gzip", path=place(path), todo="decompress it first")
    if head.startswith(UTF16_MARKS):
        return NotARunError("the text is UTF-16, expected UTF-8", path=place(path), todo="save it as UTF-8")
    if is_archived(path, head):
        problem = "a table of an rlchecks archive, which was made from logs and is none itself"
        return NotARunError(problem, path=place(path), todo="name the run by its id instead")
    found = f"no training log that is known: found {_what_it_is(path, head)}"
    todo = None
    if keys_in(peek(path, head)):
        todo = "if it is a table of training steps, say which column is the reward: --column OWN=reward"
    return NotARunError(f"{found}; looked for {_sought()}", path=place(path), todo=todo)


def explain_directory(path: Path) -> NotARunError:
    """Build the error about a directory without any log."""
    return NotARunError(f"no training log in it; looked for {_sought()}", path=place(path))


def _sought() -> str:
    return "; ".join(reader.looks_for for reader in readers())


def _what_it_is(path: Path, head: bytes) -> str:
    if not head:
        return "an empty file"
    keys = keys_in(peek(path, head))
    if keys:
        return f"rows with {listing(keys)}"
    if is_console(head):
        return "console output of a training run"
    text = head.decode("utf-8-sig", "replace")
    if sum(letter.isprintable() or letter.isspace() for letter in text) < 0.9 * len(text):
        return f"binary data that begins with {shown(repr(head[:8]))}"
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return f"text that begins with {shown(line)}" if line else "blank lines"
