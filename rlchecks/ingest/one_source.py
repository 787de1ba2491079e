"""One run, one source: which of several logs with one id is the run's."""

from __future__ import annotations

import os
from collections.abc import Mapping

from rlchecks.archive.sources import content_of
from rlchecks.archive.store import Store
from rlchecks.ingest.reading import Reading
from rlchecks.ingest.shard import ReadShard, ingest_shard, refusal
from rlchecks.readers.source import source_of
from rlchecks.requests import IngestRequest
from rlchecks.runner import Runner


def one_source_a_run(request: IngestRequest, readings: Mapping[str, Reading], runner: Runner) -> dict[str, Reading]:
    """Take one of the sources that gave one id: the log that goes furthest, of equal ones the first.

    The others are refused, but those that are earlier states of it, such as the log of an attempt that was killed.
    """
    settled = dict(readings)
    for run_id, sources in _by_id(readings).items():
        last_step = {source: readings[source].entry["last_step"] or 0 for source in sources}
        kept = max(sources, key=last_step.__getitem__)
        others = [source for source in sources if _place(source) != _place(kept)]
        if others and content_of(Store(request.archive), run_id) != readings[kept].content:
            # Another one with the same rows was written after it.
            settled[kept] = _read_again(kept, request, runner)
        for source in others:
            reason = f"gave the id of the run from {kept}; ingest it with --run-id"
            # Not remembered, since it is not the log's own fault.
            settled[source] = Reading(refusal(source, reason), beside=None)
            if last_step[source] < last_step[kept]:
                # The archive, which has the longer log by now, tells what a shorter one is.
                told = _read_again(source, request, runner)
                settled[source] = told if told.older else settled[source]
    return settled


def _by_id(readings: Mapping[str, Reading]) -> dict[str, list[str]]:
    """Run ids with the sources that gave them."""
    found: dict[str, list[str]] = {}
    for source, reading in readings.items():
        if "run_id" in reading.entry:
            found.setdefault(reading.entry["run_id"], []).append(source)
    return found


def _read_again(source: str, request: IngestRequest, runner: Runner) -> Reading:
    (told,) = runner.call(ingest_shard, ReadShard((source,), request.archive, request.run_id, request.columns))
    return told


def _place(source: str) -> tuple[str, str | None]:
    path, part = source_of(source)
    return os.path.realpath(path), part
