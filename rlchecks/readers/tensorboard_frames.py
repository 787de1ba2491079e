"""Where the records of an event file begin: frames, which a checksum of their length gives away.

A record is its length (eight bytes, the lowest first), the masked CRC-32C of these, the data, and the masked CRC-32C
of the data. Source: tensorflow/core/lib/io/record_writer.cc of tensorflow/tensorflow.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from rlchecks.readers.tensorboard_checksums import WIDEST, masked_checksum, masked_checksums

HEADER = 12
"""Bytes of a frame before the data."""

FRAME = 16
"""Bytes of a frame before and after the data."""

# Of the eight bytes of this length and shorter ones all but two are zero.
_SHORT = WIDEST


def short_frames(buffer: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Find every whole frame of a short record in a buffer.

    Returns:
        Where they begin, where they end, and after which of them another than the next one follows.
    """
    # Of the eight bytes of a short length the last six are zero, and one of the others is not.
    zero = buffer == 0
    two = zero[:-1] & zero[1:]
    short = two[2:-4] & two[4:-2] & two[6:] & ~two[:-6]
    at = np.flatnonzero(short[WIDEST:-HEADER]) + WIDEST
    lengths = buffer[at].astype(np.int64) + 256 * buffer[at + 1].astype(np.int64)
    inside = (lengths <= _SHORT) & (at + lengths + FRAME <= len(buffer))
    at, lengths = at[inside], lengths[inside]
    right = integers_at(buffer, at + 8, "<u4") == _short_checks().take(lengths)
    at, lengths = at[right], lengths[right]
    ends = at + lengths + FRAME
    last = np.array([len(at) - 1])
    return at, ends, np.concatenate([np.flatnonzero(ends[:-1] != at[1:]), last])


def next_frame(buffer: NDArray[np.uint8], at: int, short: int | None = None) -> int:
    """Find the next frame of a record that is not longer than the longest.

    Args:
        buffer: the bytes.
        at: where the search begins.
        short: where the next frame of a short record is; None if there is none.

    Returns:
        Where it is; if there is none, where one could begin that needs more bytes.
    """
    end = max(len(buffer) - HEADER + 1, at) if short is None else short
    zero = buffer[at : end + 8] == 0
    count = end - at
    some = ~(zero[:count] & zero[1 : count + 1] & zero[2 : count + 2])
    for byte in range(3, 8):
        some &= zero[byte : count + byte]
    candidates = np.flatnonzero(some) + at
    if not len(candidates):
        return end
    checks = masked_checksums(buffer, candidates, np.full(len(candidates), 8))
    right = candidates[checks == integers_at(buffer, candidates + 8, "<u4")]
    return int(right[0]) if len(right) else end


def length_at(buffer: NDArray[np.uint8], at: int) -> int | None:
    """Read the length at the beginning of a frame; None if its checksum is wrong."""
    length = int.from_bytes(buffer[at : at + 8].tobytes(), "little")
    check = int.from_bytes(buffer[at + 8 : at + HEADER].tobytes(), "little")
    return length if masked_checksum(length.to_bytes(8, "little")) == check else None


@cache
def _short_checks() -> NDArray[np.uint32]:
    """The checksum of each length from 0 to that of a short record."""
    lengths = np.arange(_SHORT + 1, dtype="<u8")
    data = np.concatenate([np.zeros(WIDEST, dtype=np.uint8), lengths.view(np.uint8)])
    return masked_checksums(data, WIDEST + 8 * np.arange(len(lengths)), np.full(len(lengths), 8))


def integers_at(buffer: NDArray[np.uint8], at: NDArray[np.int64], kind: str) -> NDArray[np.uint64]:
    """Read the integers of one kind that stand at these places."""
    size = np.dtype(kind).itemsize
    numbers: NDArray[np.uint64] = sliding_window_view(buffer, size)[at].view(kind)[:, 0]
    return numbers
