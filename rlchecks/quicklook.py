"""The quick look of ``rlchecks diagnose``: no orchestrator, no suite validated, nothing stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlchecks import suites
from rlchecks.audit import VERSION, entry
from rlchecks.errors import NotARunError, RlchecksError
from rlchecks.locate import find
from rlchecks.readers import read_run
from rlchecks.stages import examine


def look(paths: tuple[str, ...], profile: str, expectations: str | None, columns: Mapping[str, str]) -> dict[str, Any]:
    """Read runs and say what their signals show.

    Args:
        paths: logs, run directories, or folders that hold some.
        profile: profile of the healthy ranges.
        expectations: directory of the user's own suites.
        columns: the log's own column to canonical metric.

    Returns:
        the document of ``diagnose --json``.
    """
    parameters = suites.load(profile, expectations).parameters
    found = find(paths, columns)
    runs: list[dict[str, Any]] = []
    refused, skipped = list(found.refused), list(found.skipped)
    for source in found.runs:
        try:
            run = read_run(source, columns=columns)
        except RlchecksError as error:
            harmless = isinstance(error, NotARunError) and source not in found.named
            (skipped if harmless else refused).append({"source": source, "reason": str(error)})
            continue
        seen = examine(run, parameters)
        facts = {
            "source": source,
            "framework": run.framework,
            "unmapped": list(run.unmapped),
            "warnings": list(run.warnings),
        }
        runs.append(entry(seen.row, facts, seen.findings))
    return {"version": VERSION, "runs": runs, "refused": refused, "skipped": skipped}
