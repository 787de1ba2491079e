from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlchecks.errors import InputError
from rlchecks.heldout import HeldoutRows, read_rows
from rlchecks.heldout.jsonlines import exact_rows, fast_rows
from rlchecks.heldout.values import BadValueError, convert
from rlchecks.schema import EVALUATIONS

ROW = {"question_id": "q1", "checkpoint": "base", "judge": "exact", "score": 1}


def lines(*rows: object) -> str:
    return "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows)


def written(directory: Path, content: str | bytes, name: str = "rows.jsonl") -> Path:
    path = directory / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def scores(rows: HeldoutRows) -> list[float | None]:
    found: list[float | None] = rows.table["score"].to_pylist()
    return found


def test_json_lines(tmp_path: Path) -> None:
    full = ROW | {"step": 40, "epoch": 2, "decoding": "sample", "answer": "", "prompt": "p", "cluster": "c"}
    path = written(tmp_path, lines(full, ROW))
    rows = read_rows([path])
    assert rows.table.schema == EVALUATIONS
    first, second = rows.table.to_pylist()
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert first == full | {"run_id": "", "score": 1.0, "target": None, "category": None, "source_sha256": digest}
    assert (second["step"], second["answer"], second["decoding"]) == (None, None, None)
    assert [(file.path, file.sha256, file.bytes) for file in rows.inputs] == [(str(path), digest, path.stat().st_size)]
    assert rows.warnings == ()


@pytest.mark.parametrize(
    ("value", "score"),
    [
        ("1", 1.0), ("0.25", 0.25), ("true", 1.0), ("false", 0.0), ('"0.5"', 0.5), ('" 1e-1 "', 0.1), ('"True"', 1.0),
        ("null", None), ("NaN", None), ('""', None), ('"  "', None), ('"N/A"', None), ('"nan"', None), ('"None"', None),
    ],
)  # fmt: skip
def test_scores_are_numbers_or_unscored(tmp_path: Path, value: str, score: float | None) -> None:
    row = json.dumps(ROW).replace('"score": 1', f'"score": {value}')
    alone = read_rows([written(tmp_path, row)])
    assert scores(alone) == [score]
    mixed = read_rows([written(tmp_path, lines(ROW, row, ROW | {"score": "0.75"}))])
    assert scores(mixed) == [1.0, score, 0.75]


@pytest.mark.parametrize(
    "value", ['"good"', '"1_0"', '"1,5"', "[1]", '{"value": 1}', "Infinity", '"-inf"', "1e999", "1" * 400]
)
def test_other_scores_are_refused_with_their_line(tmp_path: Path, value: str) -> None:
    row = json.dumps(ROW).replace('"score": 1', f'"score": {value}')
    for content in (lines(ROW, "", row), row):
        path = written(tmp_path, content)
        with pytest.raises(InputError, match="finite number") as caught:
            read_rows([path])
        assert (caught.value.path, caught.value.where) == (str(path), f"line {content.count(chr(10)) or 1}")


def test_numbers_as_identifiers_become_text(tmp_path: Path) -> None:
    rows = read_rows([written(tmp_path, lines(ROW | {"question_id": 7, "checkpoint": 40}, ROW | {"question_id": 8.0}))])
    assert rows.table["question_id"].to_pylist() == ["7", "8"]
    assert rows.table["checkpoint"].to_pylist() == ["40", "base"]


def test_text_that_looks_like_a_date_stays_text(tmp_path: Path) -> None:
    row = ROW | {"question_id": "2024-01-01", "answer": "2024-01-01", "cluster": "2024-01-01"}
    found = read_rows([written(tmp_path, lines(row, row | {"question_id": "2024-01-02"}))]).table.to_pylist()
    assert [row["question_id"] for row in found] == ["2024-01-01", "2024-01-02"]
    assert found[0]["answer"] == "2024-01-01"


