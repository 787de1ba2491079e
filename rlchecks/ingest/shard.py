"""Reading some sources and archiving their runs: what one worker does at a time."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rlchecks.archive.sources import content_of
from rlchecks.archive.store import Store
from rlchecks.errors import InputError, NotARunError, OlderCopyError, RlchecksError
from rlchecks.ingest.entry import entry
from rlchecks.ingest.reading import Reading, beside
from rlchecks.ingest.twins import sketch
from rlchecks.readers import read_run
from rlchecks.readers.source import source_of
from rlchecks.readers.text import shown
from rlchecks.stages import store_run


@dataclass(frozen=True)
class ReadShard:
    """Sources that one worker reads and archives."""

    sources: tuple[str, ...]
    archive: str
    run_id: str | None
    columns: Mapping[str, str]


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
        return Reading(refusal(source, str(error)), no_run=isinstance(error, NotARunError), begun=begun)
    except RlchecksError as error:
        # Not the log's own fault, so it may be another time.
        return Reading(refusal(source, str(error)), beside=None, older=isinstance(error, OlderCopyError))
    except OSError:
        raise
    except Exception as error:
        # One log that uncovers a fault must not cost the others.
        problem = shown(f"{type(error).__name__}: {error}", 200)
        return Reading(refusal(source, f"a fault of rlchecks itself ({problem}); please report it."), beside=None)
    elsewhere = beside(run, source_of(source).path, begun)
    return Reading(entry(run), elsewhere, content, sketch(run.steps), begun=begun)


def refusal(source: str, reason: str) -> dict[str, Any]:
    """The entry of a source that was refused."""
    return {"source": source, "reason": reason}
