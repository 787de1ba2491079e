from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rlchecks.errors import InputError, UsageError
from rlchecks.heldout import ComparisonRequest, compare, read_rows

OWN = {"qid": "question_id", "correct": "score", "text": "answer"}
ROWS = [{"qid": 1, "correct": True, "text": "a", "x": 1}, {"qid": 2, "correct": False, "text": "b", "x": 2}]


def written(folder: Path, kind: str) -> Path:
    path = folder / f"base.{kind}"
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(ROWS), path)
    elif kind == "csv":
        path.write_text("qid,correct,text,x\r\n1,true,a,1\r\n2,false,b,2\r\n")
    elif kind == "json":
        path.write_text('[{"qid": 1, "correct": true, "text": "a"}, {"qid": "2", "correct": 0, "text": "b"}]')
    else:
        path.write_text('{"qid": 1, "correct": true, "text": "a"}\n{"qid": "2", "correct": "0", "text": "b"}\n')
    return path


@pytest.mark.parametrize("kind", ["jsonl", "json", "csv", "parquet"])
def test_named_columns_read_alike_in_every_format(tmp_path: Path, scores: Any, kind: str) -> None:
    rows = read_rows([written(tmp_path, kind)], OWN)
    assert scores(rows) == {("base", "correct"): {"1": 1.0, "2": 0.0}}
    assert rows.table["answer"].to_pylist() == ["a", "b"]
    assert rows.table["step"].to_pylist() == [0, 0]


def test_a_path_says_which_checkpoint_it_is_of(tmp_path: Path, scores: Any) -> None:
    path = written(tmp_path, "csv")
    assert set(scores(read_rows([f"checkpoint-40={path}"], OWN))) == {("checkpoint-40", "correct")}


def test_a_path_that_exists_as_written_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "csv").rename("lr=1.csv")
    assert read_rows(["lr=1.csv"], OWN).table["checkpoint"].to_pylist() == ["lr=1", "lr=1"]
    assert read_rows(["new=lr=1.csv"], OWN).table["checkpoint"].to_pylist() == ["new", "new"]
    with pytest.raises(InputError, match="no such file"):
        read_rows(["new=lr=2.csv"], OWN)


def test_several_scores_are_several_judges(write: Any, scores: Any) -> None:
    path = write("base.jsonl", [{"question_id": "a", "right": 1, "tone": 0.5}])
    found = scores(read_rows([path], {"right": "score", "tone": "score"}))
    assert found == {("base", "right"): {"a": 1.0}, ("base", "tone"): {"a": 0.5}}


def test_inner_keys_are_named_with_dots(write: Any, scores: Any) -> None:
    path = write("base.jsonl", [{"doc": {"id": 7}, "metrics": {"f1": 0.25}}, {"doc": {"id": 8}, "metrics": None}])
    found = scores(read_rows([path], {"doc.id": "question_id", "metrics.f1": "score"}))
    assert found == {("base", "metrics.f1"): {"7": 0.25, "8": None}}


def test_a_summary_of_repeats_stands_for_its_answers(write: Any, scores: Any) -> None:
    own = {"q": "question_id", "right": "n_correct", "of": "n_answers"}
    lines = [{"q": 1, "right": 1, "of": 3}, {"q": 2, "right": 3, "of": 3}, {"q": 3, "right": None, "of": 3}]
    found = scores(read_rows([write("base.jsonl", lines)], own))["base", "right"]
    assert found == {"1#0": 1.0, "1#1": 0.0, "1#2": 0.0, "2#0": 1.0, "2#1": 1.0, "2#2": 1.0, "3": None}


