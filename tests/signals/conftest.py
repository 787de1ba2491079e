"""A run from plain series, and its signals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pytest

from rlchecks.schema import STEPS
from rlchecks.signals import RunFacts, compute

Steps = Callable[..., pa.Table]


@pytest.fixture(scope="session")
def make_steps() -> Steps:
    """Build a steps table of one run from series of equal length; None is null, NaN is a logged NaN."""

    def build(run_id: str = "run", steps: Sequence[int] | None = None, **series: Sequence[float | None]) -> pa.Table:
        size = len(next(iter(series.values())))
        step = list(steps) if steps is not None else list(range(1, size + 1))
        columns: dict[str, Any] = {"run_id": [run_id] * size, "split": ["train"] * size, "step": step}
        columns |= {
            name: [None if value is None else float(value) for value in values] for name, values in series.items()
        }
        arrays = [pa.array(columns.get(field.name, [None] * size), field.type, from_pandas=False) for field in STEPS]
        return pa.Table.from_arrays(arrays, schema=STEPS)

    return build


@pytest.fixture(scope="session")
def signals_of(make_steps: Steps) -> Callable[..., dict[str, Any]]:
    """The signals of one run given as series."""

    def build(facts: RunFacts | None = None, checks: pa.Table | None = None, **series: Any) -> dict[str, Any]:
        return compute(make_steps(**series), [facts or RunFacts("run")], checks).to_pylist()[0]

    return build
