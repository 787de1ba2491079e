"""Held-out questions from JSON Lines, CSV or Parquet."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlchecks.errors import InputError
from rlchecks.heldout.names import listed, shown

_ROLES = ("system", "user", "assistant")
_EXPECTED = (
    "a question has question_id, prompt (or messages) and target, and may have category, cluster and choices; name "
    "columns of your own with --column OWN=NAME"
)


@dataclass(frozen=True)
class Question:
    """One held-out question.

    Attributes:
        id: its id, unique in the file.
        messages: role and text of what the model is shown.
        targets: right answers, of which one suffices; empty where a judge needs none.
        category: kind of question.
        cluster: what several questions have in common, so that they are not independent.
        choices: the options of a multiple-choice question.
    """

    id: str
    messages: tuple[tuple[str, str], ...]
    targets: tuple[str, ...] = ()
    category: str | None = None
    cluster: str | None = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Questions:
    """The questions of one file.

    Attributes:
        path: the file.
        sha256: of its bytes.
        items: the questions in the file's order.
    """

    path: Path
    sha256: str
    items: tuple[Question, ...]


def read_questions(path: str | Path, columns: Mapping[str, str] | None = None) -> Questions:
    """Read a file of questions.

    Args:
        path: the file; its extension tells the format.
        columns: the file's own column to what it is.

    Raises:
        InputError: it cannot be read, a question is incomplete, or two have one id.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"the questions cannot be read ({error.strerror})", path=path) from None
    found: dict[str, Question] = {}
    for where, row in _rows(data, path):
        named = {**row, **{name: row[own] for own, name in (columns or {}).items() if own in row}}
        question = _question(named, path, where)
        if question.id in found:
            raise InputError(f"the question_id {shown(question.id)} is there twice", path=path, where=where)
        found[question.id] = question
    if not found:
        raise InputError("there is no question", path=path, todo=_EXPECTED)
    return Questions(path, hashlib.sha256(data).hexdigest(), tuple(found.values()))


def _rows(data: bytes, path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    suffix = path.suffix.lower()
    if data[:4] == b"PAR1" or suffix == ".parquet":
        yield from _parquet(data, path)
        return
    if suffix not in (".jsonl", ".ndjson", ".csv"):
        raise InputError("the format is not known", path=path, todo="give JSON Lines (.jsonl), .csv or .parquet")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = f"line {data.count(bytes([10]), 0, error.start) + 1}"
        raise InputError("the text is not UTF-8", path=path, where=where, todo="save the file as UTF-8") from None
    if suffix == ".csv":
        try:
            reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
            header = list(reader.fieldnames or ())
            doubled = sorted({name for name in header if header.count(name) > 1})
            if doubled:
                raise InputError(
                    f"the header names {listed(doubled)} twice", path=path, where="line 1", todo="rename one"
                )
            for number, row in enumerate(reader, start=1):
                yield f"row {number}", {name: value for name, value in row.items() if isinstance(name, str) and value}
        except csv.Error as error:
            raise InputError(f"the CSV is not readable ({error})", path=path) from None
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"line {number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            raise InputError("this is no JSON", path=path, where=where, todo="write one object a line") from None
        if not isinstance(row, dict):
            raise InputError("this is no JSON object", path=path, where=where, todo="write one object a line")
        yield where, row


def _parquet(data: bytes, path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows = pq.read_table(pa.BufferReader(data)).to_pylist()
    except (pa.ArrowException, OSError, ValueError) as error:
        problem = f"the Parquet file is not readable ({str(error).splitlines()[0][:200]})"
        raise InputError(problem, path=path) from None
    for number, row in enumerate(rows, start=1):
        yield f"row {number}", {str(name): value for name, value in row.items() if value is not None}


def _question(row: Mapping[str, Any], path: Path, where: str) -> Question:
    def wrong(problem: str) -> InputError:
        return InputError(problem, path=path, where=where, todo=_EXPECTED)

    name = _text(row.get("question_id"))
    if not name:
        raise wrong("there is no question_id")
    if not name.isprintable():
        raise wrong(f"the question_id {shown(name)} holds a sign that cannot be printed")
    messages = _messages(row.get("messages") or row.get("prompt"))
    if not messages:
        raise wrong("there is no prompt that is text or a list of messages with role and content, the last a user's")
    targets, choices = _texts(row.get("target")), _texts(row.get("choices"))
    if targets is None:
        raise wrong("the target is neither text, nor a number, nor a list of them")
    if choices is None or (isinstance(row.get("choices"), str) and len(choices) == 1) or len(choices) > 26:
        raise wrong("the choices are no list of at most 26 texts")
    category, cluster = _text(row.get("category")), _text(row.get("cluster"))
    told = (*(text for _, text in messages), *targets, *choices, category or "", cluster or "")
    if not _is_utf8(told):
        raise wrong("a text holds half a surrogate pair, which UTF-8 cannot")
    return Question(name, messages, targets, category, cluster, choices)


def _is_utf8(texts: Iterable[str]) -> bool:
    try:
        return all(text.encode() or True for text in texts)
    except UnicodeEncodeError:
        return False


def _messages(value: object) -> tuple[tuple[str, str], ...]:
    if isinstance(value, str):
        if not value.lstrip().startswith('[{"role"'):
            return (("user", value),) if value.strip() else ()
        try:  # a list in a CSV cell
            value = json.loads(value)
        except (ValueError, RecursionError):
            return ()
    found = []
    for message in value if isinstance(value, list) else []:
        role, content = (message.get("role"), message.get("content")) if isinstance(message, dict) else (None, None)
        if role not in _ROLES or not isinstance(content, str):
            return ()
        found.append((str(role), content))
    return tuple(found) if found and found[-1][0] == "user" else ()


def _text(value: object) -> str | None:
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _texts(value: object) -> tuple[str, ...] | None:
    """The texts of a value or of a list, without blank ones; None where one of them is no text."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            parsed = json.loads(value)
            value = parsed if isinstance(parsed, list) and all(isinstance(one, str) for one in parsed) else value
        except (ValueError, RecursionError):
            pass
    values = value if isinstance(value, list) else [] if value is None else [value]
    texts = [one if isinstance(one, str) else _text(one) for one in values]
    return None if None in texts else tuple(text for text in texts if text and text.strip())
