"""Logs of records in the framing of LevelDB's log, as Weights & Biases and SwanLab write them, each with a header.

After seven bytes of header (four letters, a magic number of 16 bits, a version) the file is one of blocks of 32 KiB,
the header being part of the first. A record is one chunk (FULL) or several (FIRST, MIDDLE..., LAST); no chunk crosses
the end of a block, and a rest of fewer than seven bytes is padding. A chunk is: checksum of 32 bits, length of 16 bits,
type of 8 bits, all little-endian, then its bytes. The checksum is the CRC-32 of zlib over the type and the bytes, not
LevelDB's own. Source: wandb/wandb wandb/sdk/internal/datastore.py and core/pkg/leveldb/record.go; SwanHubX/SwanLab
swanlab/sdk/internal/core_python/store/__init__.py, whose files differ in the header only.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from rlchecks.errors import InputError
from rlchecks.readers.stream import MAX_LINE, Stream
from rlchecks.readers.text import counted, place, shown
from rlchecks.run import InputFile

BLOCK = 32 * 1024
"""Size of a block in bytes."""

MAX_RECORD = MAX_LINE
"""Longest record, in bytes, that is taken; a row of 20,000 keys is shorter than 2 MiB."""

_HEADER = struct.Struct("<4sHB")
_CHUNK = struct.Struct("<IHB")
_FULL, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4
# The rest of a block that fails its checksum or is no chunk at all, and one that ends too early or holds zeros only.
_DAMAGED, _CUT = -1, -2
_SEED = {kind: zlib.crc32(bytes([kind])) for kind in (_FULL, _FIRST, _MIDDLE, _LAST)}
# Blocks read at a time.
_READ = 32 * BLOCK


class Format(NamedTuple):
    """The header of a kind of files: whose they are (for people), letters, magic number, the versions there are."""

    whose: str
    letters: bytes
    magic: int
    versions: Collection[int]


class _Chunk(NamedTuple):
    """A chunk or what stands in its place: where in the file, how many bytes with its header, type, bytes."""

    at: int
    size: int
    kind: int
    data: bytes


class RecordLog:
    """A log of records, read once from front to back.

    Iterate over :meth:`records` once and to its end; then :attr:`source` and :meth:`warnings` tell about the reading.
    What fails its checksum is left out, together with the rest of its block.

    Attributes:
        path: the file.
        version: of the format, known from the first record on.
        pieces: of how many chunks the last record was made.
    """

    def __init__(self, path: Path, form: Format) -> None:
        self.path = path
        self.version = -1
        self.pieces = 0
        self._form = form
        self._stream = Stream(path)
        self._places = self._first = self._lost = 0
        self._cut = 0
        self._long = 0

    @property
    def source(self) -> InputFile:
        """The record of the reading."""
        return self._stream.source

    def warnings(self) -> tuple[str, ...]:
        """Say in sentences what could not be read."""
        said = []
        if self._lost:
            where = f"{counted(self._places, 'place')} (first: byte {self._first:,})"
            said.append(f"the file is damaged in {where}: {self._lost:,} bytes are lost, and the rows in them")
        if self._long:
            said.append(f"{counted(self._long, 'record')} of more than {MAX_RECORD:,} bytes left out")
        if self._cut:
            end = f"{counted(self._cut, 'byte')} at its end left out"
            said.append(f"the file ends within a record, as that of a run that was killed or still goes on: {end}")
        return tuple(said)

    def records(self) -> Iterator[bytes]:
        """Yield the records that are whole.

        Raises:
            InputError: the file cannot be read, is empty, or has another header.
        """
        parts: list[bytes] = []
        # Bytes of the record that was begun, and of what may turn out to be the end of the file.
        begun = cut = 0
        # Chunks after damage belong to it until a record begins.
        lost = False
        for at, size, kind, data in self._chunks():
            if kind == _CUT:
                cut += size
                continue
            if cut:
                # Zeros that more follows after.
                self._note(at - cut, cut + begun, new=not lost)
                parts, begun, cut, lost = [], 0, 0, True
            if kind in (_FULL, _FIRST):
                if begun:
                    self._note(at - begun, begun, new=True)
                parts, begun, lost = [], 0, False
            elif kind == _DAMAGED or not begun:
                self._note(at - begun, begun + size, new=not lost)
                parts, begun, lost = [], 0, True
                continue
            begun += size
            if begun <= MAX_RECORD:
                parts.append(data)
            if kind in (_FULL, _LAST):
                if begun <= MAX_RECORD:
                    self.pieces = len(parts)
                    yield parts[0] if len(parts) == 1 else b"".join(parts)
                self._long += begun > MAX_RECORD
                parts, begun = [], 0
        self._cut = begun + cut

    def _note(self, at: int, size: int, *, new: bool) -> None:
        if new:
            self._first = self._first if self._places else at
            self._places += 1
        self._lost += size

    def _chunks(self) -> Iterator[_Chunk]:
        at = 0
        for block in self._blocks():
            offset = 0
            if at == 0:
                self._check_header(block)
                offset = _HEADER.size
            while (left := len(block) - offset) >= _CHUNK.size:
                checksum, length, kind = _CHUNK.unpack_from(block, offset)
                size = _CHUNK.size + length
                data = block[offset + _CHUNK.size : offset + size]
                if kind not in _SEED or size > left or zlib.crc32(data, _SEED[kind]) != checksum:
                    goes_on = kind in _SEED and left < size <= BLOCK - offset
                    yield _Chunk(at + offset, left, _CUT if goes_on or not any(block[offset:]) else _DAMAGED, b"")
                    break
                yield _Chunk(at + offset, size, kind, data)
                offset += size
            else:
                # In a whole block this is padding.
                if left and BLOCK - offset >= _CHUNK.size:
                    yield _Chunk(at + offset, left, _CUT, b"")
            at += len(block)

    def _blocks(self) -> Iterator[bytes]:
        rest = b""
        for read in self._stream.blocks(_READ):
            data = rest + read if rest else read
            whole = len(data) - len(data) % BLOCK
            yield from (data[start : start + BLOCK] for start in range(0, whole, BLOCK))
            # Not only at the end: a log may grow while it is read.
            rest = data[whole:]
        if rest:
            yield rest

    def _check_header(self, block: bytes) -> None:
        whose, letters, magic, versions = self._form
        if len(block) < _HEADER.size:
            raise InputError(f"cut off within the header of a {whose} log", path=place(self.path))
        found = _HEADER.unpack_from(block)
        if found[:2] != (letters, magic):
            begins = shown(repr(block[: _HEADER.size]))
            raise InputError(f"no header of a {whose} log: begins with {begins}", path=place(self.path))
        self.version = found[2]
        if self.version not in versions:
            known = " and ".join(map(str, versions))
            problem = f"version {self.version} of the {whose} log, of which {known} can be read"
            raise InputError(problem, path=place(self.path))
