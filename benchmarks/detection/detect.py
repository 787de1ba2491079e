"""From simulated runs to findings, through the tables that the product uses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from benchmarks.detection.runs import Run
from benchmarks.detection.world import Flags, Floats
from rlchecks.diagnosis import PROFILES, Finding, diagnose
from rlchecks.metrics import METRICS
from rlchecks.schema import STEPS, VALIDATION
from rlchecks.signals import RunFacts, compute, rows
from rlchecks.suites import load


def table_of(run: Run, run_id: str) -> pa.Table:
    """Return the steps table of a simulated run."""
    log = run.log
    count = len(log.step)
    functions = {name: values for name, values in log.columns.items() if name not in METRICS}
    arrays = []
    for field in STEPS:
        if field.name == "run_id":
            arrays.append(pa.repeat(run_id, count))
        elif field.name == "split":
            arrays.append(pa.repeat("train", count))
        elif field.name == "step":
            arrays.append(pa.array(log.step))
        elif field.name in log.columns:
            arrays.append(_column(log.columns[field.name], log.null.get(field.name)))
        elif field.name == "extra" and functions:
            arrays.append(_map(functions, count, field.type))
        else:
            arrays.append(pa.nulls(count, field.type))
    return pa.Table.from_arrays(arrays, schema=STEPS)


def _column(values: Floats, null: Flags | None) -> pa.Array:
    return pa.array(values, pa.float64(), mask=null, from_pandas=False)


def _map(functions: dict[str, Floats], count: int, kind: pa.MapType) -> pa.Array:
    keys = pa.array(list(functions) * count)
    values = pa.array(np.column_stack(list(functions.values())).ravel())
    offsets = pa.array(np.arange(count + 1, dtype=np.int32) * len(functions))
    return pa.MapArray.from_arrays(offsets, keys, values, type=kind)


def checks_of(run: Run, run_id: str) -> pa.Table:
    """Return the validation table of a simulated run."""
    if run.checks is None:
        return VALIDATION.empty_table()
    count = len(run.checks.step)
    nothing = pa.nulls(count, pa.string())
    columns = [pa.repeat(run_id, count), pa.array(run.checks.step), nothing, nothing, pa.array(run.checks.score)]
    return pa.Table.from_arrays(columns, schema=VALIDATION)


def findings(runs: Sequence[Run]) -> dict[str, list[tuple[Finding, ...]]]:
    """Diagnose simulated runs with the shipped thresholds; profile to the findings of each run."""
    names = [f"run-{index}" for index in range(len(runs))]
    named = list(zip(runs, names, strict=True))
    steps = pa.concat_tables([table_of(run, name) for run, name in named])
    checks = pa.concat_tables([checks_of(run, name) for run, name in named])
    facts = [
        RunFacts(
            name,
            planned_steps=run.planned,
            reward_range=(run.setting.low, run.setting.high) if run.setting.declared else None,
        )
        for run, name in named
    ]
    signals = rows(compute(steps, facts, checks))
    return {
        profile: [diagnose(row, parameters) for row in signals]
        for profile, parameters in ((profile, load(profile).parameters) for profile in PROFILES)
    }
