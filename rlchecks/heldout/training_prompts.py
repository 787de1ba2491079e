"""The training prompts from files of their own: the whole set, where a log shows only some."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from rlchecks.errors import InputError
from rlchecks.heldout.rawrows import first_line
from rlchecks.readers.text import clean, decode, listing, place
from rlchecks.run import InputFile

COLUMNS = ("prompt", "question", "problem", "instruction", "messages")
"""Columns that hold prompts; of several all are read."""

EXTENSIONS = (".jsonl", ".ndjson", ".json", ".csv", ".parquet", ".txt")
"""What is read of a directory."""

_EXPECTED = "name one of the columns prompt, question, problem, instruction or messages"


class TrainingPrompts(NamedTuple):
    """The prompts of one or more files.

    Attributes:
        prompts: the different prompts; chat messages as JSON.
        inputs: the files.
    """

    prompts: frozenset[str]
    inputs: tuple[InputFile, ...]


def read_training_prompts(paths: Sequence[str | Path]) -> TrainingPrompts:
    """Read the training prompts.

    Args:
        paths: Parquet, JSON Lines, a JSON list of objects or texts, CSV with a header, or text with a prompt a line; or
            directories, of which such files directly in them are read.

    Raises:
        InputError: there is no such file, it cannot be read, or it has no column or no value that holds a prompt.
    """
    prompts: set[str] = set()
    inputs = []
    for path in [file for given in paths for file in _files(Path(given))]:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise InputError(f"the file cannot be read ({error.strerror or error})", path=place(path)) from None
        inputs.append(InputFile(str(path), hashlib.sha256(data).hexdigest(), len(data)))
        found = {text for value in _values(data, path) if (text := _text(value)).strip()}
        prompts |= found
        if not found:
            raise InputError("there is no prompt", path=place(path), todo="give a file with training prompts")
    return TrainingPrompts(frozenset(prompts), tuple(inputs))


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise InputError(
            "there is no such file or directory", path=place(path), todo="give the path of the training prompts"
        )
    if not path.is_dir():
        return [path]
    found = sorted(file for file in path.iterdir() if file.suffix.lower() in EXTENSIONS and file.is_file())
    if not found:
        raise InputError(
            f"the directory has no file that ends in {', '.join(EXTENSIONS)}",
            path=place(path),
            todo="give the file with the training prompts",
        )
    return found


def _values(data: bytes, path: Path) -> Iterable[object]:
    if data.startswith(b"PAR1"):
        return _parquet(data, path)
    text = decode(data, path)
    suffix = path.suffix.lower()
    if text.lstrip()[:1] == "[" and suffix not in (".csv", ".txt", ".jsonl", ".ndjson"):
        items: Any = _json(text, path, None)
        return _objects([(f"[{index}]", item) for index, item in enumerate(items)], path)
    if text.lstrip()[:1] == "{" or suffix in (".jsonl", ".ndjson", ".json"):
        lines = [(f"line {number}", line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        return _objects([(where, _json(line, path, where)) for where, line in lines], path)
    return _csv(text, path) if suffix == ".csv" else text.splitlines()


def _parquet(data: bytes, path: Path) -> Iterable[object]:
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        columns = _columns(file.schema_arrow.names, path)
        return [value for column in file.read(columns=columns).columns for value in column.to_pylist()]
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        problem = f"the Parquet file is not readable ({first_line(error)})"
        raise InputError(problem, path=place(path), todo="write it again") from None


def _csv(text: str, path: Path) -> Iterable[object]:
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        columns = _columns(reader.fieldnames or (), path)
        return [row[name] for row in reader for name in columns]
    except csv.Error as error:
        raise InputError(
            f"the CSV is not readable ({error})", path=place(path), where=f"line {reader.line_num}"
        ) from None


def _objects(items: Sequence[tuple[str, object]], path: Path) -> Iterable[object]:
    """The prompts of JSON values: of objects by their keys; a text is a prompt, a list its messages."""
    for where, item in items:
        if isinstance(item, str | list):
            yield item
        elif isinstance(item, Mapping):
            yield from (item[name] for name in _columns(list(item), path, where))
        else:
            raise InputError("expected an object, a text or messages", path=place(path), where=where, todo=_EXPECTED)


def _json(text: str, path: Path, where: str | None) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else getattr(error, "msg", error)
        raise InputError(f"this is no complete JSON ({reason})", path=place(path), where=where) from None


def _columns(names: Sequence[str], path: Path, where: str | None = None) -> list[str]:
    columns = [name for name in names if name.strip().lower() in COLUMNS]
    if not columns:
        problem = f"no column holds prompts (found: {listing(names)})"
        raise InputError(problem, path=place(path), where=where, todo=_EXPECTED)
    return columns


def _text(value: object) -> str:
    if value is None:
        return ""
    return clean(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))
