from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rlchecks.readers.parquet as parquet
from rlchecks.errors import InputError
from rlchecks.readers.table_files import keys_in, peek, read_rows

Write = Callable[[str, str | bytes], Path]
ROWS = [{"step": 1, "reward": 0.5}, {"step": 2, "reward": 0.6}]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS)


@pytest.mark.parametrize(
    "text",
    [
        "step,reward\n1,0.5\n2,0.6\n",
        "step,reward\r\n1,0.5\r\n2,0.6\r\n",
        "\ufeffstep,reward\n1,0.5\n\n2,0.6\n",
        "step;reward\n1;0.5\n2;0.6\n",
        ' step ,"reward"\n1,0.5\n2,0.6\n',
    ],
    ids=["plain", "CRLF", "byte order mark", "semicolons", "quoted"],
)
def test_csv_dialects_are_read_alike(text: str, write: Write) -> None:
    table = read_rows(write("a.csv", text))
    assert list(table.rows) == [{"step": "1", "reward": "0.5"}, {"step": "2", "reward": "0.6"}]
    assert table.untyped
    assert table.warnings == ()


def test_tabs_separate_cells_of_tsv(write: Write) -> None:
    assert list(read_rows(write("a.TSV", "step\treward\n1\t0,5\n")).rows) == [{"step": "1", "reward": "0,5"}]


def test_empty_cells_and_their_words_are_missing_and_nan_is_not(write: Write) -> None:
    (row,) = read_rows(write("a.csv", "a,b,c,d,e,f,g\n,NA,null, None ,nan,      ,0\n")).rows
    assert row == {"a": None, "b": None, "c": None, "d": None, "e": "nan", "f": None, "g": "0"}


def test_a_nameless_column_gets_its_number(write: Write) -> None:
    assert list(read_rows(write("a.csv", ",step\n0,1\n")).rows) == [{"column 1": "0", "step": "1"}]


def test_a_last_csv_line_that_was_torn_is_left_out(write: Write) -> None:
    table = read_rows(write("a.csv", "step,reward\n1,0.5\n2"))
    assert list(table.rows) == [{"step": "1", "reward": "0.5"}]
    assert table.warnings == ("line 3 was not written to its end: left out",)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("step,reward\n1\n2,0.6\n", "line 2: 1 cell where the header has 2"),
        ("step,reward\n1,0.5,7\n2,0.6\n", "line 2: 3 cells where the header has 2"),
        ("step,reward,step\n1,0.5,7\n", "line 1: the header names 'step' twice"),
        ("step,reward\n", "the table has no rows"),
        ("step,reward\n2", "the table has no rows"),
        ("\n\n", "the table has no rows"),
        ('step,reward\n1,"' + "x" * 200_000, "line 2: no valid CSV"),
    ],
)
def test_damaged_csv_is_refused_with_its_line(text: str, reason: str, write: Write) -> None:
    with pytest.raises(InputError, match=reason):
        read_rows(write("a.csv", text))


def test_a_null_character_is_a_character(write: Write) -> None:
    assert list(read_rows(write("a.csv", "step,re\0ward\n1,0.5\n")).rows) == [{"step": "1", "re\0ward": "0.5"}]


@pytest.mark.parametrize(
    "text",
    [LINES, LINES.replace("\n", "\r\n"), "\ufeff" + LINES, LINES.replace("\n", "\n\n"), LINES.strip()],
    ids=["plain", "CRLF", "byte order mark", "blank lines", "no last line end"],
)
@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson"])
def test_json_lines_are_read(text: str, suffix: str, write: Write) -> None:
    table = read_rows(write(f"a{suffix}", text))
    assert list(table.rows) == ROWS
    assert not table.untyped
    assert table.warnings == ()


def test_only_a_line_feed_ends_a_json_line(write: Write) -> None:
    text = '{"step": 1, "note": "a\u2028b\x85c"}\n'
    assert list(read_rows(write("a.jsonl", text)).rows) == [{"step": 1, "note": "a\u2028b\x85c"}]


@pytest.mark.parametrize("torn", ['{"step": 3, "rew', '{"step": 3, "reward": 0.', "{", '{"step": 3}x\n'])
def test_a_torn_last_json_line_is_left_out_and_told(torn: str, write: Write) -> None:
    table = read_rows(write("a.jsonl", LINES + torn))
    assert list(table.rows) == ROWS
    assert table.warnings == ("line 3 was not written to its end: left out",)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"step": 1, "rew\n' + LINES, r"line 1: no valid JSON \(Unterminated string.*\); repair or remove it"),
        (LINES + "{\n" + LINES, "line 3: no valid JSON"),
        ('{"step": 1, "rew', "line 1: no valid JSON"),
        (LINES + "[1]\n", "line 3: expected an object"),
        (LINES + "[" * 100_000 + "\n" + LINES, "line 3: .*nested too deeply"),
        (LINES + '{"a": ' + "1" * 5000 + "}\n" + LINES, "line 3: .*a number too long"),
        ("\n \n", "no rows"),
    ],
)
def test_damaged_json_lines_are_refused_with_their_number(text: str, reason: str, write: Write) -> None:
    with pytest.raises(InputError, match=reason):
        read_rows(write("a.jsonl", text))


