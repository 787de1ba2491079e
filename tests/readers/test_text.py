from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlchecks.errors import InputError
from rlchecks.readers.text import clean, counted, decode, listing, place, readable_part, shown


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=())))
def test_cleaned_text_is_valid_utf8_and_valid_text_stays(text: str) -> None:
    assert clean(text).encode().decode() == clean(text)
    if not any("\ud800" <= letter <= "\udfff" for letter in text):
        assert clean(text) == text


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=())))
def test_shown_text_is_one_short_printable_line(text: str) -> None:
    assert shown(text, 20).isprintable()
    assert place(text).isprintable()


def test_terminal_escapes_are_written_out() -> None:
    assert shown("\x1b[31mred\n") == r"'\x1b[31mred\n'"
    assert shown("a" * 61) == f"'{'a' * 60}...'"


def test_a_listing_says_how_many_are_left() -> None:
    assert listing(["b", "a"]) == "'b', 'a'"
    assert listing(map(str, range(14)), 2) == "'0', '1' and 12 more"
    assert listing([]) == "none"


def test_counts_have_their_plural() -> None:
    assert [counted(number, "row") for number in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]


def test_a_byte_order_mark_is_no_text() -> None:
    assert decode(b"\xef\xbb\xbfa", Path("x")) == "a"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_is_named(encoding: str) -> None:
    with pytest.raises(InputError, match=r"x\.csv: the text is UTF-16, expected UTF-8; save it as UTF-8\."):
        decode("step,reward".encode(encoding), Path("x.csv"))


def test_gzip_is_named() -> None:
    with pytest.raises(InputError, match=r"x\.csv: the file is compressed with gzip; decompress it first\."):
        decode(gzip.compress(b"step,reward"), Path("x.csv"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_the_beginning_of_a_text_is_read_in_any_encoding(encoding: str) -> None:
    assert readable_part("step,reward\n1".encode(encoding)) == "step,reward\n1"


@settings(deadline=None)
@given(st.binary())
def test_any_beginning_is_read(head: bytes) -> None:
    assert isinstance(readable_part(head), str)


def test_other_encodings_are_refused_with_their_line() -> None:
    with pytest.raises(InputError, match="line 2: the text is no UTF-8"):
        decode("a\nrécompense".encode("latin-1"), Path("x.csv"))
