from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlchecks.errors import InputError
from rlchecks.readers import delimited as delimited_module
from rlchecks.readers import stream
from rlchecks.readers.delimited import delimited, text_lines
from rlchecks.readers.stream import Stream
from rlchecks.readers.table_files import read_rows

Write = Callable[[str, str | bytes], Path]
PATH = Path("a.csv")

CELLS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=4) | st.floats().map(repr)
MISSING = {"", "na", "n/a", "null", "none", "-"}


@settings(deadline=None)
@given(rows=st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1, max_size=9), at_once=st.integers(1, 4))
def test_every_cell_that_is_not_missing_is_read_as_it_was_written(rows: list[list[str]], at_once: int) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows([["a", "b"], *rows])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited_module, "_ROWS", at_once)
        found, warnings = delimited(io.StringIO(text.getvalue(), newline=""), PATH)
    spans = any(end in cell for cells in rows for cell in cells for end in "\r\n")
    assert [warning.partition(": ")[2][:27] for warning in warnings] == ["a cell in quotation marks g"] * spans
    for row, cells in zip(found, rows, strict=True):
        assert list(row.values()) == [None if cell.strip().lower() in MISSING else cell for cell in cells]


@settings(deadline=None)
@given(text=st.text(st.sampled_from('ab,"\n\r'), max_size=30).filter(lambda text: bool(text.encode())))
def test_a_file_is_split_as_text_in_memory_is(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    path.write_bytes(text.encode())
    assert list(text_lines(Stream(path))) == list(io.StringIO(text, newline=""))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_cells_in_quotation_marks_may_hold_line_ends(end: str, write: Write) -> None:
    path = write("a.csv", f'step,note{end}1,"a{end}b,""c"""{end}2,d{end}')
    assert list(read_rows(path).rows) == [{"step": "1", "note": f'a{end}b,"c"'}, {"step": "2", "note": "d"}]


CUT = "the last line has no line feed, so its last value may be cut off: it is taken as missing"


@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_the_last_value_before_a_missing_line_feed_is_missing(
    at_once: int, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delimited_module, "_ROWS", at_once)
    table = read_rows(write("a.csv", "step,reward\n1,0.5\n2,0.42"))
    assert list(table.rows) == [{"step": "1", "reward": "0.5"}, {"step": "2", "reward": None}]
    assert table.warnings == (CUT,)
    table = read_rows(write("b.csv", "step,reward,kl\n1,0.5,0.1\n2,0.42,"))
    assert list(table.rows)[1] == {"step": "2", "reward": None, "kl": None}
    assert table.warnings == (CUT,)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_last_value_before_any_line_end_is_kept(end: str, write: Write) -> None:
    table = read_rows(write("a.csv", f"step,reward{end}1,0.5{end}2,0.42{end}"))
    assert list(table.rows)[1] == {"step": "2", "reward": "0.42"}
    assert table.warnings == ()


def test_a_last_value_in_closed_quotation_marks_is_whole(write: Write) -> None:
    table = read_rows(write("a.csv", 'step,reward\n"1","0.5"\n"2","0.42"'))
    assert list(table.rows)[1] == {"step": "2", "reward": "0.42"}
    assert table.warnings == ()


def test_no_truncation_gives_a_number_that_was_not_written() -> None:
    text = "step,reward,kl\n11,0.512,0.25\n12,0.423456,0.125\n"
    written = {"11", "0.512", "0.25", "12", "0.423456", "0.125", None}
    for size in range(text.index("\n") + 1, len(text)):
        rows, warnings = delimited(io.StringIO(text[:size]), PATH)
        assert {value for row in rows for value in row.values()} <= written
        assert bool(warnings) == (text[size - 1] != "\n")


def test_rows_that_a_stray_quotation_mark_makes_one_are_told(write: Write) -> None:
    table = read_rows(write("a.csv", 'step,note\n1,a\n2,"b\n3,c\n4,d\n5,"\n6,f\n'))
    assert [row["step"] for row in table.rows] == ["1", "2", "6"]
    assert table.warnings == ("line 3: a cell in quotation marks goes on over 4 lines",)
    table = read_rows(write("b.csv", 'step,note\n1,"a\nb"\n2,"a\n\nb"\n3,"a\nb"\n\n'))
    told = "line 4: a cell in quotation marks goes on over 3 lines; so do 2 others, over no more lines"
    assert table.warnings == (told,)
    with pytest.raises(InputError, match="lines 2 to 3: 3 cells where the header has 2"):
        read_rows(write("c.csv", 'step,note\n1,"a\nb",c\n'))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", ""])
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('step,note\n1,a\n2,"b\n3,c', 3),
        ('step,note\n1,"a\nb","c\n3,d', 3),
        ('step,note\n1,a\n2,"', 3),
        ('step,note\n1,a\n2,"b', 3),
        ('step,"note\n1,a\n2,b', 1),
        ('step,note\n\n1,"a\n\n', 3),
    ],
)
def test_a_quotation_mark_that_is_never_closed_is_an_error(text: str, line: int, end: str, write: Write) -> None:
    with pytest.raises(InputError, match=f"line {line}: a quotation mark opens a cell that is not closed"):
        read_rows(write("a.csv", text + end))


