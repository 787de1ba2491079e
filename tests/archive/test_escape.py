from __future__ import annotations

import string
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlchecks.archive.escape import LIMIT, escape

SHORT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
ANY = st.text(max_size=400)


@pytest.mark.parametrize(
    ("text", "stem"),
    [
        ("qwen2.5-7b_grpo", "qwen2.5-7b_grpo"),
        ("", "%"),
        (".", "%2e"),
        ("..", "%2e%2e"),
        ("../../etc/passwd", "%2e%2e%2f.%2e%2fetc%2fpasswd"),
        ("a/b:c\\d", "a%2fb%3ac%5cd"),
        ("Run", "run"),
        ("straße", "strasse"),
        ("a.", "a%2e"),
        ("a..b", "a.%2eb"),
        (".hidden", "%2ehidden"),
        ("_skipped_by_spark", "%5fskipped_by_spark"),
        ("-rf", "%2drf"),
        ("CON", "%63on"),
        ("com1.log", "%63om1.log"),
        ("console", "console"),
        ("a\x00b\n", "a%00b%0a"),
        ("100%", "100%25"),
        ("*?[x]", "%2a%3f%5bx%5d"),
        ("\ud800", "%ed%a0%80"),
    ],
)
def test_known_names(text: str, stem: str) -> None:
    assert escape(text) == stem


@given(ANY)
def test_a_stem_is_a_safe_name_on_any_file_system(text: str) -> None:
    stem = escape(text)
    assert 0 < len(stem) <= LIMIT
    assert set(stem) <= set(string.ascii_lowercase + string.digits + "_-.%")
    assert stem[0] not in "._-"
    assert stem[-1] != "."
    assert ".." not in stem
    assert stem.split(".")[0] not in {"con", "prn", "aux", "nul", "com1", "lpt9"}


@given(SHORT)
def test_a_short_stem_unquotes_to_the_text_without_case(text: str) -> None:
    stem = escape(text)
    if "%-" not in stem:
        assert unquote(stem, errors="strict") == text.casefold()


@given(ANY, ANY)
def test_stems_are_equal_exactly_if_texts_are_without_case(one: str, other: str) -> None:
    assert (escape(one) == escape(other)) == (one.casefold() == other.casefold())


@pytest.mark.parametrize("filler", ["a", "/", "a/", "é", "日", "."])
def test_long_texts_are_cut_within_the_limit_and_stay_different(filler: str) -> None:
    one, other = filler * 200 + "x", filler * 200 + "y"
    assert len(escape(one)) <= LIMIT
    assert "%-" in escape(one)
    assert escape(one) != escape(other)
    assert escape(one, 40) != escape(other, 40)
    assert len(escape(one, 40)) <= 40
    head = escape(one).split("%-")[0]
    assert unquote(head, errors="replace").replace("\ufffd", "") in one.casefold()
