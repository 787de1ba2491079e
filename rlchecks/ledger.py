"""The files of a promotion target: the ledger, of which nothing is ever lost, and the pointer.

A line is written whole or not at all, and is on the disk before the pointer changes. A line that cannot be read is
an error, never skipped: it may hold the reason of an override.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rlchecks.errors import InputError

VERSION = 1
"""Version of ledger lines and pointer."""

Entry = dict[str, Any]
"""A line of the ledger; the pointer is a copy of the last one."""

_TYPES: dict[str, type | tuple[type, ...]] = {
    "version": int,
    "at": str,
    "who": str,
    "decision": str,
    "override": (str, type(None)),
    "run_id": str,
    "candidate": str,
    "checkpoint_uri": str,
    "candidate_sha256": str,
    "verdict_id": str,
    "verdict_sha256": str,
}


@contextmanager
def locked(lock: Path) -> Iterator[None]:
    """Hold a lock file; the kernel frees the lock of a process that dies."""
    handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        # Closing alone would leave it to a child that was forked meanwhile.
        fcntl.flock(handle, fcntl.LOCK_UN)
        os.close(handle)


def read_ledger(ledger: Path) -> list[Entry]:
    """Read all lines; none if there is no ledger yet.

    Raises:
        InputError: if a line is damaged, or of a newer version.
    """
    if not ledger.exists():
        return []
    *lines, rest = ledger.read_bytes().split(b"\n")
    entries = [_parse(line, ledger, f"line {number}") for number, line in enumerate(lines, start=1)]
    if rest:
        raise _damaged(ledger, f"line {len(lines) + 1}", "it ends in the middle")
    return entries


def read_pointer(pointer: Path) -> Entry | None:
    """Read the pointer; None if it is absent, or unreadable, since the ledger has all that it says."""
    try:
        return _parse(pointer.read_bytes(), pointer, "content")
    except (FileNotFoundError, InputError):
        return None


def append(ledger: Path, entry: Entry) -> None:
    """Append a line and flush it to the disk; the caller holds the lock.

    Raises:
        OSError: if that fails; the ledger is then as it was.
    """
    line = json.dumps(entry, sort_keys=True).encode() + b"\n"
    handle = os.open(ledger, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
    try:
        size = os.fstat(handle).st_size
        try:
            if os.write(handle, line) != len(line):
                raise OSError("the disk is full")
            os.fsync(handle)
        except OSError:
            os.ftruncate(handle, size)
            raise
    finally:
        os.close(handle)
    _flush_directory(ledger.parent)


def replace(pointer: Path, entry: Entry) -> None:
    """Replace the pointer at once; the caller holds the lock.

    Raises:
        OSError: if that fails; the pointer is then as it was.
    """
    temporary = pointer.with_name(f".{pointer.name}.tmp")
    with temporary.open("w", encoding="utf-8") as file:
        json.dump(entry, file, sort_keys=True, indent=2)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(pointer)
    _flush_directory(pointer.parent)


def _parse(line: bytes, path: Path, where: str) -> Entry:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, where, "it is no JSON") from error
    if not isinstance(entry, dict) or not all(
        key in entry and isinstance(entry[key], kind) for key, kind in _TYPES.items()
    ):
        raise _damaged(path, where, "it is no line that a promotion wrote")
    if entry["version"] != VERSION:
        raise InputError(
            f"version {entry['version']} is not known here", path=path, where=where, todo="upgrade rlchecks"
        )
    return entry


def _damaged(path: Path, where: str, problem: str) -> InputError:
    todo = "restore the file from a backup, or complete the line by hand; nothing was promoted"
    return InputError(f"the ledger is damaged, {problem}", path=path, where=where, todo=todo)


def _flush_directory(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
