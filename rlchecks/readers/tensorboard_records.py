"""The records of an event file, checked; where it is damaged, reading goes on behind that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlchecks.errors import InputError
from rlchecks.readers.stream import Stream
from rlchecks.readers.tensorboard_checksums import WIDEST, masked_checksum, masked_checksums
from rlchecks.readers.tensorboard_frames import FRAME, HEADER, integers_at, length_at, next_frame, short_frames
from rlchecks.readers.text import counted, place

MAX_RECORD = 16 << 20
"""Longest record, in bytes, that is looked into; events that hold scalars only are shorter than 1 KiB."""

MOST_GAPS = 5_000
"""Most places without a frame in a file that is read; each takes a search for the next frame."""

_VERSION = b"brain.Event:"


class Records(NamedTuple):
    """Records whose checksums are right, in the order of the file.

    Attributes:
        buffer: bytes of the file.
        starts: where in it the data of each record begin.
        lengths: how many bytes they have.
    """

    buffer: NDArray[np.uint8]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]


@dataclass
class Condition:
    """What was wrong with a file.

    Attributes:
        records: records that were read.
        wrong: records whose checksum is wrong.
        lost: bytes that are in no record, since the frame of one is damaged.
        gaps: places where there are such bytes.
        longer: records above :data:`MAX_RECORD`.
        cut: bytes of a last record that is not whole.
    """

    records: int = 0
    wrong: int = 0
    lost: int = 0
    gaps: int = 0
    longer: int = 0
    cut: int = 0

    def tell(self) -> list[str]:
        """Say it in sentences."""
        sentences = []
        if self.wrong or self.lost:
            parts = [f"{counted(self.wrong, 'record')} with a wrong checksum"] if self.wrong else []
            parts += [f"{counted(self.lost, 'byte')} that are no records"] if self.lost else []
            sentences.append(f"damaged: {' and '.join(parts)} left out, {counted(self.records, 'record')} read")
        if self.longer:
            sentences.append(f"{counted(self.longer, 'record')} of more than {MAX_RECORD:,} bytes passed over")
        if self.cut:
            sentences.append("the last record is not whole, as while a log is being written: left out")
        return sentences


def read_records(stream: Stream, condition: Condition) -> Iterator[Records]:
    """Yield the good records of a file, some thousands at a time.

    After damage reading goes on at the next frame whose length has the right checksum, so that what is yielded was
    written as it is.

    Args:
        stream: the file; is read to its end.
        condition: gets what was wrong.

    Raises:
        InputError: as :meth:`rlchecks.readers.stream.Stream.blocks`, or it is damaged throughout.
    """
    held: list[bytes] = []
    size = passing = 0
    needed = HEADER
    astray = False
    for block in stream.blocks():
        if passing >= len(block):
            passing -= len(block)
            continue
        held.append(block[passing:])
        size += len(block) - passing
        passing = 0
        if size < needed:
            continue
        buffer = np.frombuffer(bytes(WIDEST) + b"".join(held), dtype=np.uint8)
        walk = _walk(buffer, astray, condition)
        if condition.gaps > MOST_GAPS:
            raise InputError(f"damaged in more than {MOST_GAPS:,} places", path=place(stream.path))
        yield from _checked(buffer, walk.frames, condition)
        rest = buffer[walk.at :].tobytes()
        passing = max(walk.at - len(buffer), 0)
        held, size, needed, astray = [rest], len(rest), walk.needed, walk.astray
    if astray:
        condition.lost += size
    else:
        # A record that was to be passed over and ends after the file is cut off too.
        condition.cut += size or passing


def is_event_file(head: bytes) -> bool:
    """Whether a file begins as event files do: with a record that says ``brain.Event:`` and a version."""
    length = int.from_bytes(head[:8], "little")
    return head[8:HEADER] == masked_checksum(head[:8]).to_bytes(4, "little") and _VERSION in head[: HEADER + length]


class _Walk(NamedTuple):
    """The frames of a buffer, where the next begins, how many bytes that needs, whether its place is unknown."""

    frames: NDArray[np.int64]
    at: int
    needed: int
    astray: bool


def _walk(buffer: NDArray[np.uint8], astray: bool, condition: Condition) -> _Walk:
    """Follow the records from the front of the buffer."""
    frames, ends, breaks = short_frames(buffer)
    found: list[NDArray[np.int64]] = []
    at = WIDEST
    needed = HEADER
    while at + HEADER <= len(buffer):
        if astray:
            following = frames[np.searchsorted(frames, at) :][:1].tolist()
            before, at = at, next_frame(buffer, at, *following)
            condition.lost += at - before
            astray = at + HEADER > len(buffer)
            continue
        first = int(np.searchsorted(frames, at))
        if first < len(frames) and frames[first] == at:
            # As many records as follow each other without a break.
            last = int(breaks[np.searchsorted(breaks, first)])
            found.append(frames[first : last + 1])
            at = int(ends[last])
            continue
        length = length_at(buffer, at)
        if length is None:
            astray, condition.gaps = True, condition.gaps + 1
            # The frame itself is the first thing that is lost.
            at, condition.lost = at + 1, condition.lost + 1
            continue
        needed = FRAME + length
        if length > MAX_RECORD:
            condition.longer += 1
            at += needed
        elif at + needed > len(buffer):
            break
        else:
            found.append(np.array([at]))
            at += needed
        needed = HEADER
    return _Walk(np.concatenate(found) if found else np.empty(0, dtype=np.int64), at, needed, astray)


def _checked(buffer: NDArray[np.uint8], frames: NDArray[np.int64], condition: Condition) -> Iterator[Records]:
    if not len(frames):
        return
    lengths = integers_at(buffer, frames, "<u8").astype(np.int64)
    starts = frames + HEADER
    right = masked_checksums(buffer, starts, lengths) == integers_at(buffer, starts + lengths, "<u4")
    condition.records += int(right.sum())
    condition.wrong += int((~right).sum())
    yield Records(buffer, starts[right], lengths[right])
