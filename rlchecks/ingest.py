"""Ingestion, composed once: find the runs below some paths, read each once, archive it with its signals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc

from rlchecks.errors import InputError, RlchecksError, UsageError
from rlchecks.metrics import METRICS
from rlchecks.plain import plain
from rlchecks.progress import Progress, counting
from rlchecks.readers import find_runs, read_run
from rlchecks.readers.source import source_of
from rlchecks.requests import IngestRequest
from rlchecks.run import RunLog
from rlchecks.runner import Runner, shards_of
from rlchecks.stages import store_run

LARGEST_SHARD = 64
"""Runs a task reads: enough that recording the task costs nothing beside it, few enough to show progress."""

VERSION = 1
"""Version of the document of ``ingest --json``."""


@dataclass(frozen=True)
class ReadShard:
    """Sources that one worker reads and archives."""

    sources: tuple[str, ...]
    archive: str
    run_id: str | None
    columns: Mapping[str, str]


@dataclass(frozen=True)
class Sources:
    """What was found below the paths of a request.

    Attributes:
        runs: paths to read, one a run.
        refused: documents ``{"source", "reason"}`` of what cannot be read.
        skipped: the same for what need not be: copies of other runs, and files in a folder that are no runs.
    """

    runs: tuple[str, ...]
    refused: tuple[dict[str, str], ...]
    skipped: tuple[dict[str, str], ...]


def ingest(request: IngestRequest, runner: Runner, progress: Progress = lambda done, total: None) -> dict[str, Any]:
    """Read every run below the paths into the archive.

    Args:
        request: what is asked.
        runner: runs the stages.
        progress: called with the number of sources read so far and of all of them.

    Returns:
        the document of ``ingest --json``, with ``skipped`` beside ``runs`` and ``refused``.

    Raises:
        InputError: a path does not exist.
        UsageError: one id was given for several runs.
    """
    found = runner.call(find, request.paths, request.columns)
    if request.run_id is not None and len(found.runs) > 1:
        raise UsageError(f"--run-id names one run, and {len(found.runs)} were found; ingest them one by one.")
    shards = [
        ReadShard(tuple(sources), request.archive, request.run_id, request.columns)
        for sources in shards_of(found.runs, request.workers, LARGEST_SHARD)
    ]
    done = counting(progress, len(found.runs), _size)
    outcomes = [one for shard in runner.map(ingest_shard, shards, request.workers, done) for one in shard]
    return {
        "version": VERSION,
        "runs": [one for one in outcomes if "reason" not in one],
        "refused": [*found.refused, *(one for one in outcomes if "reason" in one)],
        "skipped": list(found.skipped),
    }


def find(paths: Sequence[str], columns: Mapping[str, str] | None = None) -> Sources:
    """Find the runs below the paths; a file that was named itself and is no run is refused, not skipped."""
    runs: list[str] = []
    refused: list[dict[str, str]] = []
    skipped: list[dict[str, str]] = []
    for path in paths:
        if not path.strip():
            raise UsageError("A path is empty; give a file or a folder.")
        named = source_of(path)
        if not named.path.exists():
            raise InputError("there is no such file or directory", path=path)
        if named.part is not None:
            runs.append(path)
            continue
        found = find_runs(path, columns)
        if named.path.is_file() and len(found.sources) < 2:
            runs.append(path)  # what was named is read, or refused with the reader's own words
            continue
        runs += (str(source) for source in found.sources)
        for refusal in found.refused:
            entry = {"source": str(refusal.source), "reason": refusal.reason}
            harmless = refusal.kind == "copy" or (refusal.kind == "not_a_run" and found.sources)
            (skipped if harmless else refused).append(entry)
    return Sources(tuple(dict.fromkeys(runs)), tuple(refused), tuple(skipped))


def _size(shard: ReadShard) -> int:
    return len(shard.sources)


def ingest_shard(shard: ReadShard) -> list[dict[str, Any]]:
    """Read and archive the sources of a shard; what cannot be read becomes ``{"source", "reason"}``."""
    return [_ingest(source, shard) for source in shard.sources]


def _ingest(source: str, shard: ReadShard) -> dict[str, Any]:
    try:
        run = read_run(source, run_id=shard.run_id, columns=shard.columns)
        store_run(run, shard.archive)
    except RlchecksError as error:
        return {"source": source, "reason": str(error)}
    return summary(run)


def summary(run: RunLog) -> dict[str, Any]:
    """The entry of a run in the document of ``ingest --json``."""
    trained = run.training_steps
    steps = trained["step"]
    metrics: dict[str, dict[str, Any]] = {}
    for name in METRICS:
        values = trained[name].drop_null()
        if len(values):
            finite = values.filter(pc.is_finite(values))
            metrics[name] = {
                "first": plain(values[0].as_py()),
                "last": plain(values[-1].as_py()),
                "mean": pc.mean(finite).as_py() if len(finite) else None,
                "count": len(values),
            }
    return {
        "run_id": run.run_id,
        "source": run.source,
        "framework": run.framework,
        "steps": trained.num_rows,
        "first_step": pc.min(steps).as_py(),
        "last_step": pc.max(steps).as_py(),
        "metrics": metrics,
        "unmapped": list(run.unmapped),
        "warnings": list(run.warnings),
    }
