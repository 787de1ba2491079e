"""One event of TensorBoard, decoded by hand: its step, its scalars, its texts, and where in the record they stand.

Field numbers are those of tensorboard/compat/proto of tensorflow/tensorboard: event.proto, summary.proto, tensor.proto,
tensor_shape.proto, types.proto.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from rlchecks.readers.protobuf import BYTES, FIXED32, FIXED64, VARINT, WireError, signed, varint
from rlchecks.readers.tensorboard_fields import Field, fields

LONGEST_TAG = 4096
"""Longest name of a series, in bytes, that is believed."""

SINGLE = "<f"
"""How a float32 is written."""

BFLOAT16 = "bfloat16"
"""How a number is written that is the upper half of a float32."""

# DataType: the format of struct and NumPy for a number of it, and the field of TensorProto that holds such numbers.
_TYPES = {
    1: (SINGLE, 5),
    2: ("<d", 6),
    3: ("<i", 7),
    4: ("<B", 7),
    5: ("<h", 7),
    6: ("<b", 7),
    9: ("<q", 10),
    14: (BFLOAT16, 13),
    17: ("<H", 7),
    19: ("<e", 13),
    22: ("<I", 16),
    23: ("<Q", 17),
}
_CONTENT = 4
_TEXT, _TEXTS = 7, 8
_FLOATS, _DOUBLES, _HALVES = 5, 6, 13


class Scalar(NamedTuple):
    """A scalar of an event.

    Attributes:
        tag: name of the series.
        number: its value.
        kind: how it is written: a format such as ``<f``, or :data:`BFLOAT16`; empty if its size varies.
        at: where in the record it stands.
    """

    tag: bytes
    number: float
    kind: str
    at: int


class Event(NamedTuple):
    """What an event says.

    Attributes:
        wall_time: seconds since 1970; 0 if it does not say.
        step: 0 if it does not say.
        scalars: in their order.
        texts: names and first texts of the text summaries.
        clock: where the wall time stands, None if it does not.
        counter: where the step stands and how many bytes it has.
        plain: whether nothing varies between events like this but wall time, step and scalars of fixed size.
    """

    wall_time: float
    step: int
    scalars: list[Scalar]
    texts: list[tuple[bytes, bytes]]
    clock: int | None
    counter: tuple[int, int]
    plain: bool


def parse(data: bytes) -> Event:
    """Decode an event.

    Raises:
        WireError: the bytes are no event.
    """
    wall_time, step, clock, counter = 0.0, 0, None, (0, 0)
    scalars: list[Scalar] = []
    texts: list[tuple[bytes, bytes]] = []
    clocks = counters = others = 0
    for field in fields(data, 0, len(data)):
        if field.number == 1 and field.wire == FIXED64:
            wall_time, clock = struct.unpack_from("<d", data, field.start)[0], field.start
            clocks += 1
        elif field.number == 2 and field.wire == VARINT:
            step, counter = signed(field.value), (field.start, field.end - field.start)
            counters += 1
        elif field.number == 5 and field.wire == BYTES:
            for value in fields(data, field.start, field.end):
                if value.number == 1 and value.wire == BYTES:
                    others += not _read_value(data, value, scalars, texts)
        else:
            others += 1
    plain = not others and clocks <= 1 and counters <= 1 and all(scalar.kind for scalar in scalars)
    return Event(wall_time, step, scalars, texts, clock, counter, plain and bool(scalars))


def number_at(data: bytes, at: int, kind: str) -> float:
    """Read a number of a fixed size."""
    if kind == BFLOAT16:
        return float(struct.unpack(SINGLE, b"\0\0" + data[at : at + 2])[0])
    return float(struct.unpack_from(kind, data, at)[0])


def size_of(kind: str) -> int:
    """Return the size in bytes of a number of a fixed size."""
    return 2 if kind == BFLOAT16 else struct.calcsize(kind)


def _read_value(data: bytes, value: Field, scalars: list[Scalar], texts: list[tuple[bytes, bytes]]) -> bool:
    """Read a value of a summary; whether it is a scalar and nothing else."""
    tag, plugin = b"", b""
    simple: Field | None = None
    tensor: Field | None = None
    alone = True
    for field in fields(data, value.start, value.end):
        if field.number == 1 and field.wire == BYTES:
            tag = data[field.start : field.end]
        elif field.number == 2 and field.wire == FIXED32:
            simple, tensor = field, None
        elif field.number == 8 and field.wire == BYTES:
            simple, tensor = None, field
        elif field.number == 9 and field.wire == BYTES:
            plugin = _plugin(data, field)
        else:
            # A picture, a histogram, sound.
            alone = False
    if len(tag) > LONGEST_TAG:
        raise WireError("a name is too long")
    if simple is not None:
        scalars.append(Scalar(tag, number_at(data, simple.start, SINGLE), SINGLE, simple.start))
        return alone
    found = None if tensor is None else _read_tensor(data, tensor)
    if isinstance(found, bytes):
        texts.append((tag, found))
    elif found is not None and plugin in (b"", b"scalars"):
        scalars.append(Scalar(tag, *found))
        return alone
    return False


def _plugin(data: bytes, metadata: Field) -> bytes:
    """Name the plugin of TensorBoard that a value is for."""
    for field in fields(data, metadata.start, metadata.end):
        if field.number == 1 and field.wire == BYTES:
            for inner in fields(data, field.start, field.end):
                if inner.number == 1 and inner.wire == BYTES:
                    return data[inner.start : inner.end]
    return b""


def _read_tensor(data: bytes, tensor: Field) -> tuple[float, str, int] | bytes | None:
    """Read a tensor with one number (the number, its kind, its place) or with texts (the first); None for others."""
    found: dict[int, list[Field]] = {}
    for field in fields(data, tensor.start, tensor.end):
        found.setdefault(field.number, []).append(field)
    data_type = found[1][-1].value if 1 in found else 0
    if data_type == _TEXT and _TEXTS in found:
        first = found[_TEXTS][0]
        return data[first.start : first.end]
    if data_type not in _TYPES or (2 in found and _elements(data, found[2][-1]) != 1):
        return None
    kind, holder = _TYPES[data_type]
    contents = [field for number in (_CONTENT, holder) for field in found.get(number, ()) if field.end > field.start]
    if len(contents) != 1:
        return None
    return _only_number(data, contents[0], kind)


def _only_number(data: bytes, content: Field, kind: str) -> tuple[float, str, int] | None:
    """Read the one number of a tensor; None if there are several."""
    start, end = content.start, content.end
    if content.number in (_CONTENT, _FLOATS, _DOUBLES):
        return (number_at(data, start, kind), kind, start) if end - start == size_of(kind) else None
    value, after = varint(data, start)
    if after != end:
        return None
    if content.number == _HALVES:
        return number_at((value & 0xFFFF).to_bytes(2, "little"), 0, kind), "", 0
    return float(value if kind.isupper() else signed(value)), "", 0


def _elements(data: bytes, shape: Field) -> int:
    """Count the elements of a tensor of this shape."""
    count = 1
    for dimension in fields(data, shape.start, shape.end):
        if dimension.number == 2 and dimension.wire == BYTES:
            sizes = [field.value for field in fields(data, dimension.start, dimension.end) if field.number == 1]
            count *= sizes[-1] if sizes else 0
    return count