def test_chat_messages_are_kept_as_json(tmp_path: Path) -> None:
    chat = [{"role": "user", "content": "2 + 2 = ?"}]
    table = read_rows([written(tmp_path, lines(ROW | {"prompt": chat, "target": 4, "answer": True}))]).table
    assert json.loads(table["prompt"][0].as_py()) == chat
    assert (table["target"][0].as_py(), table["answer"][0].as_py()) == ("4", "true")


def test_half_a_surrogate_pair_in_an_answer_is_replaced_in_a_name_refused(tmp_path: Path) -> None:
    text = lines(ROW | {"answer": "x"}).replace('"x"', '"a\\ud800b"')
    assert read_rows([written(tmp_path, text)]).table["answer"].to_pylist() == ["a\ufffdb"]
    with pytest.raises(InputError, match=r"line 1: question_id .* UTF-8"):
        read_rows([written(tmp_path, lines(ROW).replace('"q1"', '"\\ud800"'))])


def test_unknown_columns_are_named(tmp_path: Path) -> None:
    rows = read_rows([written(tmp_path, lines(ROW | {"tokens": 9, "meta": {"a": [1]}}, ROW | {"meta": 3}))])
    assert rows.warnings == ("Columns that held-out rows do not know were ignored: 'tokens', 'meta' (in one file).",)


