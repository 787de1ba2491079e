"""Arrow tables as Parquet bytes and back, with the schema's version in the file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from rlchecks.archive.store import first_line
from rlchecks.errors import ArchiveError
from rlchecks.schema import COMPLETIONS, EVALUATIONS, RUNS, STEPS, VALIDATION, VERDICTS, VERSION

OWN = ("steps", "completions", "validation")
"""Tables that come with the run log, and change with it."""

LATER = ("evaluations", "signals")
"""Tables that are written for a run that is in the archive already."""

VERSION_KEY = b"rlchecks.schema_version"
TABLE_KEY = b"rlchecks.table"
"""Metadata of every Parquet file of an archive: which table it is of."""

_SCHEMAS = {
    "runs": RUNS,
    "steps": STEPS,
    "completions": COMPLETIONS,
    "validation": VALIDATION,
    "evaluations": EVALUATIONS,
    "verdicts": VERDICTS,
}
# Row groups are pruned by these; of metrics, statistics would only raise the question what a NaN does to them.
_WITH_STATISTICS = ("run_id", "split", "step")


class Encoded(NamedTuple):
    """A table as the bytes of a Parquet file, their SHA-256, and the number of rows."""

    data: pa.Buffer
    sha256: str
    rows: int


def schema_of(table: str) -> pa.Schema:
    """Return the present schema of a table: ``runs``, ``steps``, ..., ``signals``, ``verdicts``."""
    if table == "signals":
        from rlchecks.signals.compute import SCHEMA

        return SCHEMA
    return _SCHEMAS[table]


def conform(table: pa.Table, schema: pa.Schema, what: str) -> pa.Table:
    """Return the table with exactly the schema's columns; a nullable one that is absent is null in every row.

    Args:
        table: the table.
        schema: the schema.
        what: what the table is, for messages.

    Raises:
        ArchiveError: if a required column is absent or holds a null, or a type does not fit.
    """
    for field in schema:
        if not field.nullable and (field.name not in table.column_names or table[field.name].null_count):
            raise ArchiveError(f"{what}: there are rows without {field.name}, which every row needs.")
    columns = []
    for field in schema:
        if field.name in table.column_names:
            column = table[field.name]
        else:
            column = pa.chunked_array([pa.nulls(table.num_rows, field.type)])
        try:
            columns.append(column.cast(field.type))
        except (pa.ArrowException, ValueError) as error:
            problem = f"{what}: column {field.name} should hold {field.type} ({first_line(error)})."
            raise ArchiveError(problem) from error
    return pa.table(columns, schema=schema)


def checked(name: str, table: pa.Table, run_id: str) -> pa.Table:
    """Return a run's table as it is written: in its schema (``signals``: the caller's), every row of that run.

    Raises:
        ArchiveError: if a column is unknown, missing or of another type, or a row is of another run.
    """
    schema = table.schema.remove_metadata() if name == "signals" else schema_of(name)
    unknown = [column for column in table.column_names if column not in schema.names]
    if unknown:
        raise ArchiveError(f"The {name} of run {run_id!r} have a column {unknown[0]!r}, which the table has not.")
    owners = table["run_id"].unique().to_pylist() if "run_id" in table.column_names else [None]
    if owners not in ([run_id], []):
        raise ArchiveError(f"The {name} of run {run_id!r} must carry its id in every row; found {owners!r:.200}.")
    return conform(table, schema, f"The {name} of run {run_id!r}")


def encode(name: str, table: pa.Table, facts: Mapping[bytes, bytes] | None = None) -> Encoded:
    """Serialise a table.

    The bytes depend only on the rows, the schema and the release of Arrow, not on how the table is chunked.

    Args:
        name: the table's name, which is stored in the file like the schema's version.
        table: the rows.
        facts: further metadata of the file.
    """
    metadata = {VERSION_KEY: str(VERSION).encode(), TABLE_KEY: name.encode(), **(facts or {})}
    plain = table.combine_chunks().replace_schema_metadata(metadata)
    # A file of one row is smaller, and read in half the time, without compression and dictionaries.
    long = table.num_rows > 1
    stream = pa.BufferOutputStream()
    pq.write_table(
        plain,
        stream,
        compression="zstd" if long else "none",
        use_dictionary=[path for field in table.schema for path in _texts(field)] if long else False,
        write_statistics=[field.name for field in table.schema if field.name in _WITH_STATISTICS],
    )
    data = stream.getvalue()
    return Encoded(data, hashlib.sha256(data).hexdigest(), table.num_rows)


def decode(name: str, data: pa.Buffer, path: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a table back, in its present schema, the file's metadata with it.

    Args:
        name: the table's name.
        data: the bytes of the Parquet file.
        path: the file, for messages.
        columns: which columns, in this order; all by default.

    Raises:
        ArchiveError: if the file is damaged, is no such table, or was written by a newer release.
    """
    file = _opened(name, data, path)
    try:
        # A column that an older release did not write is passed over here and filled below.
        table = file.read(columns=columns, use_threads=False)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise damaged(path, first_line(error), name) from error
    schema = table.schema if name == "signals" else projected(schema_of(name), columns)
    same = table.schema.equals(schema)
    return (table if same else conform(table, schema, path)).replace_schema_metadata(file.metadata.metadata)


def metadata_of(name: str, data: pa.Buffer, path: str) -> Mapping[bytes, bytes]:
    """Return the metadata of a table's file without reading its rows; else as :func:`decode`."""
    metadata: Mapping[bytes, bytes] = _opened(name, data, path).metadata.metadata
    return metadata


def _opened(name: str, data: pa.Buffer, path: str) -> pq.ParquetFile:
    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        metadata = file.metadata.metadata or {}
        version = int(metadata.get(VERSION_KEY, b"0"))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise damaged(path, first_line(error), name) from error
    if metadata.get(TABLE_KEY) != name.encode():
        raise ArchiveError(f"{path} is no {name} file of an rlchecks archive; move it out of the archive.")
    if version > VERSION:
        raise ArchiveError(
            f"{path} has schema version {version}, newer than {VERSION}, the newest known here; upgrade rlchecks."
        )
    return file


def projected(schema: pa.Schema, columns: Sequence[str] | None) -> pa.Schema:
    """Return the schema of some of a table's columns, in the order asked for; of all if ``columns`` is None."""
    return schema if columns is None else pa.schema([schema.field(column) for column in columns])


def damaged(path: str, reason: str, table: str) -> ArchiveError:
    """Return the error for a file that is not what was written."""
    if table == "verdicts":
        todo = "restore it from a backup, since a verdict is never written twice"
    elif table in ("runs", "evaluations"):
        todo = "delete the run's file under runs/, ingest the run again, and gate it again for its held-out results"
    else:
        todo = "ingest the run again (only if its log has grown since, delete the run's file under runs/ before)"
    return ArchiveError(f"{path} is damaged ({reason}); {todo}.")


def _texts(field: pa.Field) -> list[str]:
    if pa.types.is_string(field.type):
        return [field.name]
    if pa.types.is_map(field.type):
        values = [f"{field.name}.key_value.value"] if pa.types.is_string(field.type.item_type) else []
        return [f"{field.name}.key_value.key", *values]
    return []
