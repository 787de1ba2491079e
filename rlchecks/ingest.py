"""Ingestion, composed once: find the runs below some paths, read each once, archive it with its signals."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rlchecks import remembered
from rlchecks.archive import Archive
from rlchecks.archive.sources import content_of
from rlchecks.archive.store import Store
from rlchecks.errors import InputError, NotARunError, OlderCopyError, RlchecksError, UsageError
from rlchecks.locate import Sources, find
from rlchecks.metrics import METRICS
from rlchecks.plain import plain
from rlchecks.progress import Progress, counting
from rlchecks.readers import read_run
from rlchecks.readers.source import source_of
from rlchecks.readers.text import shown
from rlchecks.remembered import Memory, Reading
from rlchecks.requests import IngestRequest
from rlchecks.run import RunLog
from rlchecks.runner import Runner, shards_of
from rlchecks.stages import store_run
from rlchecks.twins import Twin, find_twins, rewards_of, sketch

LARGEST_SHARD = 64
"""Runs a task reads: enough that recording the task costs nothing beside it, few enough to show progress."""

_THREADS = 8

VERSION = 1
"""Version of the document of ``ingest --json``."""


@dataclass(frozen=True)
class ReadShard:
    """Sources that one worker reads and archives."""

    sources: tuple[str, ...]
    archive: str
    run_id: str | None
    columns: Mapping[str, str]


def ingest(request: IngestRequest, runner: Runner, progress: Progress = lambda done, total: None) -> dict[str, Any]:
    """Read every run below the paths into the archive, but those that are there already and have not changed.

    Args:
        request: what is asked.
        runner: runs the stages.
        progress: called with the number of files looked at and None, then with the number of sources read so far and
            of all of them.

    Returns:
        the document of ``ingest --json``, with ``skipped`` beside ``runs`` and ``refused``; an entry that was not read
        again has ``"unchanged": true``.

    Raises:
        InputError: a path does not exist.
        UsageError: one id was given for several runs.
    """
    memories = tuple(remembered.recall(request, path) for path in request.paths)
    found = runner.call(find, request.paths, request.columns, memories, lambda count: progress(count, None))
    if request.run_id is not None and len(found.runs) > 1:
        raise UsageError(f"--run-id names one run, and {len(found.runs)} were found; ingest them one by one.")
    known = _known(request, found, memories)
    unread = [source for source in found.runs if source not in known]
    shards = [
        ReadShard(tuple(sources), request.archive, request.run_id, request.columns)
        for sources in shards_of(unread, request.workers, LARGEST_SHARD)
    ]
    done = counting(progress, len(unread), _size)
    read = [one for shard in runner.map(ingest_shard, shards, request.workers, done) for one in shard]
    fresh = known | dict(zip(unread, read, strict=True))
    readings = _one_source_a_run(request, {source: fresh[source] for source in found.runs}, runner)
    for path, memory, searched in zip(request.paths, memories, found.searched, strict=True):
        of_path = {source: readings[str(source)] for source in searched.marks if str(source) in readings}
        remembered.remember(request, path, memory.document(searched, of_path))
    return _document(request, found, readings, known)


def _known(request: IngestRequest, found: Sources, memories: Sequence[Memory]) -> dict[str, Reading]:
    """The sources that would be read and archived just as they were before."""
    store = Store(request.archive)
    wanted = set(found.runs)
    asked = [
        (memory, source, mark)
        for memory, searched in zip(memories, found.searched, strict=True)
        for source, mark in searched.marks.items()
        if str(source) in wanted
    ]
    # Threads, since what takes time is reading the archive's files.
    with ThreadPoolExecutor(_THREADS) as pool:
        told = pool.map(lambda one: one[0].reading(one[1], one[2], store), asked)
        return {str(source): reading for (_, source, _), reading in zip(asked, told, strict=True) if reading}


def _one_source_a_run(request: IngestRequest, readings: Mapping[str, Reading], runner: Runner) -> dict[str, Reading]:
    """Take one of the sources that gave one id: the log that goes furthest, of equal ones the first.

    The others are refused, but those that are earlier states of it, such as the log of an attempt that was killed.
    """
    settled = dict(readings)
    by_id: dict[str, list[str]] = {}
    for source, reading in readings.items():
        if "run_id" in reading.entry:
            by_id.setdefault(reading.entry["run_id"], []).append(source)
    for run_id, sources in by_id.items():
        kept = max(sources, key=lambda source: readings[source].entry["last_step"] or 0)
        others = [source for source in sources if _place(source) != _place(kept)]
        for source in others:
            reason = f"gave the id of the run from {kept}; ingest it with --run-id"
            # Not remembered, since it is not the log's own fault.
            settled[source] = Reading(_refusal(source, reason), beside=None)
        if others and content_of(Store(request.archive), run_id) != readings[kept].content:
            # Another one with the same rows was written after it.
            shard = ReadShard((kept,), request.archive, request.run_id, request.columns)
            (settled[kept],) = runner.call(ingest_shard, shard)
        for source in others:
            # The archive, which has the longer log by now, tells what a shorter one is.
            if (readings[source].entry["last_step"] or 0) < (readings[kept].entry["last_step"] or 0):
                (told,) = runner.call(
                    ingest_shard, ReadShard((source,), request.archive, request.run_id, request.columns)
                )
                settled[source] = told if told.older else settled[source]
    return settled


def _place(source: str) -> tuple[str, str | None]:
    path, part = source_of(source)
    return os.path.realpath(path), part


def _document(
    request: IngestRequest, found: Sources, readings: Mapping[str, Reading], known: Mapping[str, Reading]
) -> dict[str, Any]:
    entries = [{**reading.entry, "source": source} for source, reading in readings.items()]
    runs = [one | ({"unchanged": True} if one["source"] in known else {}) for one in entries if "reason" not in one]
    twins = _twins(request, readings)
    for run in runs:
        if run["run_id"] in twins:
            run["warnings"] = [*run["warnings"], twins[run["run_id"]].remark]
    refused, skipped = list(found.refused), list(found.skipped)
    for entry, reading in zip(entries, readings.values(), strict=True):
        if "reason" in entry:
            # As with what the search sees: of a folder's files, those that are no runs do no harm.
            harmless = runs and (reading.older or (reading.no_run and entry["source"] not in found.named))
            (skipped if harmless else refused).append(entry)
    return {"version": VERSION, "runs": runs, "refused": refused, "skipped": skipped}


def _twins(request: IngestRequest, readings: Mapping[str, Reading]) -> dict[str, Twin]:
    archive = Archive(request.archive)
    sketches = {one.entry["run_id"]: one.sketch for one in readings.values() if one.sketch is not None}
    places = {one.entry["run_id"]: source_of(source).path for source, one in readings.items() if one.sketch is not None}
    columns = ["run_id", "split", "step", "reward"]

    def rewards(run_ids: Sequence[str]) -> dict[str, NDArray[np.float64]]:
        return {one: rewards_of(archive.steps([one], columns, refused=[])) for one in run_ids}

    return find_twins(sketches, places, rewards)


def _size(shard: ReadShard) -> int:
    return len(shard.sources)


def ingest_shard(shard: ReadShard) -> list[Reading]:
    """Read and archive the sources of a shard; what cannot be read becomes ``{"source", "reason"}``."""
    return [_ingest(source, shard) for source in shard.sources]


def _ingest(source: str, shard: ReadShard) -> Reading:
    begun = time.time_ns()
    try:
        run = read_run(source, run_id=shard.run_id, columns=shard.columns)
        store_run(run, shard.archive)
        content = content_of(Store(shard.archive), run.run_id)
    except InputError as error:
        return Reading(_refusal(source, str(error)), no_run=isinstance(error, NotARunError), begun=begun)
    except RlchecksError as error:
        # Not the log's own fault, so it may be another time.
        return Reading(_refusal(source, str(error)), beside=None, older=isinstance(error, OlderCopyError))
    except OSError:
        raise
    except Exception as error:
        # One log that uncovers a fault must not cost the others.
        problem = shown(f"{type(error).__name__}: {error}", 200)
        return Reading(_refusal(source, f"a fault of rlchecks itself ({problem}); please report it."), beside=None)
    elsewhere = remembered.beside(run, source_of(source).path, begun)
    return Reading(summary(run), elsewhere, content, sketch(run.steps), begun=begun)


def _refusal(source: str, reason: str) -> dict[str, Any]:
    return {"source": source, "reason": reason}


def summary(run: RunLog) -> dict[str, Any]:
    """The entry of a run in the document of ``ingest --json``."""
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
        "count": len(values),
    }
