"""What was read before: a small file for each path that was ingested, so that an unchanged log is not read again.

It may be lost at any time: what is missing, damaged, or was written by another release is simply not known. It never
stands for a run; whoever uses it asks :func:`holds` first.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from rlchecks.archive.listing import find
from rlchecks.archive.store import Store
from rlchecks.archive.tables import OWN
from rlchecks.errors import ArchiveError

_FOLDER = "sources"
_HASH = hashlib.sha256
_HEADER = 64


def key_of(facts: Sequence[object]) -> str:
    """Return the name under which something is remembered: a hash of what tells it from everything else."""
    return _HASH(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:32]


def recall(store: Store, key: str) -> Any | None:
    """Return what was remembered, as JSON has it; None if nothing was, or it is not what was written."""
    data = _read(store, key)
    if data[:_HEADER] != _HASH(data[_HEADER:]).hexdigest().encode():
        return None
    return json.loads(data[_HEADER:])


def remember(store: Store, key: str, document: Any) -> None:
    """Remember something, instead of what was remembered under this key; the same again writes nothing.

    Raises:
        ArchiveError: if the archive cannot be written.
    """
    content = json.dumps(document, separators=(",", ":")).encode()
    data = _HASH(content).hexdigest().encode() + content
    if _read(store, key) == data:
        return
    with store.exclusive(key) as writer:
        writer.write({_path(key): pa.py_buffer(data)})


def content_of(store: Store, run_id: str) -> str | None:
    """Return the hash of an archived run's content; None if the archive has no such run."""
    listing = find(store, run_id)
    return None if listing is None else listing.content_sha256


def holds(store: Store, run_id: str, content: str) -> bool:
    """Whether the archive has a run with this content and its signals, every file of them as it was written."""
    try:
        listing = find(store, run_id)
        if listing is None or listing.content_sha256 != content or listing.file("signals") is None:
            return False
        files = [file for file in listing.tables if file.name in (*OWN, "signals")]
        return all(_HASH(store.read(listing.path(file))).hexdigest() == file.sha256 for file in files)
    except (FileNotFoundError, ArchiveError):
        return False


def _read(store: Store, key: str) -> bytes:
    try:
        return bytes(store.read(_path(key)).to_pybytes())
    except (FileNotFoundError, ArchiveError):
        return b""


def _path(key: str) -> str:
    # No reader wants files of this name.
    return f"{_FOLDER}/{key}.memory"
