"""Records are found whole and checked, whatever lies between them."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlchecks.errors import InputError
from rlchecks.readers import tensorboard_records
from rlchecks.readers.tensorboard_checksums import WIDEST, masked_checksum
from rlchecks.readers.tensorboard_records import MAX_RECORD, MOST_GAPS, Condition, is_event_file, read_records
from tests.readers.tensorboard_files import VERSION, event, frame, scalar


@dataclass
class Pieces:
    """A file that comes in blocks of this size."""

    data: bytes
    size: int = 1 << 20
    path = Path("events")

    def blocks(self) -> Iterator[bytes]:
        for start in range(0, len(self.data), self.size):
            yield self.data[start : start + self.size]


def read(data: bytes, size: int = 1 << 20) -> tuple[list[bytes], Condition]:
    condition = Condition()
    found = [
        records.buffer[start : start + length].tobytes()
        for records in read_records(Pieces(data, size), condition)  # type: ignore[arg-type]
        for start, length in zip(records.starts.tolist(), records.lengths.tolist(), strict=True)
    ]
    assert condition.records == len(found)
    return found, condition


def header(length: int) -> bytes:
    data = struct.pack("<Q", length)
    return data + struct.pack("<I", masked_checksum(data))


RECORDS = [b"a" * 30, b"b" * 41, b"", b"c" * (WIDEST + 1), bytes(500), b"d" * 30]
FILE = b"".join(map(frame, RECORDS))


@pytest.mark.parametrize("size", [1, 7, 12, 64, 4096, 5000, 1 << 20])
def test_blocks_may_end_anywhere(size: int) -> None:
    assert read(FILE, size) == (RECORDS, Condition(records=6))


@given(st.lists(st.binary(max_size=300), max_size=12), st.integers(1, 400))
@settings(max_examples=60, deadline=None)
def test_what_was_written_is_read(records: list[bytes], size: int) -> None:
    assert read(b"".join(map(frame, records)), size) == (records, Condition(records=len(records)))


def test_a_file_of_several_blocks_is_read() -> None:
    dice = random.Random(1)
    records = [dice.randbytes(dice.choice([30, 41, 200, 5000])) for _ in range(2500)]
    assert read(b"".join(map(frame, records))) == (records, Condition(records=2500))


@pytest.mark.parametrize("size", [100, 1 << 20])
def test_a_file_cut_anywhere_ends_with_its_last_whole_record(size: int) -> None:
    ends = [sum(len(record) + 16 for record in RECORDS[:count]) for count in range(7)]
    for length in [*range(ends[3] + 40), *range(ends[4] - 20, ends[6])]:
        found, condition = read(FILE[:length], size)
        whole = sum(end <= length for end in ends) - 1
        assert (found, condition) == (RECORDS[:whole], Condition(records=whole, cut=length - ends[whole]))
    assert Condition(cut=3).tell() == ["the last record is not whole, as while a log is being written: left out"]


@pytest.mark.parametrize("size", [40, 1 << 20])
def test_a_flipped_bit_costs_one_record_and_is_told(size: int) -> None:
    records = [bytes([letter]) * 30 for letter in b"abc"]
    data = b"".join(map(frame, records))
    for place in range(len(data)):
        for bit in range(8):
            flipped = bytearray(data)
            flipped[place] ^= 1 << bit
            found, condition = read(bytes(flipped), size)
            lost = place // 46
            assert found == records[:lost] + records[lost + 1 :]
            assert (condition.wrong, condition.lost) == ((0, 46) if place % 46 < 12 else (1, 0))
            assert condition.tell()


@pytest.mark.parametrize("junk", [b"\0" * 300, b"\xff" * 11, random.Random(2).randbytes(70_000), header(99)[:11]])
@pytest.mark.parametrize("after", [RECORDS, RECORDS[3:], []])
def test_reading_goes_on_after_junk(junk: bytes, after: list[bytes]) -> None:
    found, condition = read(FILE + junk + b"".join(map(frame, after)))
    assert found == RECORDS + after
    assert condition.lost + condition.cut == len(junk)
    assert condition.lost or not after


def test_bytes_that_are_missing_cost_the_records_that_they_were_in() -> None:
    records = [bytes([letter]) * 30 for letter in b"abcdef"]
    data = b"".join(map(frame, records))
    found, condition = read(data[:110] + data[120:])
    assert found == records[:2] + records[4:]
    assert condition.wrong + condition.lost > 0


def test_a_length_beyond_the_file_allocates_nothing() -> None:
    for length in (2**24 + 1, 2**40, 2**64 - 1):
        found, condition = read(FILE + header(length) + bytes(1000), 100)
        assert found == RECORDS
        assert (condition.longer, condition.lost) == (1, 0)
        assert condition.cut > 0


def test_a_very_long_record_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensorboard_records, "MAX_RECORD", 400)
    found, condition = read(FILE, 100)
    assert found == [record for record in RECORDS if len(record) <= 400]
    assert condition == Condition(records=4, longer=2)
    assert "2 records of more than 400 bytes passed over" in condition.tell()


def test_frames_inside_of_a_record_are_not_read() -> None:
    for outer in (frame(b"x" * 30), frame(b"x" * 30) * 200):
        assert read(frame(outer) + frame(b"y")) == ([outer, b"y"], Condition(records=2))


def test_a_file_that_is_damaged_throughout_is_refused_in_the_end() -> None:
    bad = header(30)[:8] + bytes(38)
    found, condition = read((bad + frame(b"good")) * 1000)
    assert found == [b"good"] * 1000
    assert (condition.gaps, condition.lost) == (1000, 46_000)
    with pytest.raises(InputError, match="damaged in more than 5,000 places"):
        read((bad + frame(b"good")) * (MOST_GAPS + 1))


def test_event_files_are_known_by_their_first_record() -> None:
    assert is_event_file(VERSION + b"more")
    assert not is_event_file(scalar("a", 1.0, 1) + VERSION)
    assert not is_event_file(VERSION[1:])
    assert not is_event_file(frame(event(step=1)))
    assert not is_event_file(b"")
    assert MAX_RECORD < 1 << 30