def test_a_summary_compares_as_the_answers_themselves_would(write: Any) -> None:
    own = {"q": "question_id", "right": "n_correct", "of": "n_answers"}
    answers = {"base": [0, 2, 4, 1], "step_9": [3, 2, 4, 4]}
    summaries, singles = [], []
    for name, counts in answers.items():
        summaries.append(write(f"s/{name}.jsonl", [{"q": str(q), "right": n, "of": 4} for q, n in enumerate(counts)]))
        rows = [
            {"question_id": str(q), "checkpoint": name, "judge": "right", "score": int(k < n), "epoch": k}
            for q, n in enumerate(counts)
            for k in range(4)
        ]
        singles.append(write(f"a/{name}.jsonl", rows))
    request = ComparisonRequest(baseline="base", candidate="step_9")
    one, other = (compare(read_rows(paths, columns), request) for paths, columns in ((summaries, own), (singles, None)))
    assert one.document == other.document
    assert one.document["difference"] == pytest.approx(6 / 16)


@pytest.mark.parametrize(
    ("right", "of"), [(4, 3), (-1, 3), (1.5, 3), (1, 0), (0, 10**9), ("x", 3), (1, "many"), (True, 3)]
)
def test_an_impossible_summary_is_refused(write: Any, right: Any, of: Any) -> None:
    path = write("base.jsonl", [{"question_id": "a", "n_correct": right, "n_answers": of}])
    with pytest.raises(InputError, match="expected 0 to 100,000"):
        read_rows([f"base={path}"])


@pytest.mark.parametrize("value", ["", None, "N/A", "nan", "garbage", "error", "None"])
def test_what_says_that_there_is_no_score_is_unscored(write: Any, scores: Any, value: Any) -> None:
    path = write("base.jsonl", [{"qid": 1, "correct": value, "text": ""}])
    assert scores(read_rows([path], OWN)) == {("base", "correct"): {"1": None}}


@pytest.mark.parametrize("value", ["good", [1], {"a": 1}, "1_000", "inf"])
def test_what_is_no_score_is_refused_with_its_line(write: Any, value: Any) -> None:
    path = write("base.jsonl", [{"qid": 0, "correct": 1, "text": ""}, {"qid": 1, "correct": value, "text": ""}])
    with pytest.raises(InputError, match=r"line 2: 'correct' is .* expected a number"):
        read_rows([path], OWN)


def test_rows_of_one_checkpoint_can_be_given_another_name(write: Any, scores: Any) -> None:
    row = {"question_id": "a", "checkpoint": "x", "judge": "j", "score": 1, "step": 7}
    path = write("rows.jsonl", [row])
    rows = read_rows([f"new={path}"])
    assert scores(rows) == {("new", "j"): {"a": 1.0}}
    assert rows.table["step"].to_pylist() == [7]
    path = write("rows.jsonl", [row, row | {"checkpoint": "y"}])
    with pytest.raises(UsageError, match="several models \\('x', 'y'\\)"):
        read_rows([f"new={path}"])


def test_columns_are_checked(write: Any) -> None:
    path = write("base.jsonl", ROWS)
    with pytest.raises(UsageError, match="there is no such column"):
        read_rows([path], {"qid": "question"})
    rows = write("rows.jsonl", [{"question_id": "a", "checkpoint": "x", "judge": "j", "score": 1}])
    with pytest.raises(UsageError, match="No held-out file has the columns 'id'"):
        read_rows([rows], {"id": "question_id"})
    for columns, problem in (
        ({"qid": "question_id", "x": "question_id"}, "'qid', 'x' are all named question_id"),
        ({"qid": "question_id"}, "no column score"),
        ({"id": "question_id"}, "no column 'id' .found: 'qid', 'correct', 'text', 'x'."),
        ({"correct": "score"}, "no column question_id"),
    ):
        with pytest.raises(InputError, match=problem):
            read_rows([path], columns)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("qid,correct,text\n1,1\n", "line 2: the row has 2 fields"),
        ('qid,correct,text\n1,1,"a\n', "line 2: the row is not complete CSV"),
        ("qid,correct,text\n", "there is no row"),
        ("qid,correct,text\n,1,a\n", "question_id is empty"),
    ],
)
def test_bad_csv_names_its_line(write: Any, text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read_rows([write("base.csv", text)], OWN)
