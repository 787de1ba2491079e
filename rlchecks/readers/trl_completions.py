"""The answers that TRL logs: ``completions/completions_<step>.parquet``, since TRL 0.28.

Columns: ``step``, ``prompt``, ``completion`` (text, or a list of chat messages), the raw score of each reward
function, columns of the user's own, ``advantage``. At a step with an evaluation TRL overwrites the file with the
evaluation's answers, so there the split is ``eval``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from rlchecks.errors import InputError
from rlchecks.readers.answers import MAX_BYTES, evenly
from rlchecks.readers.files import read_bytes
from rlchecks.readers.maps import Series, number_map, text_map
from rlchecks.readers.parquet import read_table
from rlchecks.readers.steps import MAX_STEP
from rlchecks.readers.text import clean, counted, place
from rlchecks.readers.values import to_count, to_numbers, to_text
from rlchecks.run import InputFile
from rlchecks.schema import COMPLETIONS

MAX_TOTAL_BYTES = MAX_BYTES
"""Most bytes of completions files that are read for one run; of more, evenly spaced files are taken."""

_MAX_CELLS = 2_000_000
_NAME = re.compile(r"completions_(\d{1,12})\.parquet")
_OWN = ("step", "prompt", "completion", "advantage")


class Completions(NamedTuple):
    """Logged answers, the files they come from, and what to tell about them."""

    table: pa.Table
    inputs: tuple[InputFile, ...]
    warnings: tuple[str, ...]


def completion_files(directory: Path) -> list[tuple[int, Path]]:
    """List the completions files of an output directory by the step in their names."""
    try:
        entries = list((directory / "completions").iterdir())
    except OSError:
        return []
    return sorted((int(found[1]), entry) for entry in entries if (found := _NAME.fullmatch(entry.name)))


def read_completions(
    files: Sequence[tuple[int, Path]], run_id: str, graders: Collection[str], eval_steps: Collection[int]
) -> Completions:
    """Read completions files; one that cannot be read is left out and told about.

    Args:
        files: step and path of each file.
        run_id: id of the run.
        graders: names of the reward functions; if none are known, all other numbers are taken for scores.
        eval_steps: steps with an evaluation.
    """
    chosen = evenly(files, MAX_TOTAL_BYTES)
    warnings = []
    if len(chosen) < len(files):
        limit = f"at most {MAX_TOTAL_BYTES >> 20} MiB"
        warnings.append(f"completions: {len(chosen)} of {len(files)} files are read, evenly spaced ({limit})")
    tables: list[pa.Table] = []
    inputs: list[InputFile] = []
    failures: list[InputError] = []
    for step, path in chosen:
        try:
            contents = read_bytes(path, MAX_TOTAL_BYTES)
            table = _to_schema(read_table(contents.data, path, _MAX_CELLS), step, path, run_id, graders, eval_steps)
        except InputError as error:
            failures.append(error)
            continue
        inputs.append(contents.source)
        tables.append(table)
    if failures:
        number = counted(len(failures), "completions file")
        warnings.append(f"{number} left out: {failures[0]}")
    table = pa.concat_tables(tables).combine_chunks() if tables else COMPLETIONS.empty_table()
    return Completions(table, tuple(inputs), tuple(warnings))


def _to_schema(
    table: pa.Table, step: int, path: Path, run_id: str, graders: Collection[str], eval_steps: Collection[int]
) -> pa.Table:
    missing = [name for name in ("prompt", "completion") if name not in table.column_names]
    if missing:
        raise InputError(f"no column {' and '.join(missing)}", path=place(path))
    values = {name: table[name].to_pylist() for name in dict.fromkeys(table.column_names)}
    count = len(table)
    given = [to_count(value, MAX_STEP) for value in values.get("step", [None] * count)]
    steps = [step if value is None else value for value in given]
    rewards: dict[str, Series] = {}
    texts: dict[str, list[tuple[int, str]]] = {}
    for name, column in values.items():
        if name in _OWN:
            continue
        numbers = to_numbers(column)
        if name in graders or (not graders and not numbers.texts):
            rewards[clean(name)] = Series(np.flatnonzero(numbers.present), numbers.numbers[numbers.present])
        else:
            texts[clean(name)] = [(row, to_text(value)) for row, value in enumerate(column) if value is not None]
    advantage = to_numbers(values.get("advantage", [None] * count))
    columns = [
        pa.repeat(run_id, count),
        pa.array(["eval" if value in eval_steps else "train" for value in steps], pa.string()),
        pa.array(steps, pa.int64()),
        pa.array([_message_text(value) for value in values["prompt"]], pa.string()),
        pa.array([_message_text(value) for value in values["completion"]], pa.string()),
        pa.array(advantage.numbers, pa.float64(), mask=~advantage.present),
        number_map(count, rewards),
        text_map(count, texts),
    ]
    return pa.Table.from_arrays(columns, schema=COMPLETIONS)


def _message_text(value: object) -> str | None:
    """Write a prompt or an answer as text: of one chat message its content, of several each with its role."""
    if value is None or isinstance(value, str):
        return None if value is None else clean(value)
    given = value if isinstance(value, list) else [value]
    messages = [message for message in given if isinstance(message, dict) and "content" in message]
    if not messages or len(messages) < len(given):
        return to_text(value)
    contents = [_content_text(message["content"]) for message in messages]
    if len(contents) == 1:
        return contents[0]
    roles = [to_text(message.get("role") or "unknown") for message in messages]
    return "\n\n".join(f"{role}: {content}" for role, content in zip(roles, contents, strict=True))


def _content_text(content: object) -> str:
    if isinstance(content, list):
        parts = [part.get("text") if isinstance(part, dict) else part for part in content]
        if all(isinstance(part, str) for part in parts):
            return clean("\n".join(map(str, parts)))
    return "" if content is None else to_text(content)
