"""The framing of records: what comes out is what was written, or less with a warning."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlchecks.errors import InputError
from rlchecks.readers.leveldb import MAX_RECORD, RecordLog
from rlchecks.readers.wandb_records import FORMAT
from tests.readers.record_logs import BLOCK, WANDB, frame

REAL = sorted((Path(__file__).parent / "data" / "wandb").glob("0.16.6/whole/wandb/*/*.wandb"))[0]


def read(path: Path) -> tuple[list[bytes], tuple[str, ...]]:
    log = RecordLog(path, FORMAT)
    records = list(log.records())
    return records, log.warnings()


def is_part(some: Sequence[bytes], whole: Sequence[bytes]) -> bool:
    """Whether ``some`` is ``whole`` with perhaps some records left out."""
    rest = iter(whole)
    return all(any(record == other for other in rest) for record in some)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sizes=st.lists(
        st.one_of(st.integers(0, 60), st.integers(BLOCK - 60, BLOCK + 60), st.integers(0, 3 * BLOCK)), max_size=8
    )
)
def test_records_of_any_size_come_back(tmp_path: Path, sizes: list[int]) -> None:
    records = [random.Random(size).randbytes(size) for size in sizes]
    path = tmp_path / "run-a.wandb"
    path.write_bytes(frame(records))
    assert read(path) == (records, ())


@pytest.mark.parametrize("room", range(12))
def test_a_block_may_end_with_padding_or_with_an_empty_chunk(tmp_path: Path, room: int) -> None:
    records = [bytes(BLOCK - 7 - 7 - room), b"next", b"last"]
    path = tmp_path / "run-a.wandb"
    path.write_bytes(frame(records))
    assert read(path) == (records, ())


@pytest.mark.parametrize("stride", [pytest.param(23, id="some"), pytest.param(1, id="all", marks=pytest.mark.slow)])
def test_a_log_that_is_cut_off_anywhere_keeps_its_whole_records(tmp_path: Path, stride: int) -> None:
    whole = REAL.read_bytes()
    records, warnings = read(REAL)
    assert not warnings
    path = tmp_path / "run-a.wandb"
    kept = []
    for end in range(7, len(whole), stride):
        path.write_bytes(whole[:end])
        some, told = read(path)
        assert some == records[: len(some)]
        # Whatever is there is either in a record or told.
        assert bool(told) == (end != 7 + sum(len(record) + 7 for record in some))
        kept.append(len(some))
    assert kept == sorted(kept)
    assert kept[-1] in (len(records) - 1, len(records) - 2)


def test_a_log_is_cut_off_within_a_record_of_several_blocks(tmp_path: Path) -> None:
    records = [b"a" * 100, b"b" * (2 * BLOCK + 9), b"c"]
    whole = frame(records)
    path = tmp_path / "run-a.wandb"
    # That of a process that was killed ends with a block.
    for end in (BLOCK, BLOCK + 3, 2 * BLOCK - 1, 2 * BLOCK, 2 * BLOCK + 40):
        path.write_bytes(whole[:end])
        some, warnings = read(path)
        assert some == records[:1]
        assert [f"{end - 114} bytes at its end left out" in warning for warning in warnings] == [True]


@pytest.mark.parametrize("bits", [pytest.param(500, id="some"), pytest.param(None, id="all", marks=pytest.mark.slow)])
def test_no_flipped_bit_changes_a_record(tmp_path: Path, bits: int | None) -> None:
    # Every bit of the shortest records, or some of all.
    records, _ = read(REAL)
    records = records if bits else sorted(records, key=len)[:12]
    whole = frame(records)
    path = tmp_path / "run-a.wandb"
    places = random.Random(1).sample(range(len(whole) * 8), bits) if bits else range(len(whole) * 8)
    for place in places:
        damaged = bytearray(whole)
        damaged[place // 8] ^= 1 << place % 8
        path.write_bytes(damaged)
        try:
            some, warnings = read(path)
        except InputError:
            assert place < 7 * 8
            continue
        assert is_part(some, records)
        assert len(some) < len(records)
        assert warnings


def test_damage_in_the_middle_costs_the_rest_of_its_block(tmp_path: Path) -> None:
    records = [bytes([number]) * 3000 for number in range(30)]
    whole = bytearray(frame(records))
    whole[BLOCK + 5000] ^= 1
    path = tmp_path / "run-a.wandb"
    path.write_bytes(whole)
    some, warnings = read(path)
    assert is_part(some, records)
    # What ends in the second block before the damage stays; the record over the end of that block is lost, too.
    assert [record[0] for record in some] == [*range(12), *range(22, 30)]
    (warning,) = warnings
    assert warning.startswith("the file is damaged in 1 place (first: byte ")
    lost = int(warning.split(": ")[-1].split(" bytes")[0].replace(",", ""))
    assert lost == len(whole) - 7 - sum(len(record) + 7 for record in some) - 7


def test_zeros_at_the_end_are_its_end_and_zeros_before_more_are_damage(tmp_path: Path) -> None:
    records = [bytes([number]) * 3000 for number in range(30)]
    whole = frame(records)
    path = tmp_path / "run-a.wandb"
    path.write_bytes(whole[: 2 * BLOCK] + bytes(BLOCK))
    some, warnings = read(path)
    assert some == records[: len(some)]
    assert ["ends within a record" in warning for warning in warnings] == [True]
    path.write_bytes(whole[:BLOCK] + bytes(BLOCK) + whole[2 * BLOCK :])
    some, warnings = read(path)
    assert is_part(some, records)
    assert [record[0] for record in some] == [*range(10), *range(22, 30)]
    assert ["damaged in 1 place" in warning for warning in warnings] == [True]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "the file is empty"),
        (WANDB[:6], "cut off within the header"),
        (b"PK" + WANDB[2:], "begins with 'b'PK"),
        (WANDB[:4] + b"\0" + WANDB[5:], "no header of a Weights & Biases log"),
        (WANDB[:6] + b"\x09", "version 9 of the Weights & Biases log, of which 0 can be read"),
    ],
)
def test_another_header_is_an_error(tmp_path: Path, data: bytes, problem: str) -> None:
    path = tmp_path / "run-a.wandb"
    path.write_bytes(data)
    with pytest.raises(InputError) as error:
        read(path)
    assert problem in str(error.value)


def test_memory_does_not_grow_with_a_record_that_is_too_long(tmp_path: Path) -> None:
    path = tmp_path / "run-a.wandb"
    path.write_bytes(frame([b"before", bytes(4 * MAX_RECORD), b"after"]))
    log = RecordLog(path, FORMAT)
    tracemalloc.start()
    records = list(log.records())
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert records == [b"before", b"after"]
    assert log.warnings() == (f"1 record of more than {MAX_RECORD:,} bytes left out",)
    assert most < 2 * MAX_RECORD
