"""Text from log files: hostile until made harmless."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rlchecks.errors import InputError

GZIP = b"\x1f\x8b"
"""What a file that was compressed with gzip begins with."""

UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
"""What UTF-16 text with a byte order mark begins with."""


def clean(text: str) -> str:
    """Make text that Arrow and UTF-8 can hold: lone surrogates become their escapes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text


def shown(text: str, limit: int = 60) -> str:
    """Quote logged text for a sentence: one line, at most ``limit`` characters, nothing that a terminal obeys."""
    return f"'{_harmless(text[:limit])}{'...' if len(text) > limit else ''}'"


def place(path: str | Path) -> str:
    """Write a path for a sentence; the names in it may be hostile too."""
    return _harmless(str(path))


def listing(names: Iterable[str], limit: int = 12) -> str:
    """Join names for a sentence, ``limit`` of them at most."""
    all_names = list(names)
    rest = len(all_names) - limit
    joined = ", ".join(shown(name) for name in all_names[:limit])
    return f"{joined} and {rest} more" if rest > 0 else joined or "none"


def counted(number: int, noun: str) -> str:
    """Write ``1 row`` or ``2 rows``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def decode(data: bytes, path: Path) -> str:
    """Decode UTF-8, with or without a byte order mark.

    Raises:
        InputError: the bytes are compressed, UTF-16 or no UTF-8 at all.
    """
    if data.startswith(GZIP):
        raise InputError("the file is compressed with gzip", path=place(path), todo="decompress it first")
    if _utf16(data):
        raise InputError("the text is UTF-16, expected UTF-8", path=place(path), todo="save it as UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            "the text is no UTF-8", path=place(path), where=f"line {line}", todo="save it as UTF-8"
        ) from error


def readable_part(head: bytes) -> str:
    """Decode the beginning of a file of any encoding to tell what it is; never raises."""
    return head.decode(_utf16(head) or "utf-8-sig", "ignore")


def _utf16(data: bytes) -> str | None:
    if data.startswith(UTF16_MARKS):
        return "utf-16"
    # Without a mark, the zeros beside ASCII letters tell.
    return {0: "utf-16-be", 1: "utf-16-le"}.get(data[:2].find(b"\0"))


def _harmless(text: str) -> str:
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in clean(text))