def test_keys_given_twice_in_json_lines_are_told(write: Write) -> None:
    table = read_rows(write("a.jsonl", '{"step": 1, "step": 2}\n{"step": 3}\n'))
    assert list(table.rows) == [{"step": 2}, {"step": 3}]
    assert table.warnings == ("1 object with a key given twice: the last value counts",)


def test_a_json_list_of_objects_is_a_table(write: Write) -> None:
    assert list(read_rows(write("a.json", json.dumps(ROWS))).rows) == ROWS
    documents: tuple[object, ...] = ({"step": 1}, [1], [[]])
    for document in documents:
        with pytest.raises(InputError, match="expected a list of objects"):
            read_rows(write("a.json", json.dumps(document)))


def test_parquet_is_read_with_nulls_and_nans_apart(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"step": [1, 2], "reward": pa.array([None, float("nan")], pa.float64())}), path)
    first, second = read_rows(path).rows
    assert first["reward"] is None
    assert second["reward"] != second["reward"]


def test_a_parquet_file_that_declares_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"step": [1, 2]}), path)
    with pytest.raises(InputError, match="2 values, more than the 1 that are read"):
        parquet.read_table(path.read_bytes(), path, 1)


def test_the_items_of_lists_are_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"step": [1], "ids": [[0] * 100]}), path)
    assert peek(path, b"PAR1") == [{"step": 1, "ids": None}]
    assert list(read_rows(path).rows) == [{"step": 1, "ids": [0] * 100}]
    with pytest.raises(InputError, match="101 values, more than the 100 that are read"):
        parquet.read_table(path.read_bytes(), path, 100)
    monkeypatch.setattr(parquet, "MAX_CELLS", 100)
    assert peek(path, b"PAR1") == [{"step": None, "ids": None}]


def test_pages_that_decompress_to_too_much_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"step": [0] * 10_000}), path, compression="zstd", use_dictionary=False)
    monkeypatch.setattr(parquet, "MAX_BYTES", 50_000)
    with pytest.raises(InputError, match="bytes, more than the 50,000 that are read"):
        read_rows(path)


@pytest.mark.parametrize("stored", [True, False])
def test_one_long_text_in_all_rows_is_refused_before_it_is_written_out(stored: bool, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 20_000, pa.int32()), pa.array(["x" * 1_000_000]))
    pq.write_table(pa.table({"step": range(20_000), "text": texts}), path, store_schema=stored)
    before = pa.total_allocated_bytes()
    assert len(str(peek(path, b"PAR1")[0]["text"])) == 1_000_000
    with pytest.raises(InputError, match="20,000,000,000 bytes of texts"):
        read_rows(path)
    assert pa.total_allocated_bytes() - before < 100 << 20


@pytest.mark.parametrize("dictionaries", [True, False])
def test_texts_of_several_row_groups_and_in_lists_are_read(dictionaries: bool, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    rows = [{"a.b": f"é{i % 7}", "list": [{"role": "user", "content": f"x{i}"}], "none": None} for i in range(50)]
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=20, use_dictionary=dictionaries)
    assert parquet.read_table(path.read_bytes(), path).to_pylist() == rows
    assert list(read_rows(path).rows) == rows


@pytest.mark.parametrize("data", [b"PAR1", b"PAR1" + b"x" * 100 + b"PAR1", b"no parquet"])
def test_damaged_parquet_is_refused(data: bytes, write: Write) -> None:
    with pytest.raises(InputError, match="no readable Parquet"):
        read_rows(write("a.parquet", data))


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.json", "a.parquet"])
def test_the_beginning_tells_the_columns(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    table = pa.Table.from_pylist(ROWS)
    if name == "a.parquet":
        pq.write_table(table, path)
    else:
        path.write_text({"a.csv": "step,reward\n1,0.5\n", "a.jsonl": LINES, "a.json": json.dumps(ROWS)}[name])
    assert keys_in(peek(path, path.read_bytes())) == ["step", "reward"]


@pytest.mark.parametrize("head", [b"", b"\xff\xfe", b"[" * 100_000, b'{"a": ', b"\0", b"PAR1", b'"' + b"x" * 200_000])
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.json", "a.parquet"])
def test_any_beginning_is_survived(name: str, head: bytes, write: Write) -> None:
    assert isinstance(peek(write(name, head), head), list)


def test_the_columns_of_a_parquet_file_without_rows_are_told(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"step": pa.array([], pa.int64())}), path)
    assert peek(path, b"PAR1") == [{"step": None}]
