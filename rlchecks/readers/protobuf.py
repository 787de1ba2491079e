"""Protocol Buffers' wire format: the fields of a message, without its schema.

A message is fields one after the other: number and wire type in one varint, then the value. Source: the encoding guide
of Protocol Buffers (protobuf.dev/programming-guides/encoding).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
"""The wire types in use; 3 and 4, the groups, belong to the first version of the language."""

_SIZES = {FIXED64: 8, FIXED32: 4}
_LONGEST_VARINT = 10
_DOUBLE = struct.Struct("<d")


class WireError(ValueError):
    """Bytes that are no message."""


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Read a varint.

    Returns:
        The number, from 0 to 2**64 - 1, and where it ends.

    Raises:
        WireError: it is cut off or too long.
    """
    if at < len(data) and data[at] < 0x80:
        return data[at], at + 1
    number = shift = 0
    for position in range(at, min(len(data), at + _LONGEST_VARINT)):
        byte = data[position]
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number & 0xFFFF_FFFF_FFFF_FFFF, position + 1
        shift += 7
    raise WireError("a varint is cut off or too long")


def fields(data: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    """Yield number, wire type and value of each field: a varint as a number, everything else as its bytes.

    Raises:
        WireError: the bytes are no message; fields before that were yielded.
    """
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == VARINT:
            value, at = varint(data, at)
            yield number, wire, value
            continue
        if wire == BYTES:
            size, at = varint(data, at)
        elif wire in _SIZES:
            size = _SIZES[wire]
        else:
            raise WireError(f"wire type {wire}")
        if size > len(data) - at:
            raise WireError("a value is cut off")
        yield number, wire, data[at : at + size]
        at += size


def message(data: bytes) -> dict[int, int | bytes]:
    """Return the fields of a message by number; of a repeated one the last.

    Raises:
        WireError: the bytes are no message.
    """
    return {number: value for number, _, value in fields(data)}


def signed(value: int) -> int:
    """Return a varint as the int64 or int32 it stands for."""
    return value - (1 << 64) if value >> 63 else value


def double(value: bytes) -> float:
    """Return eight bytes as the double they stand for."""
    number: float = _DOUBLE.unpack(value)[0]
    return number
