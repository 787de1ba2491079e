"""Rows of a Parquet file as Python values, within bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from rlchecks.heldout.harness.source import Source
from rlchecks.heldout.rawrows import first_line

MAX_UNPACKED = 1 << 32
"""Most that the columns of a file may take when unpacked, in bytes, by its own account."""

_BROKEN = (pa.ArrowException, OSError, UnicodeDecodeError, ValueError)


def parquet_names(source: Source) -> list[str]:
    """Names of the columns; none if the file is damaged."""
    import pyarrow.parquet as pq

    try:
        return list(pq.ParquetFile(pa.BufferReader(source.data)).schema_arrow.names)
    except _BROKEN:
        return []


def parquet_rows(source: Source, wanted: Sequence[str]) -> list[Mapping[str, object]]:
    """The rows.

    Args:
        source: the file.
        wanted: names of columns, with dots for parts of structures.

    Raises:
        InputError: the file is damaged or too large.
    """
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(source.data))
        groups = (file.metadata.row_group(index) for index in range(file.metadata.num_row_groups))
        if sum(group.total_byte_size for group in groups) > MAX_UNPACKED:
            raise source.error(f"unpacked, the Parquet file is larger than {MAX_UNPACKED:,} bytes")
        table = file.read(columns=list(wanted))
        table.validate(full=True)
        rows: list[Mapping[str, object]] = table.to_pylist()
        return rows
    except _BROKEN as error:
        problem = f"the Parquet file is not readable ({first_line(error)})"
        raise source.error(problem, todo="write it again") from None
