"""Terminal text to pieces."""

from __future__ import annotations

from itertools import repeat

import pytest

from rlchecks.readers.console_pieces import Pieces
from rlchecks.readers.console_text import CONTEXT, Piece, columns
from rlchecks.readers.stream import MAX_LINE


def pieces_of(text: bytes, size: int = 1 << 20) -> list[Piece]:
    pieces = Pieces([text[at : at + size] for at in range(0, len(text), size)])
    found = []
    while (piece := pieces.next()) is not None:
        found.append(piece)
    return found


def test_line_feeds_and_carriage_returns_end_pieces_whatever_the_blocks() -> None:
    text = b"one\r\ntwo\r\r\nthree\rfour\r\rfive\n\nsix\r"
    expected = [("one", 1, "\n"), ("two", 2, "\n"), ("three", 3, "\r"), ("four", 3, "\r"), ("five", 3, "\n")]
    expected += [("", 4, "\n"), ("six", 5, "\r")]
    for size in range(1, len(text) + 1):
        assert [(piece.text, piece.line, piece.end) for piece in pieces_of(text, size)] == expected, size


def test_the_last_piece_needs_no_end() -> None:
    assert [(piece.text, piece.end) for piece in pieces_of(b"a\nb")] == [("a", "\n"), ("b", "")]


def test_colours_titles_and_zero_bytes_are_taken_out() -> None:
    text = b"\x1b[1;31mred\x1b[0m \x1b]0;title\x07\x00\x00plain\x1b[K\x1b[?25l\x1b[A\n"
    assert pieces_of(text)[0].text == "red plain"
    assert pieces_of(text)[0].width == 9


@pytest.mark.parametrize(
    ("line", "source", "text"),
    [
        (b"(TaskRunner pid=12) step", "TaskRunner pid=12", "step"),
        (b"\x1b[36m(main_task pid=7, ip=10.0.0.1)\x1b[0m  step", "main_task pid=7, ip=10.0.0.1", " step"),
        (b"(pid=7) step", "pid=7", "step"),
        (b"0: step", "rank 0", "step"),
        (b" 12: step", "rank 12", "step"),
        (b"[rank3]: step", "rank3", "step"),
        (b"[default0]:step", "default0", "step"),
        (b"2026-01-18 16:31:39.890 step", None, "step"),
        (b"[2026-01-18T16:31:39,890Z] (pid=7) step", "pid=7", "step"),
        (b"(pid=7) 2026-01-18 16:31:39 step", "pid=7", "step"),
        (b"(a remark) step", None, "(a remark) step"),
    ],
)
def test_prefixes_tell_the_process_and_are_no_text(line: bytes, source: str | None, text: str) -> None:
    piece = pieces_of(line + b"\n")[0]
    assert (piece.source, piece.text) == (source, text)


def test_damaged_utf8_is_replaced_and_said() -> None:
    broken, sound = pieces_of(b"a\xff\xfeb\n\xc3\xa4\n")
    assert (broken.text, broken.damaged) == ("a\ufffd\ufffdb", True)
    assert (sound.text, sound.damaged) == ("ä", False)


def test_only_pieces_with_what_is_looked_for_are_found() -> None:
    text = b"noise\nStep 1: think\nx {'epoch': 1}\nstep:1 - a/b:1\nstep:x - \nfootstep:1 - a\n{'a': 1}\n"
    pieces = Pieces([text])
    found = []
    while (piece := pieces.seek()) is not None:
        found.append((piece.line, piece.text))
    # A dictionary that ends in its line and has nothing of a row is passed over.
    assert found == [(3, "x {'epoch': 1}"), (4, "step:1 - a/b:1")]


def test_what_is_given_back_comes_again_and_what_is_ahead_is_seen() -> None:
    pieces = Pieces([b"a\nb\nc\n"])
    first = pieces.next()
    second = pieces.next()
    assert first is not None
    assert second is not None
    pieces.give_back([first, second])
    assert pieces.ahead() == "a\nb\nc\n"
    assert [piece.text for piece in iter(pieces.next, None) if piece] == ["a", "b", "c"]


def test_a_piece_knows_what_stands_before_a_place_in_it() -> None:
    piece = pieces_of(b"before\nlabel: {'a': 1}\n")[1]
    assert piece.context(7) == "before\nlabel: "
    assert pieces_of(b"x" * 2000)[0].context(1500) == "x" * CONTEXT


def test_a_line_without_end_is_passed_over_in_bounded_memory() -> None:
    # A gigabyte without a line feed, and a row behind it.
    pieces = Pieces([b"{'loss': 0.1\n", *repeat(b"x" * (1 << 20), 1024), b"\n{'loss': 0.1, 'epoch': 1}\n"])
    assert [piece.text for piece in iter(pieces.seek, None) if piece] == ["{'loss': 0.1", "{'loss': 0.1, 'epoch': 1}"]
    assert pieces.passed_over == 1


def test_zero_bytes_of_a_gap_in_the_file_take_no_memory() -> None:
    pieces = Pieces([*repeat(b"\0" * (1 << 20), 64), b"{'loss': 0.1, 'epoch': 1}\n"])
    piece = pieces.seek()
    assert piece is not None
    assert piece.text == "{'loss': 0.1, 'epoch': 1}"
    assert pieces.passed_over == 0


def test_the_longest_piece_is_whole() -> None:
    text = b"x" * (MAX_LINE - 10)
    assert len(pieces_of(text + b"\n")[0].text) == MAX_LINE - 10


def test_wide_letters_take_two_columns() -> None:
    assert columns("ab") == 2
    assert columns("漢字é") == 5
