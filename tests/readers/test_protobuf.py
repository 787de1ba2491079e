"""The wire format of Protocol Buffers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlchecks.readers.protobuf import WireError, double, fields, message, signed, varint
from tests.readers.record_logs import field
from tests.readers.record_logs import varint as written


@given(st.integers(-(2**63), 2**63 - 1))
def test_varints_come_back(number: int) -> None:
    data = written(number)
    assert (signed(varint(data, 0)[0]), varint(data, 0)[1]) == (number, len(data))


@given(st.lists(st.tuples(st.integers(1, 2**29 - 1), st.one_of(st.integers(0, 2**64 - 1), st.binary()))))
def test_fields_come_back(values: list[tuple[int, int | bytes]]) -> None:
    data = b"".join(field(number, value) for number, value in values)
    assert [(number, value) for number, _, value in fields(data)] == values


@given(st.floats())
def test_doubles_come_back(number: float) -> None:
    value = message(field(1, number))[1]
    assert isinstance(value, bytes)
    assert repr(double(value)) == repr(number)


def test_the_last_of_a_repeated_field_counts() -> None:
    assert message(field(1, 1) + field(2, b"x") + field(1, 5)) == {1: 5, 2: b"x"}


@pytest.mark.parametrize(
    "data",
    [
        b"\x80",
        b"\x80" * 10 + b"\x01",
        b"\x08",
        b"\x0a\x05abcd",
        b"\x09\0\0\0\0\0\0\0",
        b"\x0d\0\0\0",
        b"\x0b",
        b"\x0e\0",
        b"\x0a" + b"\xff" * 9 + b"\x01",
    ],
)
def test_what_is_no_message_is_an_error(data: bytes) -> None:
    with pytest.raises(WireError):
        list(fields(data))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_an_error(data: bytes) -> None:
    try:
        found = list(fields(data))
    except WireError:
        return
    assert sum(len(value) for _, _, value in found if isinstance(value, bytes)) <= len(data)