@pytest.mark.parametrize(
    ("content", "where", "problem"),
    [
        (lines(ROW, '{"question_id": "q2", "chec'), "line 2", "no complete JSON object"),
        (lines(ROW, "", json.dumps(ROW)[:-1]), "line 3", "no complete JSON object"),
        (lines(ROW, [1]), "line 2", "a JSON list, expected an object"),
        (lines({**ROW}, {"question_id": "q2", "checkpoint": "b"}), "line 2", "lacks judge, score"),
        (lines(ROW, ROW | {"question_id": None}), "line 2", "question_id is empty"),
        (lines(ROW, ROW | {"judge": ""}), "line 2", "judge is empty"),
        (lines(ROW, ROW | {"checkpoint": ["a"]}), "line 2", "expected text or a number"),
        (lines(ROW, ROW | {"question_id": True}), "line 2", "expected text or a number"),
        (lines(ROW, ROW | {"step": 1.5}), "line 2", "expected a whole number"),
        (lines(ROW, ROW | {"epoch": "first"}), "line 2", "expected a whole number"),
        (lines(ROW, ROW | {"category": {"a": 1}}), "line 2", "expected text"),
        (lines(ROW, "[" * 100_000), "line 2", "no complete JSON object"),
        ("[\n" + lines(ROW) + "]", "line 1", "no complete JSON object"),
    ],
)  # fmt: skip
def test_bad_json_lines_name_file_and_line(tmp_path: Path, content: str, where: str, problem: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(InputError, match=problem) as caught:
        read_rows([path])
    assert (caught.value.path, caught.value.where) == (str(path), where)


@pytest.mark.parametrize(
    ("content", "name", "problem"),
    [
        ("", "rows.jsonl", "the file is empty"),
        (" \n\n", "rows.csv", "the file is empty"),
        (b"", "rows.parquet", "the file is empty"),
        (lines(ROW).encode() + b'{"question_id": "\xff"}\n', "rows.jsonl", r"line 2: .*not UTF-8"),
        (lines(ROW).encode("utf-16"), "rows.jsonl", "line 1: .*not UTF-8"),
        ("hello\nworld\n", "rows.txt", "format is not known"),
        (b"PAR1 and then nothing", "rows.parquet", "not readable"),
        (lines(ROW), "rows.parquet", "no Parquet file"),
        ("question_id,checkpoint,score\n", "rows.csv", "no column judge"),
        ("question_id,checkpoint,judge,score\n", "rows.csv", "no row"),
        ("question_id,checkpoint,judge,score,score\na,b,c,1,2\n", "rows.csv", "names score twice"),
        ("question_id,checkpoint,judge,score\na,b,c,1\na,b\n", "rows.csv", "line 3: the row has 2 fields"),
        ('question_id,checkpoint,judge,score\na,b,c,1\na,b,c,"0', "rows.csv", "line 3: the row is not complete"),
        ('question_id,checkpoint,judge,score\n"a\nb",b,c,1\n\na,b,c,good\n', "rows.csv", "line 5: score is 'good'"),
        ("question_id,checkpoint,judge,score\na,,c,1\n", "rows.csv", "line 2: checkpoint is empty"),
    ],
)  # fmt: skip
def test_bad_files_are_one_clear_error(tmp_path: Path, content: str | bytes, name: str, problem: str) -> None:
    path = written(tmp_path, content, name)
    with pytest.raises(InputError, match=problem) as caught:
        read_rows([path])
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_csv_tells_nothing_from_an_empty_text(tmp_path: Path) -> None:
    content = (
        "question_id,checkpoint,judge,score,answer,step,extra\r\n"
        '01,base,exact,0.5,"two, ""quoted""\nlines",40,x\r\n'
        '02,base,exact,,"",,y\r\n'
        "03,base,exact,n/a,,7,z\r\n"
    )
    rows = read_rows([written(tmp_path, b"\xef\xbb\xbf" + content.encode(), "rows.csv")])
    assert scores(rows) == [0.5, None, None]
    assert rows.table["question_id"].to_pylist() == ["01", "02", "03"]
    assert rows.table["answer"].to_pylist() == ['two, "quoted"\nlines', "", None]
    assert rows.table["step"].to_pylist() == [40, None, 7]
    assert "'extra'" in rows.warnings[0]


def test_parquet_of_other_types(tmp_path: Path) -> None:
    table = pa.table(
        {
            "question_id": pa.array([1, 2, 3]),
            "checkpoint": pa.array(["base"] * 3).dictionary_encode(),
            "judge": pa.array(["exact"] * 3, pa.large_string()),
            "score": pa.array([True, None, False]),
            "step": pa.array([40.0, None, 40.0]),
            "epoch": pa.array([0, 1, 2], pa.int8()),
            "prompt": pa.array([[{"role": "user"}]] * 3),
        }
    )
    pq.write_table(table, tmp_path / "rows.bin")
    rows = read_rows([tmp_path / "rows.bin"])
    assert rows.table.schema == EVALUATIONS
    assert scores(rows) == [1.0, None, 0.0]
    assert rows.table["question_id"].to_pylist() == ["1", "2", "3"]
    assert rows.table["step"].to_pylist() == [40, None, 40]


def test_bad_parquet_values_name_their_row(tmp_path: Path) -> None:
    pq.write_table(pa.table({name: ["a", "b"] for name in ROW}), tmp_path / "rows.parquet")
    with pytest.raises(InputError, match="row 1: score is 'a'"):
        read_rows([tmp_path / "rows.parquet"])


def test_parquet_text_must_be_utf8(tmp_path: Path) -> None:
    broken = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.array([0, 2], pa.int32()).buffers()[1], pa.py_buffer(b"\xff\xfe")]
    )
    pq.write_table(pa.table(dict.fromkeys(ROW, broken)), tmp_path / "rows.parquet")
    with pytest.raises(InputError, match="UTF8"):
        read_rows([tmp_path / "rows.parquet"])


def test_parquet_that_names_a_column_twice_is_refused(tmp_path: Path) -> None:
    names = [*ROW, "score"]
    pq.write_table(pa.table([pa.array([value]) for value in (*ROW.values(), 0)], names=names), tmp_path / "r.parquet")
    with pytest.raises(InputError, match="the schema names score twice"):
        read_rows([tmp_path / "r.parquet"])


