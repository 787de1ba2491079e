"""Our own reading of a column: which values are missing, and which fail an expectation.

Great Expectations judges the same values. Both must agree, row by row: its releases have more than once passed what
they could not check, and this comparison costs next to nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rlchecks.health.suite import BETWEEN, NOT_NULL, ExpectationSpec

Kind = Literal["number", "flag", "text", "nothing", "unusable"]
Rows = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Column:
    """A column of ``R`` rows.

    Attributes:
        kind: what it holds; ``nothing`` if no row has a value, ``unusable`` if its values cannot be judged.
        values: shape ``(R,)``; what stands at a missing row has no meaning.
        missing: rows that are null, NaN or infinite, shape ``(R,)``.
    """

    kind: Kind
    values: npt.NDArray[Any]
    missing: Rows

    @classmethod
    def read(cls, table: pa.Table, name: str) -> Column:
        """Take a column out of a table; one that the table lacks is missing in every row."""
        places = table.schema.get_all_field_indices(name)
        if len(places) > 1:
            return cls._without_values("unusable", table.num_rows)
        if not places:
            return cls._without_values("nothing", table.num_rows)
        column = table.column(places[0])
        kind, missing = column.type, column.is_null().to_numpy()
        if pa.types.is_boolean(kind):
            values, found = pc.fill_null(column, False).to_numpy(), "flag"
        elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
            values = column.cast(pa.float64(), safe=False).to_numpy().astype(np.float64)
            found, missing = "number", missing | ~np.isfinite(values)
        elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
            values, found = column.to_numpy().astype(object), "text"
        elif pa.types.is_null(kind):
            return cls._without_values("nothing", table.num_rows)
        else:
            return cls._without_values("unusable", table.num_rows)
        return cls(found if not missing.all() else "nothing", values, missing)  # type: ignore[arg-type]

    @classmethod
    def _without_values(cls, kind: Kind, rows: int) -> Column:
        return cls(kind, np.full(rows, np.nan), np.ones(rows, dtype=bool))

    @property
    def infinite(self) -> Rows:
        """Rows with a literal infinity, shape ``(R,)``: missing, but not for lack of a measurement."""
        if self.values.dtype.kind != "f":
            return np.zeros(len(self.missing), dtype=bool)
        infinite: Rows = np.isinf(self.values)
        return infinite

    def complaint(self, spec: ExpectationSpec) -> str | None:
        """Say why an expectation cannot be applied to this column, or None."""
        if self.kind == "unusable":
            return f"the column {spec.column} is of a type that cannot be checked, or stands twice in the table"
        wanted = _kind_of(spec)
        if self.kind != "nothing" and wanted is not None and self.kind != wanted:
            return f"the column {spec.column} holds {self.kind}s, but the suite expects {wanted}s"
        return None

    def failing(self, spec: ExpectationSpec) -> Rows:
        """Rows, shape ``(R,)``, that Great Expectations has to report: outside, or null where that is the question."""
        if spec.type == NOT_NULL:
            return self.missing
        if self.kind == "nothing":
            return np.zeros(len(self.missing), dtype=bool)
        if spec.type == BETWEEN:
            low, high = spec.limits
            with np.errstate(invalid="ignore"):
                above = self.values > low if spec.strict_min else self.values >= low
                below = self.values < high if spec.strict_max else self.values <= high
            inside = above & below
        else:
            inside = np.zeros(len(self.missing), dtype=bool)
            for value in spec.value_set:
                inside |= (self.values == value).astype(bool)
        return ~inside & ~self.missing


def _kind_of(spec: ExpectationSpec) -> Kind | None:
    if spec.type == NOT_NULL:
        return None
    if spec.type == BETWEEN:
        return "number"
    first = spec.value_set[0]
    return "flag" if isinstance(first, bool) else "text" if isinstance(first, str) else "number"
