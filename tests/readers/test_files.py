from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from rlchecks.errors import InputError
from rlchecks.readers import files
from rlchecks.readers.files import HEAD_BYTES, parse_json, read_bytes, read_head

Write = Callable[[str, str | bytes], Path]


def test_the_hash_is_of_the_bytes_returned(write: Write) -> None:
    path = write("a.txt", "abc")
    contents = read_bytes(path)
    # FIPS 180-2, appendix B.1: SHA-256 of "abc".
    assert contents.source.sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert contents.source.sha256 == hashlib.sha256(contents.data).hexdigest()
    assert (contents.source.path, contents.source.bytes) == (str(path), 3)


def test_empty_missing_and_odd_files_are_refused(write: Write, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, reason in [
        (write("empty", ""), "the file is empty"),
        (tmp_path / "absent", "No such file"),
        (tmp_path, "a directory, expected a file"),
        (tmp_path / "pipe", "no regular file"),
        (Path("nul\0l"), "null byte"),
    ]:
        with pytest.raises(InputError, match=reason):
            read_bytes(path)


def test_a_file_over_the_limit_is_refused_and_one_at_the_limit_is_read(write: Write) -> None:
    path = write("a", "12345")
    assert read_bytes(path, 5).data == b"12345"
    with pytest.raises(InputError, match="larger than 4 bytes"):
        read_bytes(path, 4)


def test_a_file_of_many_gigabytes_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "trainer_state.json"
    with open(path, "wb") as file:
        file.truncate(5 << 30)
    with pytest.raises(InputError, match=r"larger than 1,073,741,824 bytes"):
        read_bytes(path)


def test_the_head_is_bounded(write: Write) -> None:
    assert read_head(write("a", b"x" * (HEAD_BYTES + 1))) == b"x" * HEAD_BYTES


def test_bare_nan_and_infinity_are_numbers() -> None:
    document, repeated = parse_json(b'{"a": NaN, "b": -Infinity, "c": 1e999}', Path("x"))
    assert math.isnan(document["a"])
    assert (document["b"], document["c"], repeated) == (-math.inf, math.inf, 0)


def test_keys_given_twice_are_counted_by_object() -> None:
    assert parse_json(b'[{"a": 1, "a": 2}, {"a": 1}, {"b": 1, "b": 1, "b": 3}]', Path("x")) == (
        [{"a": 2}, {"a": 1}, {"b": 3}],
        2,
    )


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{\n"a": 1,\n', "line 3, column 1: no valid JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b"1" * 5_000, "a number cannot be read"),
        (b"\xff\xfe{\0}\0", "UTF-16"),
    ],
    ids=["torn", "deep", "long number", "utf-16"],
)
def test_what_is_no_json_is_refused_with_its_place(data: bytes, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        parse_json(data, Path("x"))


def test_a_document_of_too_many_values_is_refused_unparsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_ITEMS", 3)
    assert parse_json(b"[1,2,3,4]", Path("x")) == ([1, 2, 3, 4], 0)
    with pytest.raises(InputError, match="x: more than 3 values, the most that are read"):
        parse_json(b"[" + b"[]," * 4 + b"[]]", Path("x"))