def test_parquet_that_unpacks_into_gigabytes_is_refused(tmp_path: Path) -> None:
    count = 3000
    text = pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), pa.array(["x" * 1_000_000]))
    columns = {name: pa.array([value] * count) for name, value in ROW.items()}
    pq.write_table(pa.table({**columns, "answer": text}), tmp_path / "r.parquet")
    with pytest.raises(InputError, match="row 1: answer holds more text from here on than is read at once"):
        read_rows([tmp_path / "r.parquet"])


def test_all_formats_read_alike(tmp_path: Path) -> None:
    records = [
        ROW | {"question_id": f"q{number}", "score": number / 4 or None, "step": number, "answer": f"a{number}"}
        for number in range(9)
    ]
    table = pa.Table.from_pylist(records)
    pq.write_table(table, tmp_path / "rows.parquet")
    pv.write_csv(table, tmp_path / "rows.csv")
    written(tmp_path, lines(*records))
    tables = [
        read_rows([tmp_path / f"rows.{kind}"]).table.drop("source_sha256") for kind in ("jsonl", "csv", "parquet")
    ]
    assert tables[0] == tables[1] == tables[2]


def test_a_directory_stands_for_the_files_directly_in_it(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.jsonl", ".hidden.jsonl", "notes.txt"):
        written(tmp_path, lines(ROW | {"question_id": name}), name)
    (tmp_path / "inner").mkdir()
    written(tmp_path / "inner", lines(ROW), "c.jsonl")
    rows = read_rows([tmp_path, tmp_path / "a.jsonl"])
    assert rows.table["question_id"].to_pylist() == ["a.jsonl", "b.jsonl"]
    assert len(rows.inputs) == 2


@pytest.mark.parametrize("paths", [["missing.jsonl"], ["."], []])
def test_nothing_to_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, paths: Sequence[str]) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"no such file|no held-out rows"):
        read_rows(paths)


@pytest.mark.parametrize(
    "text",
    [
        lines(ROW, ROW | {"score": None}),
        lines(ROW, {"question_id": "q", "checkpoint": "base", "judge": "j", "category": "score"}),
        lines(f"{json.dumps(ROW)} {json.dumps(ROW)}"),
        lines(ROW | {"question_id": 2**64}),
        lines(ROW | {"answer": ["x"]}),
    ],
)
def test_what_arrow_might_read_otherwise_is_read_exactly(text: str) -> None:
    """Arrow's reader is used only where it agrees with Python's."""
    fast = fast_rows(text.encode(), text)
    if fast is not None:
        exact = exact_rows(text, Path("rows.jsonl"))
        assert fast.columns.keys() == exact.columns.keys()
        for name in fast.columns:
            assert convert(name, fast.columns[name]) == convert(name, exact.columns[name])


def test_a_missing_key_is_not_a_missing_score() -> None:
    without = {name: value for name, value in ROW.items() if name != "score"} | {"category": "score"}
    for rows, taken in (
        ((ROW, ROW | {"score": None}), True),
        ((ROW, ROW | {"category": "score"}), True),
        ((ROW, without), False),
    ):
        text = lines(*rows)
        assert (fast_rows(text.encode(), text) is not None) == taken


values = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**40), 2**40), st.floats(allow_infinity=False),
    st.sampled_from(["", "na", "N/A", "1", "0.5", "-2e3", "true", " 7 "]),
)  # fmt: skip


@given(st.lists(values, min_size=1, max_size=8))
def test_arrow_and_python_columns_convert_alike(column: list[Any]) -> None:
    kinds = {type(value) for value in column} - {type(None)}
    if len(kinds) == 1:  # what Arrow can hold in one column
        arrow = pa.chunked_array([pa.array(column)])
        assert convert("score", arrow) == convert("score", column)
        assert _whole_or_problem(arrow) == _whole_or_problem(column)


def _whole_or_problem(column: Any) -> object:
    try:
        return convert("epoch", column).to_pylist()
    except BadValueError as error:
        return error.problem
