"""JSON Lines: every line counts, and what is lost is said."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlchecks.errors import InputError
from rlchecks.readers.json_lines import JsonLines, first_object

Write = Callable[[str, str | bytes], Path]


def test_every_object_comes_with_the_number_of_its_line(write: Write) -> None:
    lines = JsonLines(write("log.jsonl", '\ufeff{"a": 1}\n\n  \n{"a": NaN, "b": null}\r\n'))
    found = list(lines)
    assert [number for number, _ in found] == [1, 4]
    assert found[0][1] == {"a": 1}
    assert list(found[1][1]) == ["a", "b"]
    assert lines.warnings == ()


def test_the_record_is_that_of_all_bytes(write: Write) -> None:
    path = write("log.jsonl", '{"a": 1}\n{"a": 2}\n')
    lines = JsonLines(path)
    list(lines)
    assert lines.source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert lines.source.bytes == path.stat().st_size


def test_a_log_cut_off_anywhere_keeps_the_lines_before(write: Write) -> None:
    rows = [{"step": step, "é": "ü" * 3} for step in range(3)]
    data = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    ends = [place for place, byte in enumerate(data, 1) if byte == ord("\n")]
    for length in range(ends[0], len(data)):
        whole = sum(end <= length + 1 for end in ends)
        lines = JsonLines(write("log.jsonl", data[:length]))
        found = [row for _, row in lines]
        assert found == rows[:whole]
        torn = length not in (*ends, *(end - 1 for end in ends))
        assert lines.warnings == ((f"line {whole + 1} was not written to its end: left out",) if torn else ())


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (b'{"a": 1, "b', "line 2: no valid JSON"),
        (b"[1, 2]", "line 2: expected an object"),
        (b'{"a": "\xff"}', "line 2: the text is no UTF-8"),
        (b"[" * 100_000, "line 2: no valid JSON"),
        (b'{"a": ' + b"9" * 5000 + b"}", "line 2: no valid JSON"),
    ],
)
def test_damage_in_the_middle_is_an_error(write: Write, damage: bytes, reason: str) -> None:
    path = write("log.jsonl", b'{"a": 1}\n' + damage + b'\n{"a": 2}\n')
    with pytest.raises(InputError, match=reason):
        list(JsonLines(path))


def test_damage_in_the_only_line_is_an_error(write: Write) -> None:
    with pytest.raises(InputError, match="line 1: no valid JSON"):
        list(JsonLines(write("log.jsonl", '{"a": 1')))


@pytest.mark.parametrize(
    ("data", "reason"), [(b"", "empty"), (b"\x1f\x8b12", "gzip"), ('{"a": 1}\n'.encode("utf-16"), "UTF-16")]
)
def test_other_files_are_named(write: Write, data: bytes, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        list(JsonLines(write("log.jsonl", data)))


def test_a_line_beyond_all_measure_is_an_error_even_at_the_end(write: Write) -> None:
    path = write("log.jsonl", '{"a": 1}\n{"a": "' + "x" * 200 + '"}\n')
    with pytest.raises(InputError, match="line 2: longer than 100 bytes"):
        list(JsonLines(path, longest=100))


def test_keys_given_twice_are_told(write: Write) -> None:
    lines = JsonLines(write("log.jsonl", '{"a": 1, "a": 2}\n{"a": 3}\n'))
    assert [row for _, row in lines] == [{"a": 2}, {"a": 3}]
    assert lines.warnings == ("1 object with a key given twice: the last value counts",)


def test_the_first_object_is_found_or_nothing() -> None:
    assert first_object(b'\xef\xbb\xbf \n{"a": {"b": 1}}\n{"a": 2}') == {"a": {"b": 1}}
    for head in (b"", b"[1]", b'{"a": ', b"\xff\xfe", b"{" * 100_000, b"text"):
        assert first_object(head) == {}


@given(st.binary(max_size=200))
@settings(max_examples=200, deadline=None)
def test_whatever_the_bytes_the_outcome_is_rows_or_one_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("lines") / "log.jsonl"
    path.write_bytes(data)
    fault = ""
    try:
        assert all(isinstance(row, dict) for _, row in JsonLines(path))
    except InputError as error:
        fault = str(error)
    assert fault == "" or str(path) in fault
    first_object(data)
