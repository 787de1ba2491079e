"""File names for run ids, which are hostile text."""

from __future__ import annotations

import hashlib
import re

LIMIT = 150
"""Longest file stem in bytes: leaves room for a generation and suffixes below the usual limit of 255."""

_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_-.")
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", *(f"com{digit}" for digit in range(10)), *(f"lpt{digit}" for digit in range(10))]
)


def escape(text: str, limit: int = LIMIT) -> str:
    """Return the file stem for a run id (or any other name that comes from outside).

    Two texts get the same stem exactly if they are equal without regard to case, so that a case-insensitive file
    system cannot merge two runs, and a case-sensitive one cannot keep two that differ only in case. Bytes other than
    ``a-z 0-9 _ - .`` become ``%xx``, so ``urllib.parse.unquote`` gives back the case-folded text. A leading ``_``,
    ``-`` or ``.`` is escaped too (Spark and Arrow skip files that begin with ``_`` or ``.``), and so is a dot at the
    end or after a dot, and the first letter of a Windows device name. The empty text becomes ``%``.

    Args:
        text: any text, also empty or with lone surrogates.
        limit: longest stem in bytes, at least 40. A longer one is cut and ends in ``%-`` and 32 hexadecimal digits
            of the SHA-256 of the whole text; ``%-`` occurs in no other stem.

    Returns:
        The stem: ASCII, lower case, never empty.
    """
    raw = text.casefold().encode("utf-8", "surrogatepass")
    if not raw:
        return "%"
    stem = "".join(chr(byte) if _stays(raw, place) else f"%{byte:02x}" for place, byte in enumerate(raw))
    if stem.split(".", 1)[0] in _DEVICES:
        stem = f"%{raw[0]:02x}{stem[1:]}"
    if len(stem) <= limit:
        return stem
    head = re.sub("%[0-9a-f]?$", "", stem[: limit - 34])
    return f"{head}%-{hashlib.sha256(raw).hexdigest()[:32]}"


def _stays(raw: bytes, place: int) -> bool:
    if raw[place] not in _PLAIN or (place == 0 and raw[place] in b"_-."):
        return False
    return raw[place] != ord(".") or (place + 1 < len(raw) and raw[place - 1] != ord("."))