def test_a_first_line_that_is_empty_names_no_columns(write: Write) -> None:
    with pytest.raises(InputError, match="line 2: 2 cells where the header has 0"):
        read_rows(write("a.csv", "\n1,2\n"))


def test_the_line_of_damage_is_that_of_the_file(write: Write) -> None:
    with pytest.raises(InputError, match="line 4: 3 cells where the header has 2"):
        read_rows(write("a.csv", 'step,note\n1,"a\nb"\n2,x,y\n'))
    with pytest.raises(InputError, match="line 3: the text is no UTF-8; save it as UTF-8"):
        read_rows(write("a.csv", b"step,note\n1,a\n2,\xff\n3,b\n"))
    with pytest.raises(InputError, match="line 1: the text is no UTF-8"):
        read_rows(write("a.csv", b"step,\xff\n1,a\n"))


@pytest.mark.parametrize("start", [b"\x1f\x8b", b"\xff\xfe", b"s\0"])
def test_what_is_no_utf8_from_its_beginning_is_named(start: bytes, write: Write) -> None:
    with pytest.raises(InputError, match=r"gzip|UTF-16"):
        read_rows(write("a.csv", start + b"\n1,2\n"))


def test_a_long_line_and_a_long_cell_are_refused(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    cell = '"' + "x\n" * 100_000
    with pytest.raises(InputError, match=r"line .*: no valid CSV .*field larger than field limit"):
        read_rows(write("a.csv", "step,note\n1," + cell))
    monkeypatch.setattr(stream.Stream.lines, "__defaults__", (50,))
    with pytest.raises(InputError, match=r"line 2: longer than 16,777,216 bytes, the most that is read"):
        read_rows(write("a.csv", "step,note\n1," + "x" * 60 + "\n2,y\n"))


def test_too_many_columns_are_refused(write: Write) -> None:
    with pytest.raises(InputError, match="line 1: 20,001 columns, more than the 20,000 of any log"):
        read_rows(write("a.csv", ",".join(map(str, range(20_001))) + "\n"))


def test_large_cells_are_made_compact_before_their_rows_are_many(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    extend = delimited_module.Rows.extend
    monkeypatch.setattr(delimited_module, "_CHARACTERS", 1000)
    monkeypatch.setattr(
        delimited_module.Rows, "extend", lambda *given: (seen.append(len(given[2][0])), extend(*given))[1]
    )
    path = write("a.csv", "step,note\n" + "".join(f"{at},{'x' * 300}\n" for at in range(10)))
    assert len(read_rows(path).rows) == 10
    assert max(seen) <= 4
