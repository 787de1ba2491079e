"""CRC-32C, the checksum of TensorBoard's records, for many pieces of a buffer at once.

The checksum is linear: that of a piece is the exclusive or of what each of its bytes contributes, and a contribution
depends only on the byte and on how many bytes follow. So pieces are cut into lanes of 64 bytes, each column of lanes
is looked up in one table, and the lanes of a piece are joined pairwise. Source of the definition, the polynomial and
the mask: tensorflow/core/lib/hash/crc32c.h and lib/io/record_writer.cc of tensorflow/tensorflow.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

_POLYNOMIAL = 0x82F63B78
_MASK_DELTA = 0xA282EAD8
_ONES = 0xFFFFFFFF
_LANE = 64

WIDEST = 4096
"""Longest piece, in bytes, that is summed together with others; a longer one is summed by itself."""


def masked_checksums(
    buffer: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> NDArray[np.uint32]:
    """Return the masked CRC-32C of each piece of a buffer.

    Args:
        buffer: bytes; a piece of up to :data:`WIDEST` bytes must end at least that far from the beginning.
        starts: where each piece begins.
        lengths: how many bytes it has.
    """
    rest = np.zeros(len(lengths), dtype=np.uint32)
    longest = int(lengths.max(initial=0))
    below, width = -1, _LANE
    while below < longest:
        members = np.flatnonzero((lengths > below) & (lengths <= width))
        if len(members) and width <= WIDEST:
            ends = starts[members] + lengths[members]
            pieces = sliding_window_view(buffer, width)[ends - width]
            # Zeros in front contribute nothing.
            pieces *= np.arange(width, dtype=np.int16) >= (width - lengths[members]).astype(np.int16)[:, None]
            rest[members] = _remainders(pieces)
        else:
            for member in members:
                piece = np.zeros((1, width), dtype=np.uint8)
                piece[0, width - lengths[member] :] = buffer[starts[member] : starts[member] + lengths[member]]
                rest[member] = _remainders(piece)[0]
        below, width = width, 2 * width
    rest ^= _short_beginnings().take(lengths) if longest <= WIDEST else _beginnings(lengths)
    sums = rest ^ np.uint32(_ONES)
    return ((sums >> np.uint32(15)) | (sums << np.uint32(17))) + np.uint32(_MASK_DELTA)


def masked_checksum(data: bytes) -> int:
    """Return the masked CRC-32C of a few bytes."""
    table = _byte_table()
    register = _ONES
    for byte in data:
        register = table[(register ^ byte) & 255] ^ (register >> 8)
    register ^= _ONES
    return ((register >> 15 | register << 17) + _MASK_DELTA) & _ONES


def _remainders(pieces: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """Sum pieces of one width, a power of two times the lane, from an empty register."""
    pairs = pieces.view(np.uint16).reshape(-1, _LANE // 2)
    rest = np.zeros(len(pairs), dtype=np.uint32)
    for column, table in enumerate(_pair_tables()):
        rest ^= table.take(pairs[:, column])
    power = _LANE.bit_length() - 1
    while len(rest) > len(pieces):
        rest = _followed(rest[0::2], power) ^ rest[1::2]
        power += 1
    return rest


def _beginnings(lengths: NDArray[np.int64]) -> NDArray[np.uint32]:
    """What the register, full of ones at the beginning, contributes to pieces of these lengths."""
    registers = np.full(len(lengths), _ONES, dtype=np.uint32)
    for power in range(int(lengths.max(initial=0)).bit_length()):
        odd = (lengths >> power) & 1 == 1
        registers[odd] = _followed(registers[odd], power)
    return registers


@cache
def _short_beginnings() -> NDArray[np.uint32]:
    return _beginnings(np.arange(WIDEST + 1))


def _followed(registers: NDArray[np.uint32], power: int) -> NDArray[np.uint32]:
    """Registers after ``2**power`` zero bytes."""
    tables = _zero_tables(power)
    result: NDArray[np.uint32] = tables[0][registers & np.uint32(255)]
    for byte in range(1, 4):
        result ^= tables[byte][(registers >> np.uint32(8 * byte)) & np.uint32(255)]
    return result


@cache
def _zero_tables(power: int) -> NDArray[np.uint32]:
    """Tables for :func:`_followed`, one for each byte of the register; shape (4, 256)."""
    if power:
        half = _zero_tables(power - 1).ravel()
        return _followed(half, power - 1).reshape(4, 256)
    registers = np.arange(256, dtype=np.uint32) << np.uint32(8) * np.arange(4, dtype=np.uint32)[:, None]
    for _ in range(8):
        registers = (registers >> np.uint32(1)) ^ np.where(registers & np.uint32(1), np.uint32(_POLYNOMIAL), 0)
    return registers.astype(np.uint32)


@cache
def _byte_table() -> list[int]:
    table: list[int] = _zero_tables(0)[0].tolist()
    return table


@cache
def _pair_tables() -> list[NDArray[np.uint32]]:
    """What each pair of bytes of a lane contributes, first pair first."""
    single = [_zero_tables(0)[0]]
    while len(single) < _LANE:
        single.append(_followed(single[-1], 0))
    low_byte_first = np.dtype(np.uint16).newbyteorder("<").isnative
    tables = []
    for following in range(_LANE - 2, -1, -2):
        first, second = single[following + 1], single[following]
        pairs = second[:, None] ^ first if low_byte_first else first[:, None] ^ second
        tables.append(pairs.ravel())
    return tables
