"""The fields of a Protocol Buffers message with their places in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rlchecks.readers.protobuf import BYTES, FIXED32, FIXED64, VARINT, WireError, varint


class Field(NamedTuple):
    """A field of a message.

    Attributes:
        number: which field.
        wire: its wire type.
        start: where in the data its content begins.
        end: where it ends.
        value: its value if it is a varint, else 0.
    """

    number: int
    wire: int
    start: int
    end: int
    value: int


def fields(data: bytes, at: int, end: int) -> Iterator[Field]:
    """Yield the fields of the message between two places.

    Raises:
        WireError: there is no message.
    """
    while at < end:
        key, at = varint(data, at)
        wire, start, value = key & 7, at, 0
        if wire == VARINT:
            value, at = varint(data, at)
        elif wire == BYTES:
            length, start = varint(data, at)
            at = start + length
        elif wire == FIXED64:
            at += 8
        elif wire == FIXED32:
            at += 4
        else:
            raise WireError(f"wire type {wire}")
        if at > end:
            raise WireError("a field ends after its message")
        yield Field(key >> 3, wire, start, at, value)
