from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rlchecks.errors import InputError
from rlchecks.evaluation.questions import Question, read_questions


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


EXPECTED = (
    Question("1", (("user", "one?"),), ("1",), "easy", "a", ()),
    Question("b", (("user", "which?"),), ("oak", "fig"), None, None, ("oak", "elm", "fig")),
)


def test_the_three_formats_hold_the_same(tmp_path: Path) -> None:
    rows = [
        {"question_id": "1", "prompt": "one?", "target": "1", "category": "easy", "cluster": "a"},
        {"question_id": "b", "prompt": "which?", "target": ["oak", "fig"], "choices": ["oak", "elm", "fig"]},
    ]
    lines = written(tmp_path / "q.jsonl", "\n".join(map(json.dumps, rows)) + "\n\n")
    table = written(
        tmp_path / "q.csv",
        "question_id,prompt,target,category,cluster,choices\r\n1,one?,1,easy,a,\r\n"
        'b,which?,"[""oak"", ""fig""]",,,"[""oak"", ""elm"", ""fig""]"\r\n',
    )
    pq.write_table(
        pa.table(
            {
                "question_id": ["1", "b"],
                "prompt": ["one?", "which?"],
                "target": [["1"], ["oak", "fig"]],
                "category": ["easy", None],
                "cluster": ["a", None],
                "choices": [None, ["oak", "elm", "fig"]],
            }
        ),
        tmp_path / "q.parquet",
    )
    for path in (lines, table, tmp_path / "q.parquet"):
        assert read_questions(path).items == EXPECTED


def test_own_columns_are_named(tmp_path: Path) -> None:
    path = written(tmp_path / "q.jsonl", json.dumps({"id": 3, "problem": "2+2", "answer": 4.0}))
    (question,) = read_questions(path, {"id": "question_id", "problem": "prompt", "answer": "target"}).items
    assert question == Question("3", (("user", "2+2"),), ("4",))


def test_a_prompt_may_be_messages(tmp_path: Path) -> None:
    talk = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
    path = written(tmp_path / "q.jsonl", json.dumps({"question_id": "a", "prompt": talk}))
    assert read_questions(path).items[0].messages == (("system", "s"), ("user", "u"))


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ({"prompt": "p"}, "line 1: there is no question_id"),
        ({"question_id": "a"}, "there is no prompt"),
        ({"question_id": "a", "prompt": " "}, "there is no prompt"),
        ({"question_id": "a", "messages": [{"role": "assistant", "content": "x"}]}, "there is no prompt"),
        ({"question_id": "a", "messages": [{"role": "tool", "content": "x"}]}, "there is no prompt"),
        ({"question_id": "a", "prompt": "p", "target": {"x": 1}}, "the target is neither"),
        ({"question_id": "a", "prompt": "p", "choices": "oak or fig"}, "the choices are no list"),
        ({"question_id": "a", "prompt": "p", "choices": ["x"] * 27}, "the choices are no list"),
    ],
)
def test_an_incomplete_question_is_one_sentence(tmp_path: Path, row: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        read_questions(written(tmp_path / "q.jsonl", json.dumps(row)))


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("q.jsonl", "", "there is no question"),
        ("q.jsonl", "{", "line 1: this is no JSON"),
        ("q.jsonl", "[1]", "this is no JSON object"),
        ("q.txt", "x", "the format is not known"),
        ("q.parquet", "x", "the Parquet file is not readable"),
        ("q.jsonl", '{"question_id": "a", "prompt": "p"}\n' * 2, "line 2: the question_id 'a' is there twice"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_sentence(tmp_path: Path, name: str, text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        read_questions(written(tmp_path / name, text))


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the questions cannot be read"):
        read_questions(tmp_path / "none.jsonl")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"question_id": "a\\u0000b", "prompt": "x", "target": 1}', "cannot be printed"),
        ('{"question_id": NaN, "prompt": "x", "target": 1}', "no question_id"),
        ('{"question_id": "a", "prompt": "x", "target": 1e999}', "the target is neither"),
        ('{"question_id": "a", "prompt": "x\\ud800", "target": 1}', "half a surrogate pair"),
    ],
)
def test_texts_that_no_log_can_keep_are_refused(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read_questions(written(tmp_path / "q.jsonl", text))


def test_a_header_that_names_a_column_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the header names 'prompt' twice"):
        read_questions(written(tmp_path / "q.csv", "question_id,prompt,prompt\n1,a,b\n"))


def test_a_blank_target_is_none(tmp_path: Path) -> None:
    path = written(tmp_path / "q.jsonl", '{"question_id": "a", "prompt": "x", "target": " "}')
    assert read_questions(path).items[0].targets == ()
