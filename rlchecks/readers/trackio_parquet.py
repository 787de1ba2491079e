"""The Parquet files that Trackio makes of a project: ``<project>.parquet`` and ``<project>_configs.parquet``.

For a static Space they are ``metrics.parquet`` and ``aux/configs.parquet``. One row for each call, one column for each
key, beside the columns of the database's table ``metrics``. They are written now and then, so that a database beside
them holds more. Source: ``export_to_parquet`` and ``export_for_static_space`` in trackio/sqlite_storage.py of
gradio-app/trackio.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from rlchecks.errors import InputError
from rlchecks.readers.files import read_bytes
from rlchecks.readers.parquet import first_row, read_table
from rlchecks.readers.rows import Rows
from rlchecks.readers.text import clean, place, shown
from rlchecks.readers.trackio_rows import TrackioLog, TrackioRun, call_of
from rlchecks.run import InputFile

_RUN_ID, _RUN_NAME = "run_id", "run_name"
_MARKS = frozenset({_RUN_NAME, "timestamp", "step"})
_OWN = frozenset({"id", _RUN_ID, "timestamp", _RUN_NAME, "step", "log_id", "space_id"})
_CONFIGS = "_configs"
_EXPORTED = "metrics"
# A few thousand rows of some dozen columns are some megabytes of Python's objects.
_AT_A_TIME = 2_000


class _File(NamedTuple):
    table: pa.Table
    source: InputFile


def is_mirror(path: Path) -> bool:
    """Whether a Parquet file has the columns that Trackio writes."""
    return first_row(path).keys() >= _MARKS


def configs_of(path: Path) -> Path:
    """Return where the settings of the runs in a file would be."""
    if path.stem == _EXPORTED:
        return path.with_name("aux") / f"configs{path.suffix}"
    return path.with_name(f"{path.stem}{_CONFIGS}{path.suffix}")


def mirrored_runs(path: Path) -> list[TrackioRun]:
    """List the runs in the order in which they were begun.

    Raises:
        InputError: the file cannot be read.
    """
    with _told(path):
        return _runs(_metrics(path).table)


def read_mirrored(path: Path, part: str) -> TrackioLog:
    """Read a run.

    Raises:
        InputError: the file cannot be read.
    """
    file = _metrics(path)
    rows = Rows(path)
    with _told(path):
        for row in _rows_of(file.table, part):
            rows.append(call_of({key: value for key, value in row.items() if key not in _OWN}, row["step"]))
    config, sources = _config(configs_of(path), part)
    return TrackioLog(rows, config, (file.source, *sources), ())


def _metrics(path: Path) -> _File:
    contents = read_bytes(path)
    table = read_table(contents.data, path)
    names = [clean(name) for name in table.column_names]
    missing = sorted(_MARKS - set(names))
    if missing or len(set(names)) < len(names):
        raise InputError("not the columns that Trackio writes, each once", path=place(path))
    return _File(table.rename_columns(names), contents.source)


def _identity(table: pa.Table) -> pa.ChunkedArray:
    return table[_RUN_ID if _RUN_ID in table.column_names else _RUN_NAME].cast(pa.string())


def _runs(table: pa.Table) -> list[TrackioRun]:
    names = dict(zip(_identity(table).to_pylist(), table[_RUN_NAME].cast(pa.string()).to_pylist(), strict=True))
    return [TrackioRun(clean(part), clean(name or "")) for part, name in names.items() if part is not None]


def _rows_of(table: pa.Table, part: str) -> Iterator[dict[str, object]]:
    chosen = table.filter(pc.equal(_identity(table), part))
    if "id" in chosen.column_names:
        chosen = chosen.take(pc.sort_indices(chosen["id"]))
    for batch in chosen.to_batches(max_chunksize=_AT_A_TIME):
        yield from batch.to_pylist()


def _config(path: Path, part: str) -> tuple[Mapping[str, object], tuple[InputFile, ...]]:
    if not path.is_file():
        return {}, ()
    contents = read_bytes(path)
    table = read_table(contents.data, path)
    if _RUN_NAME not in table.column_names:
        return {}, ()
    with _told(path):
        found = [*_rows_of(table, part)][-1:]
    return (found[0] if found else {}), (contents.source,)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        # Columns of kinds that Trackio does not write.
        raise InputError(f"unusable columns ({shown(str(error), 120)})", path=place(path)) from error
