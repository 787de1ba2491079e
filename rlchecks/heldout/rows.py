"""Held-out rows: the answers of several checkpoints to the same questions, scored by one or more judges."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from rlchecks.errors import InputError
from rlchecks.heldout.rowfiles import EXTENSIONS, parse
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
    """

    table: pa.Table
    inputs: tuple[InputFile, ...] = ()
    warnings: tuple[str, ...] = ()


def read_rows(paths: Sequence[str | Path]) -> HeldoutRows:
    """Read held-out rows.

    Args:
        paths: JSON Lines, CSV or Parquet files, or directories: those have all such files directly in them read.
            A file named twice is read once.

    Returns:
        All rows in one table. Identifiers that were numbers are text. Scores are numbers, numeric text or truth
        values; null, NaN, empty text and ``N/A`` are unscored.

    Raises:
        InputError: there is no file, or one cannot be read: which, where in it, and what was expected.
    """
    tables: list[pa.Table] = []
    inputs: list[InputFile] = []
    unknown: dict[str, list[str]] = {}
    doubled = 0
    for path in _files(paths):
        try:
            data = path.read_bytes()
        except OSError as error:
            raise InputError(f"the file cannot be read ({error.strerror or error})", path=path) from None
        digest = hashlib.sha256(data).hexdigest()
        raw = parse(data, path)
        columns = {}
        for name, column in raw.columns.items():
            try:
                columns[name] = convert(name, column)
            except BadValueError as error:
                raise InputError(error.problem, path=path, where=raw.locate(error.index)) from None
        columns["run_id"] = pa.repeat("", raw.count)
        columns["source_sha256"] = pa.repeat(digest, raw.count)
        tables.append(
            pa.table(
                [columns.get(field.name, pa.nulls(raw.count, field.type)) for field in EVALUATIONS], schema=EVALUATIONS
            )
        )
        inputs.append(InputFile(str(path), digest, len(data)))
        doubled += raw.doubled
        for name in raw.unknown:
            unknown.setdefault(name, []).append(path.name)
    return HeldoutRows(pa.concat_tables(tables), tuple(inputs), _unknown(unknown) + _doubled(doubled))


def _files(paths: Sequence[str | Path]) -> list[Path]:
    if isinstance(paths, str | Path):
        paths = [paths]
    files: dict[Path, Path] = {}
    for path in map(Path, paths):
        if path.is_dir():
            inside = sorted(
                file
                for file in path.iterdir()
                if file.suffix.lower() in EXTENSIONS and not file.name.startswith(".") and file.is_file()
            )
            if not inside:
                raise InputError(
                    "the directory holds no held-out rows directly in it",
                    path=path,
                    todo=f"give a directory with {', '.join(EXTENSIONS)} files, or the files",
                )
        elif path.exists():
            inside = [path]
        else:
            raise InputError("there is no such file or directory", path=path, todo="give the held-out rows' path")
        for file in inside:
            files.setdefault(file.resolve(), file)
    if not files:
        raise InputError("no held-out rows were given", todo="give at least one JSON Lines, CSV or Parquet file")
    return list(files.values())


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
