"""Held-out rows: the answers of several checkpoints to the same questions, scored by one or more judges."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from rlchecks.errors import InputError
from rlchecks.heldout.harness.given import Given, files_of
from rlchecks.heldout.harness.log import EvalLog, JudgeFacts
from rlchecks.heldout.harness.reading import check_columns, check_used, read_log
from rlchecks.heldout.harness.settle import settle
from rlchecks.heldout.harness.source import Source
from rlchecks.heldout.rawrows import RawRows
from rlchecks.heldout.rowfiles import parse
from rlchecks.heldout.values import BadValueError, convert
from rlchecks.run import InputFile
from rlchecks.schema import EVALUATIONS


@dataclass(frozen=True)
class HeldoutRows:
    """Held-out rows of one or more files.

    Attributes:
        table: :data:`rlchecks.schema.EVALUATIONS`; ``run_id`` is empty until the rows are archived. A null score is
            unanswered or unscored, never zero.
        inputs: the files, in the order they were read.
        warnings: what a person should know about the reading, one sentence each.
        judges: what evaluation logs tell of the judges; a judge of plain rows is not among them.
        alike: what evaluation logs tell of the questions, :data:`rlchecks.heldout.harness.settle.ALIKE`.
    """

    table: pa.Table
    inputs: tuple[InputFile, ...] = ()
    warnings: tuple[str, ...] = ()
    judges: tuple[JudgeFacts, ...] = ()
    alike: pa.Table | None = None


class _File(NamedTuple):
    given: Given
    digest: str
    content: RawRows | EvalLog


def read_rows(paths: Sequence[str | Path], columns: Mapping[str, str] | None = None) -> HeldoutRows:
    """Read held-out rows.

    Args:
        paths: held-out rows (JSON Lines, CSV, Parquet), evaluation logs of other programs, or directories of them, each
            also as ``NAME=PATH``: see :func:`rlchecks.heldout.harness.given.files_of`.
        columns: own name of a column to what it is, for results that are neither.

    Returns:
        All rows in one table. Identifiers that were numbers are text. Scores are numbers, numeric text or truth
        values; null, NaN, empty text and ``N/A`` are unscored.

    Raises:
        InputError: there is no file, or one cannot be read: which, where in it, and what was expected.
        UsageError: a column cannot be named so, or two files hold the same answers.
    """
    columns = columns or {}
    check_columns(columns)
    inputs: list[InputFile] = []
    files = [_read(given, columns, inputs) for given in files_of([paths] if isinstance(paths, str | Path) else paths)]
    logs = [(file.given, file.content) for file in files if isinstance(file.content, EvalLog)]
    check_used(columns, any(log.format == "columns" for _, log in logs))
    settled = settle(logs)
    of_logs = iter(settled.rows)
    tables: list[pa.Table] = []
    unknown: dict[str, list[str]] = {}
    doubled = 0
    for given, digest, content in files:
        raw = next(of_logs) if isinstance(content, EvalLog) else content
        tables.append(_table(raw, given.path, digest))
        doubled += raw.doubled
        for name in raw.unknown:
            unknown.setdefault(name, []).append(given.path.name)
    said = tuple(sentence for _, log in logs for sentence in log.warnings)
    return HeldoutRows(
        pa.concat_tables(tables),
        tuple(inputs),
        _unknown(unknown) + _doubled(doubled) + said,
        settled.judges,
        settled.alike,
    )


def _read(given: Given, columns: Mapping[str, str], inputs: list[InputFile]) -> _File:
    try:
        data = given.path.read_bytes()
    except OSError as error:
        raise InputError(f"the file cannot be read ({error.strerror or error})", path=given.path) from None
    digest = hashlib.sha256(data).hexdigest()
    inputs.append(InputFile(str(given.path), digest, len(data)))
    source = Source(given.path, data)
    log = read_log(source, given, columns)
    inputs += source.others
    return _File(given, digest, parse(data, given.path) if log is None else log)


def _table(raw: RawRows, path: Path, digest: str) -> pa.Table:
    columns = {}
    for name, column in raw.columns.items():
        try:
            columns[name] = convert(name, column)
        except BadValueError as error:
            raise InputError(error.problem, path=path, where=raw.locate(error.index)) from None
    columns["run_id"] = pa.repeat("", raw.count)
    columns["source_sha256"] = pa.repeat(digest, raw.count)
    return pa.table(
        [columns.get(field.name, pa.nulls(raw.count, field.type)) for field in EVALUATIONS], schema=EVALUATIONS
    )


def _doubled(objects: int) -> tuple[str, ...]:
    if not objects:
        return ()
    who = "One object names" if objects == 1 else f"{objects} objects name"
    return (f"{who} a key twice in the held-out rows; the last value was taken.",)


def _unknown(unknown: dict[str, list[str]]) -> tuple[str, ...]:
    if not unknown:
        return ()
    names = ", ".join(ascii(name)[:60] for name in list(unknown)[:20])
    more = f" and {len(unknown) - 20} more" if len(unknown) > 20 else ""
    files = len({file for found in unknown.values() for file in found})
    where = "one file" if files == 1 else f"{files} files"
    return (f"Columns that held-out rows do not know were ignored: {names}{more} (in {where}).",)
