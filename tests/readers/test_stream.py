from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlchecks.errors import InputError
from rlchecks.readers import stream
from rlchecks.readers.stream import Stream


@given(data=st.binary(min_size=1, max_size=60).map(lambda data: data.replace(b"\x01", b"\n")), block=st.integers(1, 9))
def test_lines_are_those_of_the_file(tmp_path_factory: pytest.TempPathFactory, data: bytes, block: int) -> None:
    path = tmp_path_factory.mktemp("lines") / "log"
    path.write_bytes(data)
    log = Stream(path)
    whole = list(log.blocks(block))
    assert b"".join(whole) == data
    assert log.source.sha256 == hashlib.sha256(data).hexdigest()
    assert log.source.bytes == len(data)
    lines = list(Stream(path).lines())
    assert b"".join(line.data + b"\n" * line.ended for line in lines) == data
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))
    assert all(line.whole for line in lines)


def test_lines_that_cross_blocks_are_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"ab\ncdefg\n\nhi")
    monkeypatch.setattr(stream.Stream.blocks, "__defaults__", (2,))
    assert [line.data for line in Stream(path).lines()] == [b"ab", b"cdefg", b"", b"hi"]


def test_of_a_line_that_is_too_long_the_beginning_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"short\n" + b"x" * 50 + b"\nend\n")
    monkeypatch.setattr(stream.Stream.blocks, "__defaults__", (8,))
    lines = list(Stream(path).lines(longest=10))
    assert [(line.number, line.data, line.whole) for line in lines] == [
        (1, b"short", True),
        (2, b"x" * 10, False),
        (3, b"end", True),
    ]


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    os.mkfifo(tmp_path / "pipe")
    for name, problem in [("absent", "cannot be read"), ("empty", "empty"), ("pipe", "no regular file")]:
        with pytest.raises(InputError, match=problem):
            list(Stream(tmp_path / name).lines())
