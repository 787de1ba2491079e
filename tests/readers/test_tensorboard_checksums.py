"""CRC-32C against published values, and many at once against one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlchecks.readers.tensorboard_checksums import WIDEST, masked_checksum, masked_checksums


def unmasked(masked: int) -> int:
    rotated = (masked - 0xA282EAD8) & 0xFFFFFFFF
    return (rotated >> 17 | rotated << 15) & 0xFFFFFFFF


def together(pieces: list[bytes]) -> list[int]:
    buffer = np.frombuffer(bytes(WIDEST) + b"\xff".join(pieces) + b"\xff", dtype=np.uint8)
    lengths = np.array([len(piece) for piece in pieces], dtype=np.int64)
    starts = WIDEST + np.concatenate([[0], np.cumsum(lengths[:-1] + 1)])
    return masked_checksums(buffer, starts, lengths).tolist()


@pytest.mark.parametrize(
    ("data", "checksum"),
    [
        # RFC 3720, appendix B.4, and the check value of the catalogue of parametrised CRC algorithms.
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (bytes(range(31, -1, -1)), 0x113FDB5C),
        (b"123456789", 0xE3069283),
        (b"", 0),
    ],
)
def test_published_checksums_come_out(data: bytes, checksum: int) -> None:
    assert unmasked(masked_checksum(data)) == checksum
    assert unmasked(together([data])[0]) == checksum


@pytest.mark.parametrize("length", [0, 1, 63, 64, 65, 127, 128, 129, WIDEST - 1, WIDEST, WIDEST + 1, 100_000])
def test_pieces_of_all_lengths_are_summed(length: int) -> None:
    piece = np.random.default_rng(length).integers(0, 256, length, dtype=np.uint8).tobytes()
    assert together([piece, b"a", piece]) == [masked_checksum(piece), masked_checksum(b"a"), masked_checksum(piece)]


@given(st.lists(st.binary(max_size=200), min_size=1, max_size=20))
@settings(max_examples=50)
def test_many_at_once_are_the_same_as_one_by_one(pieces: list[bytes]) -> None:
    assert together(pieces) == [masked_checksum(piece) for piece in pieces]


def test_a_flipped_bit_changes_the_checksum() -> None:
    data = bytes(range(70))
    flipped = [
        bytes(byte ^ (1 << bit if place == at else 0) for at, byte in enumerate(data))
        for place in range(len(data))
        for bit in range(8)
    ]
    assert masked_checksum(data) not in together(flipped)
