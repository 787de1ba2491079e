"""Whether SQLite read all of a write-ahead log: at the first damaged frame it stops and says nothing.

A header of 32 bytes, then frames of 24 bytes and a page. After a checkpoint the log is written anew from its
beginning, with other salts, so that frames of the time before may follow. Format: sqlite.org/fileformat2.html, 4.
"""

from __future__ import annotations

import struct
from pathlib import Path

_HEADER = struct.Struct(">IIIIIIII")
_FRAME = struct.Struct(">IIIIII")
_SUMMED = 24
_MAGIC = {0x377F0682: "<", 0x377F0683: ">"}
_MODULUS = 1 << 32


def is_cut_short(log: Path, used: int) -> bool:
    """Whether a log holds committed transactions beyond the frames that SQLite used.

    An unfinished transaction at its end, as a killed process leaves it, is none.

    Args:
        log: the log.
        used: number of frames that SQLite found to be whole and committed.
    """
    with open(log, "rb") as file:
        start = file.read(_HEADER.size)
        if len(start) < _HEADER.size:
            return True
        magic, _, page, _, *salts, first, second = _HEADER.unpack(start)
        if magic not in _MAGIC or (first, second) != _checksum(start[:_SUMMED], _MAGIC[magic]):
            return True
        at = _HEADER.size + used * (_FRAME.size + page)
        file.seek(at)
        while len(frame := file.read(_FRAME.size)) == _FRAME.size:
            _, committed, *own, _, _ = _FRAME.unpack(frame)
            if len(file.read(page)) == page and committed and own == salts:
                return True
    return False


def _checksum(data: bytes, order: str) -> tuple[int, int]:
    first = second = 0
    for one, other in struct.iter_unpack(f"{order}II", data):
        first = (first + one + second) % _MODULUS
        second = (second + other + first) % _MODULUS
    return first, second
