from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlchecks.errors import InputError
from rlchecks.readers import stream
from rlchecks.readers.json_document import JsonDocument

Write = Callable[[str, str | bytes], Path]

VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers(-(2**70), 2**70) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)
SPACE = st.sampled_from(["", " ", "\n", "\r\n\t"])


def read(path: Path) -> Any:
    """Read a document with a list or object at its top piece by piece."""
    document = JsonDocument(path)
    found: Any
    if document.opens() == "[":
        found = list(document.elements())
    elif document.opens() == "{":
        found = {}
        for key in document.members():
            found[key] = list(document.elements()) if document.opens() == "[" else document.value()
    else:
        found = document.value()
    document.close()
    return found


@pytest.fixture(params=[3, 7, 1 << 20])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Have files read in blocks of so many bytes."""
    monkeypatch.setattr(stream.Stream.blocks, "__defaults__", (request.param,))
    return int(request.param)


@settings(deadline=None)
@given(value=VALUES, space=SPACE, block=st.integers(1, 40))
def test_a_document_is_what_json_makes_of_it(
    value: Any, space: str, block: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("document") / "a.json"
    text = space + json.dumps(value, separators=(space + ",", ":" + space), ensure_ascii=bool(space)) + space
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream.Stream.blocks, "__defaults__", (block,))
        assert repr(read(path)) == repr(json.loads(text))


def outcome(reading: Callable[[Path], Any], path: Path) -> str:
    """Read a file, and write what came of it: the document or where it is damaged."""
    try:
        return repr(reading(path))
    except json.JSONDecodeError as error:
        return f"line {error.lineno}, column {error.colno}"
    except InputError as error:
        return str(error.where)


DOCUMENT = '{"a": [1, {"b": "x\\u00e9é\\n"}, -2.5e-3], "c": [true, null],\n "d": {"e": NaN}, "f": "\\\\"}'


def test_every_beginning_of_a_document_is_refused_where_json_refuses_it(block: int, write: Write) -> None:
    for length in range(1, len(DOCUMENT)):
        text = DOCUMENT[:length]
        with pytest.raises(json.JSONDecodeError) as expected:
            json.loads(text)
        with pytest.raises(InputError, match="no valid JSON") as caught:
            read(write("a.json", text))
        where = f"line {expected.value.lineno}, column {expected.value.colno}"
        assert (caught.value.where, expected.value.msg) == (where, str(caught.value.problem)[15:-1])
        assert caught.value.todo == "the file may be cut off or not written to its end"


@pytest.mark.parametrize("position", range(len(DOCUMENT)))
def test_damage_in_a_document_is_refused_where_json_refuses_it(position: int, block: int, write: Write) -> None:
    for put in ("#", "", ",", "]"):
        path = write("a.json", DOCUMENT[:position] + put + DOCUMENT[position + 1 :])
        assert outcome(read, path) == outcome(lambda path: json.loads(path.read_text()), path)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"[" + b"[" * 100_000, "nested too deeply"),
        (b'{"a": ' + b"1" * 5000 + b"}", "a number cannot be read"),
        (b"\xff\xfe{\0}\0", "UTF-16"),
        (b"{\0}\0", "UTF-16"),
        (b"\x1f\x8b123", "gzip"),
        (b'["a",\n"\xff"]', "line 2: the text is no UTF-8; save it as UTF-8"),
        (b'["\xc3', "line 1: the text is no UTF-8"),
        (b"[1] 2", r"line 1, column 5: no valid JSON \(Extra data\)"),
        (b'{"a": 1} {', r"line 1, column 10: no valid JSON \(Extra data\)"),
        (b" \n", r"line 2, column 1: no valid JSON \(Expecting value\)"),
        (b"", "the file is empty"),
    ],
)
def test_what_is_no_json_is_refused(data: bytes, reason: str, block: int, write: Write) -> None:
    with pytest.raises(InputError, match=reason):
        read(write("a.json", data))


def test_a_byte_order_mark_is_passed_over(block: int, write: Write) -> None:
    assert read(write("a.json", "\ufeff[1]")) == [1]


def test_objects_with_a_key_given_twice_are_counted_once(block: int, write: Write) -> None:
    path = write("a.json", '{"a": [{"x": 1, "x": 2, "x": 3}, {"y": {"z": 1, "z": 1}}], "b": 1, "b": 2, "b": 3}')
    document = JsonDocument(path)
    found = {key: document.value() for key in document.members()}
    assert found == {"a": [{"x": 3}, {"y": {"z": 1}}], "b": 3}
    assert document.warnings == ("3 objects with a key given twice: the last value counts",)


def test_a_value_that_is_too_long_to_be_held_is_refused(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream.Stream.blocks, "__defaults__", (64,))
    path = write("a.json", '[1,\n"' + "x" * 1000 + '"]')
    assert len(list(JsonDocument(path, longest=1100).elements())) == 2
    with pytest.raises(InputError, match="line 2: a value longer than 100 characters, the most that is read"):
        list(JsonDocument(path, longest=100).elements())


def test_a_long_document_is_never_held_as_a_whole(write: Write) -> None:
    path = write("a.json", "[" + ",\n".join(["[" + "1," * 5000 + "1]"] * 500) + "]")
    document = JsonDocument(path)
    assert sum(len(element) for element in document.elements()) == 500 * 5001
    assert len(document._text) < 3 << 20 < document.taken
