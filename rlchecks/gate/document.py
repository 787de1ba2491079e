"""Parts of the verdict's document that say what was read, and with what."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow.compute as pc

from rlchecks import suites
from rlchecks.heldout import HeldoutRows
from rlchecks.requests import GateRequest
from rlchecks.run import InputFile, RunLog

_NAMED_WHEN_MISSING = ("reward_std", "zero_std_fraction", "clipped_ratio", "mean_length", "kl", "entropy", "grad_norm")


def run_document(run: RunLog, rows: HeldoutRows, remarks: Iterable[str] = ()) -> dict[str, Any]:
    """``run``: what the log is, with further remarks on the inputs."""
    steps = run.steps["step"]
    return {
        "id": run.run_id,
        "name": run.name,
        "source": run.source,
        "framework": run.framework,
        "framework_version": run.framework_version,
        "last_step": pc.max(steps).as_py(),
        "planned_steps": run.planned_steps,
        "repeated_steps": run.repeated_steps,
        "graders": list(run.graders),
        "warnings": [*run.warnings, *rows.warnings, *remarks],
        "unmapped": list(run.unmapped),
    }


def not_measured(run: RunLog) -> list[str]:
    """``not_measured``: metrics that a reader would look for, and the log does not have."""
    trained = run.training_steps
    return [name for name in _NAMED_WHEN_MISSING if trained[name].null_count == trained.num_rows]


def provenance(request: GateRequest, inputs: Iterable[InputFile], rules: suites.Suites) -> dict[str, Any]:
    """``provenance``: the files, suites, versions and command that the verdict rests on."""
    files = [{"path": file.path, "sha256": file.sha256} for file in inputs]
    used = [{"name": suite.name, "sha256": suite.sha256} for suite in (rules.promotion, rules.health)]
    used.append({"name": "findings", "sha256": rules.parameters.sha256})
    return {"inputs": files, "suites": used, "versions": _versions(), "command": request.command}


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    return {name: version(name) for name in ("great-expectations", "numpy", "prefect", "pyarrow", "scipy")}
