"""Runs from plain series, diagnosed with the shipped thresholds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from rlchecks import suites
from rlchecks.diagnosis import Finding, diagnose
from rlchecks.schema import STEPS
from rlchecks.signals import RunFacts, compute


@pytest.fixture(scope="session")
def findings_of() -> Callable[..., dict[str, Finding]]:
    """Findings of one run given as series (None is null, NaN a logged NaN), by code; ``extra``: series by key."""
    parameters = {profile: suites.load(profile).parameters for profile in ("chat", "reasoning", "hosted")}

    def find(
        profile: str = "chat",
        facts: RunFacts | None = None,
        checks: pa.Table | None = None,
        extra: dict[str, Any] | None = None,
        **series: Any,
    ) -> dict[str, Finding]:
        size = len(next(iter(series.values())))
        columns: dict[str, Any] = {"run_id": ["run"] * size, "split": ["train"] * size, "step": range(1, size + 1)}
        columns |= {
            name: [None if value is None else float(value) for value in values] for name, values in series.items()
        }
        if extra:
            columns["extra"] = [list(zip(extra, cells, strict=True)) for cells in zip(*extra.values(), strict=True)]
        arrays = [pa.array(columns.get(field.name, [None] * size), field.type, from_pandas=False) for field in STEPS]
        table = pa.Table.from_arrays(arrays, schema=STEPS)
        row = compute(table, [facts or RunFacts("run")], checks).to_pylist()[0]
        return {finding.code: finding for finding in diagnose(row, parameters[profile])}

    return find


@pytest.fixture
def noise() -> np.random.Generator:
    return np.random.default_rng(20)
