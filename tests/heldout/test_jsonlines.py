"""What JSON Lines hide from Arrow's reader: nulls in every row, deep nesting, keys named twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rlchecks.errors import InputError
from rlchecks.heldout import read_rows
from rlchecks.heldout.jsonlines import fast_rows
from rlchecks.heldout.values import BadValueError, convert

ROW = {"question_id": "q1", "checkpoint": "base", "judge": "exact", "score": 1}


def written(directory: Path, *rows: dict[str, object] | str, name: str = "rows.jsonl") -> Path:
    path = directory / name
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
    return path


@pytest.mark.parametrize("name", ["question_id", "checkpoint", "judge"])
def test_an_identifier_that_is_null_in_every_row_is_refused(tmp_path: Path, name: str) -> None:
    null = written(tmp_path, ROW | {name: None}, ROW | {name: None}, name="null.jsonl")
    good = written(tmp_path, ROW, name="good.jsonl")
    for paths in ([null], [good, null], [null, good]):
        with pytest.raises(InputError, match=f"{name} is empty") as caught:
            read_rows(paths)
        assert (caught.value.path, caught.value.where) == (str(null), "line 1")


def test_scores_that_are_null_in_every_row_are_unscored(tmp_path: Path) -> None:
    rows = read_rows([written(tmp_path, ROW | {"score": None}, ROW | {"score": None, "step": None})])
    assert rows.table["score"].to_pylist() == [None, None]


def nested(depth: int, between: str = "") -> str:
    """A row with an unknown value, nested; Arrow's reader, which recurses, dies of 20,000."""
    return json.dumps(ROW)[:-1] + ', "meta": ' + f"[{between}" * depth + f"]{between}" * depth + "}"


@pytest.mark.parametrize("between", ["", "\n", "\r\n"])
def test_deep_nesting_is_refused_with_its_line(tmp_path: Path, between: str) -> None:
    path = written(tmp_path, ROW, nested(20_000, between))
    with pytest.raises(InputError, match="no complete JSON object") as caught:
        read_rows([path])
    assert (caught.value.path, caught.value.where) == (str(path), "line 2")


def test_deep_objects_over_several_lines_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 1: the line is no complete JSON object"):
        read_rows([written(tmp_path, '{"a":\n' * 20_000 + "1" + "}\n" * 20_000)])


@pytest.mark.parametrize(
    ("name", "depth"), [(name, depth) for name in ("score", "category", "judge") for depth in (900, 20_000)]
)
def test_a_known_column_nested_deeply_is_one_clear_error(tmp_path: Path, name: str, depth: int) -> None:
    row = json.dumps(ROW | {name: 0}).replace(f'"{name}": 0', f'"{name}": {"[" * depth}{"]" * depth}')
    path = written(tmp_path, row)
    with pytest.raises(InputError) as caught:
        read_rows([path])
    assert (caught.value.where, len(str(caught.value)) < 400 + len(str(path))) == ("line 1", True)


@pytest.mark.parametrize("name", ["answer", "score"])
def test_a_value_too_deep_to_be_written_is_refused(name: str) -> None:
    value: list[object] = []
    for _ in range(10_000):
        value = [value]
    with pytest.raises(BadValueError, match=f"{name} is a deep list"):
        convert(name, [value])


def test_many_brackets_that_are_not_nested_are_read(tmp_path: Path) -> None:
    row = ROW | {"answer": "[{" * 5000, "meta": [[1]] * 2000}
    assert read_rows([written(tmp_path, row)]).table["answer"].to_pylist() == ["[{" * 5000]


@pytest.mark.parametrize("end", ["\n", "\r\n", "", "\n\n"])
def test_ordinary_lines_are_read_fast(end: str) -> None:
    text = "\n".join([json.dumps(ROW | {"answer": "a[0] = {}"})] * 3) + end
    assert fast_rows(text.encode(), text) is not None
    text = text.replace("\n", "\r\n")
    assert fast_rows(text.encode(), text) is not None


@pytest.mark.parametrize(
    ("lines", "warning"),
    [
        ([ROW], None),
        (['{"score":0,"score":1,"question_id":"q","checkpoint":"b","judge":"j"}'], "One object names a key twice"),
        ([ROW, *[json.dumps(ROW)[:-1] + ', "meta": {"a": 1, "a": 2}}'] * 2], "2 objects name a key twice"),
    ],
)
def test_keys_named_twice_are_said(tmp_path: Path, lines: list[dict[str, object] | str], warning: str | None) -> None:
    rows = read_rows([written(tmp_path, *lines)])
    assert rows.table["score"].to_pylist() == [1.0] * len(lines)
    found = [text for text in rows.warnings if "twice" in text]
    assert found == [] if warning is None else found[0].startswith(warning)
