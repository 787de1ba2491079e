"""What a validation found: an outcome for every row and expectation, and what it means for the decision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rlchecks.health.suite import Scalar, Suite

Outcome = Literal["passed", "failed", "missing", "not_applicable", "errored"]
Effect = Literal["pass", "warn", "hold", "reject", "ignore"]

OUTCOMES: tuple[Outcome, ...] = ("passed", "failed", "missing", "not_applicable", "errored")
PASSED, FAILED, MISSING, NOT_APPLICABLE, ERRORED = range(len(OUTCOMES))


@dataclass(frozen=True)
class Check:
    """One expectation applied to one row.

    Attributes:
        suite: name of the suite.
        code: reason code: the expectation's ``code_passed`` if it passed, else its ``code``.
        column: the column.
        title: what is expected, in a few words.
        why: the reason of the threshold.
        advice: what to do when it does not hold.
        outcome: ``passed``; ``failed``; ``missing`` (absent, NaN or infinite); ``not_applicable`` (absent or NaN, and
            the suite says to ignore that); ``errored`` (the check itself could not be made).
        observed: the value; None if there is none; ``nan``, ``inf`` or ``-inf`` as text.
        expected: the expectation as text, such as ``< 0.25``.
        effect: what it contributes to the decision: ``pass``, ``warn``, ``hold``, ``reject``, or ``ignore``. An
            errored check always holds.
        note: why the check could not be made, if it errored.
    """

    suite: str
    code: str
    column: str
    title: str
    why: str
    advice: str
    outcome: Outcome
    observed: Scalar | None
    expected: str
    effect: Effect
    note: str = ""


@dataclass(frozen=True)
class SuiteResult:
    """Result of a suite on a table of ``R`` rows.

    Attributes:
        suite: the suite, with ``E`` expectations.
        table: the table that was validated.
        outcomes: index into :data:`OUTCOMES`, shape ``(R, E)``, for work on many rows at once.
        notes: index of an errored expectation to the reason.
    """

    suite: Suite
    table: pa.Table
    outcomes: npt.NDArray[np.int8]
    notes: Mapping[int, str]

    def outcome(self, row: int, expectation: int) -> Outcome:
        """Outcome of one expectation on one row; both count from 0 in the order of table and file."""
        return OUTCOMES[int(self.outcomes[row, expectation])]

    def checks(self, row: int) -> tuple[Check, ...]:
        """Every expectation applied to one row, in the order of the file."""
        result = []
        for index, spec in enumerate(self.suite.expectations):
            outcome = self.outcome(row, index)
            effect: Effect = {
                "passed": "pass",
                "failed": spec.on_failure,
                # Something was measured and was infinite; that cannot be ignored.
                "missing": spec.on_failure if spec.on_missing == "ignore" else spec.on_missing,
                "not_applicable": "ignore",
                "errored": "hold",
            }[outcome]
            code = spec.code_passed if outcome == "passed" else spec.code
            result.append(
                Check(
                    self.suite.name,
                    code,
                    spec.column,
                    spec.title,
                    spec.why,
                    spec.advice,
                    outcome,
                    _observed(self._values[spec.column][row]),
                    spec.expected,
                    effect,
                    self.notes.get(index, ""),
                )
            )
        return tuple(result)

    @cached_property
    def _values(self) -> dict[str, list[object]]:
        nothing: list[object] = [None] * self.table.num_rows
        return {
            spec.column: self.table[spec.column].to_pylist()
            if self.table.schema.get_field_index(spec.column) >= 0
            else nothing
            for spec in self.suite.expectations
        }


def _observed(value: object) -> Scalar | None:
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
