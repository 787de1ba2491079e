"""Ingestion, composed once: find the runs below some paths, read each once, archive it with its signals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlchecks.archive import Archive
from rlchecks.archive.store import Store
from rlchecks.errors import UsageError
from rlchecks.ingest.memory import Memory, recall, remember
from rlchecks.ingest.one_source import one_source_a_run
from rlchecks.ingest.reading import Reading
from rlchecks.ingest.shard import ReadShard, ingest_shard
from rlchecks.ingest.twins import Twin, find_twins, rewards_of
from rlchecks.locate import Sources, find
from rlchecks.progress import Progress, counting
from rlchecks.readers.source import source_of
from rlchecks.requests import IngestRequest
from rlchecks.runner import Runner, shards_of

LARGEST_SHARD = 64
"""Runs a task reads: enough that recording the task costs nothing beside it, few enough to show progress."""

_THREADS = 8

VERSION = 1
"""Version of the document of ``ingest --json``."""


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
    memories = tuple(recall(request, path) for path in request.paths)
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
    readings = one_source_a_run(request, {source: fresh[source] for source in found.runs}, runner)
    for path, memory, searched in zip(request.paths, memories, found.searched, strict=True):
        of_path = {source: readings[str(source)] for source in searched.marks if str(source) in readings}
        remember(request, path, memory.document(searched, of_path))
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
