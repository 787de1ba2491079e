"""From simulated runs to findings, through the tables that the product uses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from benchmarks.detection.scenarios import Run
from rlchecks.diagnosis import Finding, diagnose
from rlchecks.metrics import METRICS
from rlchecks.schema import STEPS, VALIDATION
from rlchecks.signals import RunFacts, compute, rows
from rlchecks.suites import load


def table_of(run: Run, run_id: str) -> pa.Table:
    """Return the steps table of a simulated run; -inf in the reward stands for null."""
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
            values = log.columns[field.name]
            arrays.append(pa.array(values, pa.float64(), mask=np.isneginf(values), from_pandas=False))
        elif field.name == "extra" and functions:
            each = [list(zip(functions, cells, strict=True)) for cells in zip(*functions.values(), strict=True)]
            arrays.append(pa.array(each, field.type))
        else:
            arrays.append(pa.nulls(count, field.type))
    return pa.Table.from_arrays(arrays, schema=STEPS)


def checks_of(run: Run, run_id: str) -> pa.Table:
    """Return the validation table of a simulated run."""
    if run.checks is None:
        return VALIDATION.empty_table()
    step, score = run.checks
    nothing = pa.nulls(len(step), pa.string())
    return pa.Table.from_arrays(
        [pa.repeat(run_id, len(step)), pa.array(step), nothing, nothing, pa.array(score)], schema=VALIDATION
    )


def findings(runs: Sequence[Run], profile: str = "chat", batch: int = 500) -> list[tuple[Finding, ...]]:
    """Diagnose simulated runs with the shipped thresholds."""
    parameters = load(profile).parameters
    found: list[tuple[Finding, ...]] = []
    for first in range(0, len(runs), batch):
        some = runs[first : first + batch]
        names = [f"run-{index}" for index in range(len(some))]
        steps = pa.concat_tables([table_of(run, name) for run, name in zip(some, names, strict=True)])
        checks = pa.concat_tables([checks_of(run, name) for run, name in zip(some, names, strict=True)])
        facts = [RunFacts(name, planned_steps=run.planned) for run, name in zip(some, names, strict=True)]
        found += [diagnose(row, parameters) for row in rows(compute(steps, facts, checks))]
    return found
