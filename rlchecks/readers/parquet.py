"""Parquet files, from bytes that may be anything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from rlchecks.archive.tables import TABLE_KEY
from rlchecks.errors import InputError
from rlchecks.readers.text import clean, place, shown

PARQUET = b"PAR1"
"""What a Parquet file begins with."""

Column: TypeAlias = "pa.Array | list[object]"
"""The values of a column: numbers and texts as Arrow has them, others as Python has them."""

MAX_CELLS = 50_000_000
"""Most values that are taken from one file: 100,000 rows of 500 columns. A few bytes can declare far more."""

_BLOCK_CELLS = 1 << 17


def read_table(data: bytes, path: Path, max_cells: int = MAX_CELLS) -> pa.Table:
    """Read a Parquet file.

    Raises:
        InputError: it is damaged, no Parquet, or declares more than ``max_cells`` values.
    """
    try:
        file = _opened(data, path, max_cells)
        table = file.read(use_threads=False)
        table.validate(full=True)
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
        file = _opened(data, path, max_cells)
        size = max(1, _BLOCK_CELLS // max(1, file.metadata.num_columns))
        for batch in file.iter_batches(batch_size=size, use_threads=False):
            batch.validate(full=True)
            yield {clean(name): _values(column) for name, column in zip(batch.schema.names, batch.columns, strict=True)}
    except InputError:
        raise
    except Exception as error:  # As above.
        raise _unreadable(path, error) from error


def _opened(data: bytes, path: Path, max_cells: int) -> pq.ParquetFile:
    file = pq.ParquetFile(pa.BufferReader(data))
    cells = file.metadata.num_rows * max(1, file.metadata.num_columns)
    if not 0 <= cells <= max_cells:
        raise InputError(f"{cells:,} values, more than the {max_cells:,} that are read", path=place(path))
    return file


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
    """Read the first row of a Parquet file; of one without rows its columns alone; nothing if it is damaged."""
    try:
        with pq.ParquetFile(path) as file:
            names = [str(name) for name in file.schema_arrow.names]
            for batch in file.iter_batches(batch_size=1, use_threads=False):
                return dict(batch.to_pylist()[0])
            return dict.fromkeys(names)
    except Exception:  # As above; what is wrong with it is said when it is read.
        return {}
