"""Logs that no reader reads, such as compressed ones: a search names them, and passes other files over."""

from __future__ import annotations

import zlib
from pathlib import Path

from rlchecks.readers.files import HEAD_BYTES
from rlchecks.readers.registry import may_read, reader_named, reader_of
from rlchecks.readers.sight import FAULTS, Sight, reason_and_kind
from rlchecks.readers.table import is_named_like_a_log, looks_like_a_log
from rlchecks.readers.table_files import SUFFIXES
from rlchecks.readers.text import GZIP
from rlchecks.readers.unknown import explain, is_console
from rlchecks.readers.wanted_files import readers_for


def is_a_lost_log(path: Path, head: bytes) -> bool:
    """Whether a file without a reader looks like a log all the same."""
    if path.suffix.lower() in SUFFIXES and head.startswith(GZIP):
        return True
    if not head:
        return is_named_like_a_log(path)
    return looks_like_a_log(path, head) or (may_read(reader_named("console"), path.name) and is_console(head))


def look_at_compressed(path: Path, head: bytes) -> Sight:
    """Look at the beginning of what a file was before it was compressed; no more comes out of it than of any other."""
    plain = path.with_suffix("")
    asked = readers_for(plain.name)
    try:
        begun = zlib.decompressobj(wbits=31).decompress(head, HEAD_BYTES)
        is_a_log = reader_of(plain, begun, asked) is not None or (bool(begun) and is_a_lost_log(plain, begun))
    except (zlib.error, *FAULTS):
        return Sight()
    return Sight(None, (), *reason_and_kind(explain(path, head))) if is_a_log else Sight()
