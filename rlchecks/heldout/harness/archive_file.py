"""A ZIP archive in memory, read member by member within bounds; deflate and Zstandard.

Python's own reader knows Zstandard (method 93 of the ZIP specification, APPNOTE 6.3.8) from version 3.14 on, so the
members are taken from the archive's bytes here. Names of members are only compared, never used as paths.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import Path

from rlchecks.errors import InputError

MAX_MEMBER = 1 << 28
"""Largest member, in bytes when unpacked."""

MAX_TOTAL = 1 << 32
"""Most that is unpacked from one archive, in bytes."""

_STORED, _DEFLATED, _ZSTANDARD = 0, 8, 93
_ENCRYPTED = 0x1
_LOCAL = struct.Struct("<4s22xHH")  # signature, lengths of name and extra field; APPNOTE 4.3.7


class ArchiveFile:
    """A ZIP archive.

    Args:
        data: its bytes.
        path: its name, for errors.

    Raises:
        InputError: it is torn or no ZIP archive.
    """

    def __init__(self, data: bytes, path: Path) -> None:
        self._data = data
        self._path = path
        self._unpacked = 0
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                entries = archive.infolist()
        except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error, OSError, EOFError) as error:
            problem = f"the ZIP archive is not complete ({error})"
            todo = "wait until the evaluation has ended, or get the whole file"
            raise InputError(problem, path=path, todo=todo) from None
        # A member that was written again replaces the earlier one.
        self._entries = {entry.filename: entry for entry in entries}
        self.replaced = len(entries) - len(self._entries)

    @property
    def names(self) -> list[str]:
        """Names of the members in the order of writing."""
        return list(self._entries)

    def read(self, name: str) -> bytes:
        """Unpack a member and verify its checksum.

        Raises:
            InputError: it is damaged, encrypted, packed in an unknown way, or too large.
        """
        entry = self._entries[name]
        if entry.flag_bits & _ENCRYPTED:
            raise self._error(name, "the member is encrypted")
        self._unpacked += entry.file_size
        if entry.file_size > MAX_MEMBER or self._unpacked > MAX_TOTAL:
            raise self._error(name, f"unpacked, the archive is larger than is read ({self._unpacked:,} bytes so far)")
        packed = self._packed(entry)
        try:
            data = _unpack(packed, entry.compress_type, entry.file_size)
        except (zlib.error, OSError, ValueError, MemoryError) as error:
            raise self._error(name, f"the member cannot be unpacked ({error})") from None
        if data is None:
            raise self._error(name, f"the compression method {entry.compress_type} is not known")
        if len(data) != entry.file_size or zlib.crc32(data) != entry.CRC:
            raise self._error(name, "the member is damaged (its checksum does not match)")
        return data

    def _packed(self, entry: zipfile.ZipInfo) -> bytes:
        start = entry.header_offset
        header = self._data[start : start + 30]
        if start < 0 or len(header) < 30 or header[:4] != b"PK\x03\x04":
            raise self._error(entry.filename, "the member's header is damaged")
        _, name, extra = _LOCAL.unpack(header)
        start += 30 + name + extra
        packed = self._data[start : start + entry.compress_size]
        if len(packed) != entry.compress_size:
            raise self._error(entry.filename, "the member is torn")
        return packed

    def _error(self, name: str, problem: str) -> InputError:
        return InputError(
            problem, path=self._path, where=ascii(name)[:80], todo="get the whole file, or write it again"
        )


def _unpack(packed: bytes, method: int, size: int) -> bytes | None:
    """The bytes, at most one more than there should be; None for an unknown method."""
    if method == _STORED:
        return packed
    if method == _DEFLATED:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, size + 1)
    if method == _ZSTANDARD:
        import pyarrow as pa

        # Reads all frames of a member, one after the other.
        with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as stream:
            return bytes(stream.read(size + 1))
    return None
