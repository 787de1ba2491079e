"""Event files written by hand, byte by byte, so that each may be as damaged as a test needs it."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from pathlib import Path

from rlchecks.readers.tensorboard_checksums import masked_checksum

NAME = "events.out.tfevents.1796047968.host.1.0"
DATA = Path(__file__).parent / "data" / "tensorboard"


def varint(number: int) -> bytes:
    number &= 0xFFFFFFFFFFFFFFFF
    data = b""
    while number > 127:
        data += bytes([number & 127 | 128])
        number >>= 7
    return data + bytes([number])


def field(number: int, content: bytes | int) -> bytes:
    """A field with bytes or a varint."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def frame(data: bytes) -> bytes:
    """A record."""
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", masked_checksum(length)) + data + struct.pack("<I", masked_checksum(data))


def event(*contents: bytes, step: int | None = None, wall_time: float | None = 1796047968.5) -> bytes:
    """The data of an event."""
    clock = b"" if wall_time is None else b"\x09" + struct.pack("<d", wall_time)
    return clock + (b"" if step is None else field(2, step)) + b"".join(contents)


def value(tag: str | bytes, number: float) -> bytes:
    """A summary's value in float32."""
    name = tag.encode() if isinstance(tag, str) else tag
    return field(1, field(1, name) + b"\x15" + struct.pack("<f", number))


def scalar(tag: str | bytes, number: float, step: int, wall_time: float = 1796047968.5) -> bytes:
    """A record with one scalar."""
    return frame(event(field(5, value(tag, number)), step=step, wall_time=wall_time))


def text(tag: str, content: str) -> bytes:
    """A record with a text summary."""
    plugin = field(9, field(1, field(1, b"text")))
    tensor = field(8, field(1, 7) + field(2, field(2, field(1, 1))) + field(8, content.encode()))
    return frame(event(field(5, field(1, field(1, tag.encode()) + plugin + tensor)), step=0))


VERSION = frame(event(field(3, b"brain.Event:2")))


def log(rows: Iterable[tuple[int, Mapping[str, float]]]) -> bytes:
    """An event file with these rows: step, and scalars by name."""
    return VERSION + b"".join(scalar(tag, number, step) for step, row in rows for tag, number in row.items())


def steps(first: int, last: int, **more: float) -> list[tuple[int, dict[str, float]]]:
    """Rows of a small run."""
    return [(step, {"train/loss": 0.5, "train/reward": step / 64, **more}) for step in range(first, last + 1)]


def write(directory: Path, data: bytes, name: str = NAME) -> Path:
    """Write an event file and return its path."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / name
    path.write_bytes(data)
    return path
