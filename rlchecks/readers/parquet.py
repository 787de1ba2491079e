"""Parquet files, from bytes that may be anything."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rlchecks.archive.tables import TABLE_KEY
from rlchecks.errors import InputError
from rlchecks.readers import budget
from rlchecks.readers.text import clean, place, shown

PARQUET = b"PAR1"
"""What a Parquet file begins with."""

Column: TypeAlias = "pa.Array | list[object]"
"""The values of a column: numbers and texts as Arrow has them, others as Python has them."""

MAX_CELLS = 50_000_000
"""Most values that are taken from one file, those in lists counted: 100,000 rows of 500 columns.

A few bytes can declare far more.
"""

MAX_BYTES = 2 << 30
"""Most bytes that the pages of a file may have once they are decompressed."""

_BLOCK_CELLS = 1 << 17
_TEXTS = frozenset({"NONE", "STRING", "ENUM", "JSON", "BSON"})


def read_table(data: bytes, path: Path, max_cells: int = MAX_CELLS) -> pa.Table:
    """Read a Parquet file.

    Raises:
        InputError: it is damaged, no Parquet, or holds more than ``max_cells`` values, :data:`MAX_BYTES` or
            :data:`rlchecks.readers.budget.MAX_TEXT`.
    """
    try:
        file = _opened(pa.BufferReader(data), path, max_cells)
        batches = list(_batches(file, path))
        table = pa.Table.from_batches(batches) if batches else file.schema_arrow.empty_table()
    except InputError:
        raise
    except Exception as error:  # The parser raises whatever the damage leads to: OSError, KeyError, MemoryError, ...
        raise _unreadable(path, error) from error
    return table


def read_columns(data: bytes, path: Path, max_cells: int = MAX_CELLS) -> Iterator[dict[str, Column]]:
    """Read a Parquet file in blocks of rows; of columns with the same name the last counts.

    Yields:
        For each block the name of each column and its values.

    Raises:
        InputError: as :func:`read_table`.
    """
    try:
        for batch in _batches(_opened(pa.BufferReader(data), path, max_cells), path):
            yield {clean(name): _values(column) for name, column in zip(batch.schema.names, batch.columns, strict=True)}
    except InputError:
        raise
    except Exception as error:  # As above.
        raise _unreadable(path, error) from error


def _opened(source: pa.NativeFile, path: Path, max_cells: int) -> pq.ParquetFile:
    """Open a file that does not declare too much; texts are read as dictionaries, in which a repeated one is once."""
    metadata = pq.read_metadata(source)
    leaves = [metadata.schema.column(at) for at in range(metadata.num_columns)]
    groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
    flat = [leaf for leaf in leaves if leaf.path == leaf.name]
    widths = [leaf.length for leaf in flat if leaf.physical_type == "FIXED_LEN_BYTE_ARRAY"]
    for number, most, what in (
        # Rows of no column are values too.
        (metadata.num_rows * max(1, metadata.num_columns), max_cells, "values"),
        # A row of a list is many values.
        (_items(path) if len(flat) < len(leaves) else 0, max_cells, "values"),
        (sum(group.total_byte_size for group in groups), MAX_BYTES, "bytes"),
        (metadata.num_rows * sum(widths), budget.MAX_TEXT, "bytes of texts"),
    ):
        if not 0 <= number <= most:
            raise InputError(f"{number:,} {what}, more than the {most:,} that are read", path=place(path))
    # Arrow has no dictionaries within lists and structures; there it reads no more than 2 GiB of texts at a time.
    texts = [leaf.path for leaf in flat if leaf.physical_type == "BYTE_ARRAY" and leaf.logical_type.type in _TEXTS]
    return pq.ParquetFile(source, metadata=metadata, read_dictionary=texts)


def _items(path: Path) -> int:
    """Count the values of all columns, those within lists too, as the file declares them.

    Arrow ends the whole process where such a declaration is damaged; DuckDB raises.
    """
    import duckdb

    with duckdb.connect() as connection:
        found = connection.execute("select sum(num_values) from parquet_metadata($1)", [str(path)]).fetchone()
    return int(found[0]) if found and found[0] is not None else 0


def _batches(file: pq.ParquetFile, path: Path) -> Iterator[pa.RecordBatch]:
    """Read blocks of rows; how long their texts are is known before they are written out."""
    size = max(1, _BLOCK_CELLS // max(1, file.metadata.num_columns))
    kept = budget.Budget(path)
    for batch in file.iter_batches(batch_size=size, use_threads=False):
        batch.validate(full=True)
        kept.text += sum(map(_text_bytes, batch.columns))
        kept.check()
        columns = [column.dictionary_decode() if _is_dictionary(column) else column for column in batch.columns]
        yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _is_dictionary(column: pa.Array) -> bool:
    return bool(pa.types.is_dictionary(column.type))


def _lengths(texts: pa.Array) -> pa.Array | None:
    kind = texts.type
    short = pa.types.is_string(kind) or pa.types.is_binary(kind)
    if not (short or pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)):
        return None
    return pc.binary_length(texts).cast(pa.int64())


def _text_bytes(column: pa.Array) -> int:
    """Count the bytes of the texts in a column, each as often as it occurs."""
    kind = column.type
    if _is_dictionary(column):
        lengths = _lengths(column.dictionary)
        return 0 if lengths is None else pc.sum(lengths.take(column.indices)).as_py() or 0
    lengths = _lengths(column)
    if lengths is not None:
        return pc.sum(lengths).as_py() or 0
    if pa.types.is_map(kind):
        return _text_bytes(column.keys) + _text_bytes(column.items)
    if pa.types.is_struct(kind):
        return sum(map(_text_bytes, column.flatten()))
    if pa.types.is_nested(kind):
        return _text_bytes(column.flatten())
    return 0


def _unreadable(path: Path, error: Exception) -> InputError:
    return InputError(f"no readable Parquet ({shown(str(error).strip(), 120)})", path=place(path))


def _values(column: pa.Array) -> Column:
    plain = pa.types.is_floating(column.type) or pa.types.is_integer(column.type) or pa.types.is_string(column.type)
    # Dates and the like may be such that Python has none of them: that is damage too.
    return column if plain else column.to_pylist()


def is_archived(path: Path, head: bytes) -> bool:
    """Whether a file is a table of an archive of rlchecks, which was made from logs and is none itself."""
    if not head.startswith(PARQUET):
        return False
    try:
        return TABLE_KEY in (pq.read_metadata(path).metadata or {})
    except Exception:  # As above.
        return False


def first_row(path: Path) -> dict[str, object]:
    """Read the first row of a Parquet file, without what its lists and structures hold.

    Of a file without rows, or with more than is read, the columns alone are told; nothing if it is damaged.
    """
    try:
        with pa.OSFile(str(path)) as source:
            row: dict[str, object] = dict.fromkeys(map(str, pq.read_schema(source).names))
            with suppress(InputError), _opened(source, path, MAX_CELLS) as file:
                flat = [field.name for field in file.schema_arrow if not pa.types.is_nested(field.type)]
                for batch in file.iter_batches(batch_size=1, columns=flat, use_threads=False):
                    return {**row, **batch.to_pylist()[0]}
            return row
    except Exception:  # As above; what is wrong with it is said when it is read.
        return {}
