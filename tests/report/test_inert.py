from __future__ import annotations

import unicodedata
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

from rlchecks.report.inert import UNPRINTABLE, block, line, markdown

ANY_TEXT = st.text(st.characters(codec=None), max_size=80)


@pytest.mark.parametrize(
    ("hostile", "left"),
    [
        ("\x1b[2Jgone", "gone"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x9b31mred", "red"),
        ("\x1b]8;;https://example.org\x07link\x1b]8;;\x07", "link"),
        ("\x1b]0;title\x1b\\rest", "rest"),
        ("\x1bP1$r0m\x1b\\rest", "rest"),
        ("\x1b(Btext\x1bc", "text"),
        ("a\u202eb\u2066c\u200bd\ufeff", "abcd"),
        ("a\rb", "a b"),
        ("a\x00b\x07c\x7f", "abc"),
        ("\ud800x\uffff", "\ufffdx\ufffd"),
        ("  two\n\n lines ", "two lines"),
        ("\x1b[2J", UNPRINTABLE),
        ("", ""),
        (None, ""),
    ],
)
def test_terminal_commands_and_invisible_characters_are_removed(hostile: str | None, left: str) -> None:
    assert line(hostile) == left


def test_a_block_keeps_its_lines() -> None:
    assert block("a\r\nb\tc\u2028d") == "a\nb\tc\nd"


def test_long_text_is_cut_and_says_so() -> None:
    assert block("x" * 50, 10) == "x" * 10 + "…"
    assert len(block("\x1b[0m" * 1_000_000 + "end", 10)) <= len(UNPRINTABLE)


@given(ANY_TEXT)
def test_clean_text_can_be_encoded_stands_in_xml_and_holds_no_control_character(text: str) -> None:
    clean = line(text)
    clean.encode()
    assert not any(unicodedata.category(character) in ("Cc", "Cs") for character in clean)
    assert ElementTree.fromstring(f"<a>{escape(clean)}</a>").text in (clean, None)


@given(ANY_TEXT)
def test_cleaning_twice_changes_nothing(text: str) -> None:
    once = line(text)
    assert line(once) == once


@pytest.mark.parametrize(
    ("hostile", "escaped"),
    [
        ("[click](https://example.org)", "\\[click\\]\\(https:\u200b//example.org\\)"),
        ("<script>", "&lt;script&gt;"),
        ("a|b", "a\\|b"),
        ("# title", "\\# title"),
        ("- item", "\\- item"),
        ("1. item", "1\\. item"),
        ("--- ", "\\---"),
        ("-0.358", "-0.358"),
        ("`code` *b* _i_ ~s~ ![x]", "\\`code\\` \\*b\\* \\_i\\_ \\~s\\~ \\!\\[x\\]"),
        ("WWW.example.org", "WWW\u200b.example.org"),
        ("me@example.org", "me@\u200bexample.org"),
        # Arguments to be copied hold no character that nobody sees.
        ("declare a_b:prompt=@FILE, please", "declare `a_b:prompt=@FILE`, please"),
        ("(x:prompt=@FILE)", r"\(`x:prompt=@FILE`\)"),
        ("`x=@FILE`y=@FILE", "\\`x=@\u200bFILE\\`y=@\u200bFILE"),
        ("x=@FILES", "x=@\u200bFILES"),
        ("mailto:x", "mailto\u200b:x"),
        ("&lt;b&gt;", "&amp;lt;b&amp;gt;"),
        ("two\nlines\n# x", "two lines \\# x"),
    ],
)
def test_markdown_cannot_be_markup_or_a_link(hostile: str, escaped: str) -> None:
    assert markdown(hostile) == escaped
