"""Numbers with a decimal comma, as in tables from other locales: they are refused, never read as something else."""

from __future__ import annotations

from pathlib import Path

import pyarrow.compute as pc

from rlchecks.errors import InputError
from rlchecks.readers.frameworks import Framework
from rlchecks.readers.rows import Rows
from rlchecks.readers.text import place, shown

_COMMA = r"^\s*[+-]?[\d.]*\d,\d+([eE][+-]?\d+)?\s*$"


def refuse_decimal_commas(rows: Rows, known: Framework, path: Path) -> None:
    """Refuse a table with numbers such as ``0,53``: of ``1,234`` nobody can tell whether it is more than two.

    Only columns with a meaning are looked at: what else has commas in it is text.

    Raises:
        InputError: one of them has such a number.
    """
    counters = {*known.step, *known.epoch}
    for key in rows.keys:
        if key not in counters and known.target(key) is None and known.eval_target(key) is None:
            continue
        for cells in rows.column(key):
            if cells.kind != "text":
                continue
            at = pc.index(pc.match_substring_regex(cells.values, _COMMA), True).as_py()
            if at >= 0:
                raise InputError(
                    f"{shown(key)} is {shown(cells.values[at].as_py())}, expected a number with a decimal point",
                    path=place(path),
                    where=f"row {cells.at[at] + 1}",
                    todo="write the numbers with points, without separators of thousands",
                )
