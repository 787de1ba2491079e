"""Held-out rows from Parquet."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from rlchecks.errors import InputError
from rlchecks.heldout.rawrows import RawRows, first_line, require_columns, unknown_columns
from rlchecks.heldout.values import KNOWN


def parse_parquet(data: bytes, path: Path) -> RawRows:
    """The rows of a Parquet file.

    Args:
        data: its bytes.
        path: its name, for errors.

    Raises:
        InputError: the file is damaged, empty or lacks a required column.
    """
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        names = file.schema_arrow.names
        require_columns(names, path)
        doubled = sorted({name for name in names if name in KNOWN and names.count(name) > 1})
        if doubled:
            raise InputError(f"the schema names {', '.join(doubled)} twice", path=path, todo="rename one")
        present = [name for name in KNOWN if name in names]
        table = file.read(columns=present)
        table.validate(full=True)  # text that is not UTF-8 would be found only when it is used
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        problem = f"the Parquet file is not readable ({first_line(error)})"
        raise InputError(problem, path=path, todo="write it again") from None
    if not len(table):
        raise InputError("there is no row", path=path, todo="give a file with held-out rows")
    columns = {name: table[name] for name in present}
    return RawRows(columns, unknown_columns(names), len(table), lambda index: f"row {index + 1}")
