"""Parquet files, from bytes that may be anything."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from rlchecks.archive.tables import TABLE_KEY
from rlchecks.errors import InputError
from rlchecks.readers.text import place, shown

PARQUET = b"PAR1"
"""What a Parquet file begins with."""

MAX_CELLS = 50_000_000
"""Most values that are taken from one file: 100,000 rows of 500 columns. A few bytes can declare far more."""


def read_table(data: bytes, path: Path, max_cells: int = MAX_CELLS) -> pa.Table:
    """Read a Parquet file.

    Raises:
        InputError: it is damaged, no Parquet, or declares more than ``max_cells`` values.
    """
    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        cells = file.metadata.num_rows * max(1, file.metadata.num_columns)
        if 0 <= cells <= max_cells:
            table = file.read(use_threads=False)
            table.validate(full=True)
            return table
    except Exception as error:  # The parser raises whatever the damage leads to: OSError, KeyError, MemoryError, ...
        reason = shown(str(error).strip(), 120)
        raise InputError(f"no readable Parquet ({reason})", path=place(path)) from error
    raise InputError(f"{cells:,} values, more than the {max_cells:,} that are read", path=place(path))


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
