"""Single files about a fine-tuning job at OpenAI: which kind one is, and its rows.

Events and checkpoints, as the API lists them (``{"data": [...]}``), as a list, or one a line; and the result file where
it is base64 text. As plain CSV it is a table, which :mod:`rlchecks.readers.table` reads.
"""

from __future__ import annotations

import base64
import binascii
import csv
import io
import re
from pathlib import Path
from typing import NamedTuple

from rlchecks.errors import InputError, NotARunError
from rlchecks.readers.files import parse_json, read_bytes
from rlchecks.readers.json_lines import JsonLines
from rlchecks.readers.openai_events import Collected
from rlchecks.readers.rows import Row
from rlchecks.readers.text import counted, decode, place
from rlchecks.run import InputFile

ENCODED = frozenset({".csv", ".txt", ".b64"})
"""Extensions that a result file in base64 may have."""

LISTED = frozenset({".json", ".jsonl"})
"""Extensions of listings."""

EVENTS, CHECKPOINTS, RESULTS = "events", "checkpoints", "results"
"""Kinds of files."""

_OBJECT = re.compile(rb'"object"\s*:\s*"fine_tuning\.job\.(event|checkpoint)"')
_METRICS = re.compile(rb'"type"\s*:\s*"metrics"')
_REWARD = re.compile(rb'"(?:train_reward_mean|train_mean_reward)"')
_BASE64 = re.compile(rb"[A-Za-z0-9+/\r\n]{64,}={0,2}\s*")
_HEADER = re.compile(rb"(?:^|,)\s*\"?(?:train_mean_reward|full_valid_mean_reward)\"?\s*(?:,|\r?\n)")


class Found(NamedTuple):
    """Rows in the order of the training, planned steps, the record of the reading, what to tell about it."""

    rows: list[Row]
    planned: int | None
    source: InputFile
    warnings: tuple[str, ...]


def kind_of(path: Path, head: bytes) -> str | None:
    """Tell the kind of a file; a result file is one of ``RESULTS`` only if it is base64 text."""
    suffix = path.suffix.lower()
    if suffix in ENCODED:
        return RESULTS if _is_encoded(head) else None
    found = _OBJECT.search(head) if suffix in LISTED else None
    if found:
        return EVENTS if found[1] == b"event" else CHECKPOINTS
    return EVENTS if suffix in LISTED and _METRICS.search(head) and _REWARD.search(head) else None


def has_results(head: bytes) -> bool:
    """Whether a file begins with the header of a result file."""
    return _HEADER.search(head.partition(b"\n")[0] + b"\n") is not None


def load(path: Path) -> Found:
    """Read a file of one of the kinds.

    Raises:
        InputError: it cannot be read; NotARunError: there are no metrics in it.
    """
    return _decoded(path) if path.suffix.lower() in ENCODED else _listed(path)


def _listed(path: Path) -> Found:
    collected = Collected()
    if path.suffix.lower() == ".jsonl":
        lines = JsonLines(path)
        for _, line in lines:
            collected.add(line)
        source, warnings = lines.source, list(lines.warnings)
    else:
        contents = read_bytes(path)
        document, repeated = parse_json(contents.data, path)
        collected.add(document)
        source, warnings = contents.source, []
        if repeated:
            warnings.append(f"{counted(repeated, 'object')} with a key given twice: the last value counts")
    rows = collected.rows()
    if not rows:
        problem = f"none of {collected.others} entries is an event with metrics or a checkpoint of a fine-tuning job"
        raise NotARunError(problem, path=place(path))
    return Found(rows, collected.planned(), source, tuple(warnings))


def _is_encoded(head: bytes) -> bool:
    """Whether a file is base64 text of a table with the columns of a result file."""
    if not _BASE64.fullmatch(head):
        return False
    letters = re.sub(rb"\s", b"", head)
    try:
        beginning = base64.b64decode(letters[: len(letters) // 4 * 4])
    except binascii.Error:
        return False
    return has_results(beginning)


def _decoded(path: Path) -> Found:
    contents = read_bytes(path)
    try:
        data = base64.b64decode(re.sub(rb"\s", b"", contents.data), validate=True)
    except binascii.Error as error:
        todo = "the file may be cut off"
        raise InputError(f"no valid base64 text ({error})", path=place(path), todo=todo) from error
    lines = csv.reader(io.StringIO(decode(data, path), newline=""), strict=True)
    rows: list[Row] = []
    warnings = ["the file was base64 text: decoded"]
    short: int | None = None
    try:
        header = [name.strip() for name in next(lines, [])]
        for cells in filter(None, lines):
            if short is not None or len(cells) > len(header):
                problem = f"another number of cells than the {len(header)} of the header"
                raise InputError(problem, path=place(path), where=f"line {short or lines.line_num}")
            if len(cells) < len(header):
                short = lines.line_num
                continue
            rows.append({name: cell if cell.strip() else None for name, cell in zip(header, cells, strict=True)})
    except csv.Error as error:
        raise InputError(f"no valid CSV ({error})", path=place(path), where=f"line {lines.line_num}") from error
    if short is None and rows and not data.endswith(b"\n"):
        # Its last number may be cut off.
        short = lines.line_num
        rows.pop()
    if short is not None:
        warnings.append(f"line {short} was not written to its end: left out")
    if not rows:
        raise InputError("the table has no rows", path=place(path))
    return Found(rows, None, contents.source, tuple(warnings))
