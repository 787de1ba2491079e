"""The entry of a run in the document of ``ingest --json``."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rlchecks.metrics import METRICS
from rlchecks.plain import plain
from rlchecks.run import RunLog


def entry(run: RunLog) -> dict[str, Any]:
    """What was understood of a run, and what was not.

    Of each metric: its first, last and mean value in training, and on how many finite values the mean rests.
    """
    trained = run.training_steps
    steps = trained["step"]
    metrics: dict[str, dict[str, Any]] = {}
    for name in METRICS:
        values = trained[name].drop_null()
        if len(values):
            metrics[name] = _figures(values)
    return {
        "run_id": run.run_id,
        "source": run.source,
        "framework": run.framework,
        "steps": trained.num_rows,
        "first_step": pc.min(steps).as_py(),
        "last_step": pc.max(steps).as_py(),
        "metrics": metrics,
        "validation": _checks(run),
        "unmapped": list(run.unmapped),
        "warnings": list(run.warnings),
    }


def _checks(run: RunLog) -> dict[str, Any] | None:
    """The rewards of the checks on validation questions; None if there were none."""
    rows = run.steps.filter(pc.equal(run.steps["split"], "eval")).sort_by("step")
    values = rows["reward"].drop_null()
    return _figures(values) if len(values) else None


def _figures(values: pa.ChunkedArray) -> dict[str, Any]:
    finite = values.filter(pc.is_finite(values))
    return {
        "first": plain(values[0].as_py()),
        "last": plain(values[-1].as_py()),
        "mean": pc.mean(finite).as_py() if len(finite) else None,
        "count": len(finite),
    }
