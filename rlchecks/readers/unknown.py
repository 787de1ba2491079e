"""The error about a file that no reader knows: what was looked for, and what was found."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from rlchecks.errors import NotARunError
from rlchecks.readers.console_failure import last_error
from rlchecks.readers.parquet import is_archived
from rlchecks.readers.registry import readers
from rlchecks.readers.table import no_steps
from rlchecks.readers.table_files import SUFFIXES, keys_in, peek
from rlchecks.readers.text import GZIP, UTF16_MARKS, listing, place, shown
from rlchecks.readers.wanted_files import readers_for

# What only programs that train print: a step, or the names of what trains.
_CONSOLE = re.compile(
    rb"""['"]reward['"]\s*:|\bstep:\d+ - |actor_rollout_ref|\b(?:GRPO|RLOO|PPO)(?:Config|Trainer)\b"""
    rb"""|\((?:TaskRunner|main_task|WorkerDict)[^)\n]{0,80} pid=\d+"""
)
_LONGEST_ERROR = 200
_SUFFIXES = frozenset({".log", ".out", ".txt", ".err"})

# Of more formats that a file might be the names alone are given.
_MOST_DESCRIBED = 3
_MOST_NAMED = 4


def is_console(head: bytes) -> bool:
    """Whether a file begins like the console output of a training run, be there a logged step in it or not."""
    return _CONSOLE.search(head) is not None


def explain(path: Path, head: bytes, *, brief: bool = False, rewards: Collection[str] = ()) -> NotARunError:
    """Build the error about a file without a reader.

    Args:
        path: the file.
        head: its beginning.
        brief: leave out what would have been understood; for one of many files that nobody named.
        rewards: columns that the user declared to be the reward.
    """
    if head.startswith(GZIP):
        return NotARunError("the file is compressed with gzip", path=place(path), todo="decompress it first")
    if head.startswith(UTF16_MARKS):
        return NotARunError("the text is UTF-16, expected UTF-8", path=place(path), todo="save it as UTF-8")
    if is_archived(path, head):
        problem = "a table of an rlchecks archive, which was made from logs and is none itself"
        return NotARunError(problem, path=place(path), todo="name the run by its id instead")
    rows = peek(path, head)
    keys = keys_in(rows)
    if keys and (reason := no_steps(keys)):
        return NotARunError(reason, path=place(path))
    found = f"no training log that is known: found {_what_it_is(path, head)}"
    todo = None
    if nested := [key for row in rows for key, value in row.items() if isinstance(value, dict)]:
        todo = f"the numbers inside of {shown(nested[0])} are not read: write them as columns of their own"
    elif keys and path.suffix.lower() in SUFFIXES and rewards:
        todo = f"it has no column {listing(rewards)}, which was declared to be the reward"
    elif keys and path.suffix.lower() in SUFFIXES:
        todo = "if it is a table of training steps, say which column is the reward: --column OWN=reward"
    sought = "" if brief else f"; looked for {_sought(path.name)}"
    return NotARunError(f"{found}{sought}", path=place(path), todo=todo)


def explain_directory(path: Path) -> NotARunError:
    """Build the error about a directory without any log."""
    return NotARunError(f"no training log in it; looked for {_names()}", path=place(path))


def _sought(name: str) -> str:
    wanted = [reader.looks_for for reader in readers_for(name)]
    return "; ".join(wanted) if 0 < len(wanted) <= _MOST_DESCRIBED else _names()


def _names() -> str:
    names = [reader.name for reader in readers()]
    rest = len(names) - _MOST_NAMED
    return f"the formats {', '.join(names[:_MOST_NAMED])} and {rest} more that docs/formats/README.md lists"


def _what_it_is(path: Path, head: bytes) -> str:
    if not head:
        return "an empty file"
    if path.suffix.lower() == ".ipynb":
        return "a notebook without a logged step in its outputs"
    keys = keys_in(peek(path, head))
    if keys:
        return f"rows with {listing(keys)}"
    text = head.decode("utf-8-sig", "replace")
    legible = sum((letter.isprintable() and letter != "\ufffd") or letter.isspace() for letter in text)
    if legible < 0.9 * len(text):
        return f"binary data that begins with the bytes {head[:8].hex(' ')}"
    if path.suffix.lower() in _SUFFIXES and (error := last_error(path)):
        return f"text without a logged step, whose last error is {shown(error, _LONGEST_ERROR)}"
    if is_console(head):
        return "console output of a training run without a logged step"
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return f"text that begins with {shown(line)}" if line else "blank lines"
