"""Writes logs of records as Weights & Biases and SwanLab do, for what the packages cannot be asked for."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

BLOCK = 32 * 1024
WANDB = struct.pack("<4sHB", b":W&B", 0xBEE1, 0)
SWANLAB_JSON = struct.pack("<4sHB", b":SWL", 0xE1D6, 1)
SWANLAB = struct.pack("<4sHB", b":SWL", 0xE1D6, 2)


def frame(records: Iterable[bytes], header: bytes = WANDB) -> bytes:
    """Write records in blocks of 32 KiB."""
    out = bytearray(header)
    for record in records:
        at, begun = 0, False
        while True:
            room = BLOCK - len(out) % BLOCK
            if room < 7:
                out += bytes(room)
                continue
            data = record[at : at + room - 7]
            ends = at + len(data) == len(record)
            kind = (4 if begun else 1) if ends else (3 if begun else 2)
            out += struct.pack("<IHB", zlib.crc32(data, zlib.crc32(bytes([kind]))), len(data), kind) + data
            # A first chunk may have room for its header only.
            at, begun = at + len(data), True
            if ends:
                break
    return bytes(out)


def varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def field(number: int, value: int | float | bytes | str) -> bytes:
    """Write one field of a message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def items(values: Mapping[str | tuple[str, ...], object], number: int) -> bytes:
    """Write items with keys (or paths of keys) and JSON values, as history and configuration have them."""
    out = b""
    for key, value in values.items():
        path = (key,) if isinstance(key, str) else key
        names = b"".join(field(2, name) for name in path)
        out += field(number, names + field(16, json.dumps(value)))
    return out


def history(row: Mapping[str | tuple[str, ...], object]) -> bytes:
    return field(2, items(row, 1))


def run(run_id: str, name: str = "", project: str = "toys", **config: object) -> bytes:
    return field(17, field(1, run_id) + field(3, project) + field(8, name) + field(4, items({**config}, 1)))


def write_wandb(folder: Path, run_id: str, time: str, records: Iterable[bytes]) -> Path:
    """Write a log into the directory where it belongs, and return its path."""
    path = folder / f"offline-run-20260101_{time}-{run_id}" / f"run-{run_id}.wandb"
    path.parent.mkdir(parents=True)
    path.write_bytes(frame(records))
    return path


def scalar(key: str, step: int, value: float) -> bytes:
    """A scalar of SwanLab 0.8 and later."""
    return field(13, field(1, key) + field(2, step) + field(5, field(1, value)))
