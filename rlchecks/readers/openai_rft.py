"""Reinforcement fine-tuning at OpenAI, and at Azure, which has the same shapes.

A single file is a run. In a directory with the events of one job, checkpoints and result file beside them are of that
job: the API lists 20 events at a time unless it is asked for more, and the result file has every step.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from itertools import pairwise
from pathlib import Path

from rlchecks.errors import InputError, NotARunError
from rlchecks.readers.aliases import framework
from rlchecks.readers.assemble import Logged, assemble
from rlchecks.readers.files import read_head
from rlchecks.readers.identity import run_name
from rlchecks.readers.openai_events import divided
from rlchecks.readers.openai_files import (
    CHECKPOINTS,
    ENCODED,
    EVENTS,
    LISTED,
    RESULTS,
    Found,
    has_results,
    kind_of,
    load,
)
from rlchecks.readers.registry import ReadOptions
from rlchecks.readers.rows import Row
from rlchecks.readers.steps import MAX_STEP
from rlchecks.readers.table_files import read_rows
from rlchecks.readers.text import place
from rlchecks.readers.values import to_count, to_number
from rlchecks.run import RunLog

# Of a directory with more files of these kinds nobody knows which belong together.
_MOST_FILES = 50


class OpenaiRftReader:
    """Reads what OpenAI's API returns about a reinforcement fine-tuning job."""

    name = "openai_rft"
    suffixes = LISTED | ENCODED
    looks_for = "events, checkpoints or the result file of an OpenAI reinforcement fine-tuning job"

    def holds(self, names: Collection[str]) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return any("event" in name.lower() and Path(name).suffix.lower() in LISTED for name in names)

    def detect(self, path: Path, head: bytes) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return bool(_job(path)) if path.is_dir() else kind_of(path, head) is not None

    def files(self, path: Path) -> list[Path]:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return list(_job(path).values())

    def opening(self, path: Path, part: str | None = None) -> str | None:
        """See :class:`rlchecks.readers.registry.Reader`; the first row.

        Raises:
            InputError: the file cannot be read; NotARunError: it is of a job of another kind.
        """
        found = load(_job(path)[EVENTS] if path.is_dir() else path)
        known = framework("openai_rft_events")
        if not any(known.is_reward(key) for row in found.rows for key in row):
            self.read(path, ReadOptions())
        return json.dumps(found.rows[0], sort_keys=True, default=str)

    def read(self, path: Path, options: ReadOptions) -> RunLog:
        """See :class:`rlchecks.readers.registry.Reader`."""
        job = _job(path) if path.is_dir() else {}
        if path.is_dir() and not job:
            raise NotARunError("expected the events of one job beside its other files", path=place(path))
        found = load(job.get(EVENTS, path))
        encoded = not job and path.suffix.lower() in ENCODED
        others = {kind: _table(file) for kind, file in job.items() if kind != EVENTS}
        rows = found.rows
        if RESULTS in others:
            rows = _completed(rows, others[RESULTS].rows)
        facts = {}
        if CHECKPOINTS in others:
            steps = [
                step for row in others[CHECKPOINTS].rows if (step := to_count(row.get("step"), MAX_STEP)) is not None
            ]
            facts["checkpoints"] = ",".join(str(step) for step in sorted(set(steps)))
        logged = Logged(
            path=path,
            name=run_name(path),
            framework=framework("openai_rft_csv" if encoded else "openai_rft_events"),
            rows=rows,
            inputs=(found.source, *(other.source for other in others.values())),
            planned_steps=found.planned,
            facts=facts,
            warnings=(*found.warnings, *(warning for other in others.values() for warning in other.warnings)),
            untyped=encoded,
        )
        return assemble(logged, options)


def _job(directory: Path) -> dict[str, Path]:
    """Find the files of one job, by kind; none if there are no events, nothing beside them, or two of a kind."""
    try:
        files = sorted(entry for entry in directory.iterdir() if entry.suffix.lower() in LISTED | ENCODED)
    except OSError:
        return {}
    found: list[tuple[str, Path]] = []
    for file in files if len(files) <= _MOST_FILES else []:
        try:
            head = read_head(file)
        except InputError:
            continue
        kind = RESULTS if file.suffix.lower() == ".csv" and has_results(head) else kind_of(file, head)
        found += [(kind, file)] if kind else []
    kinds = dict(found)
    return kinds if EVENTS in kinds and len(kinds) == len(found) > 1 else {}


def _table(path: Path) -> Found:
    """Read a file beside the events."""
    if path.suffix.lower() != ".csv" or kind_of(path, read_head(path)):
        return load(path)
    table = read_rows(path)
    return Found(list(table.rows), None, table.source, table.warnings)


def _completed(events: Sequence[Row], results: Sequence[Row]) -> list[Row]:
    """Add what the result file has: further columns to the last row of their step, and steps without an event."""
    given = {(_step(part), "split" in part): part for row in results for part in divided(_typed(row))}
    rows: list[Row] = []
    for row in reversed(events):
        extra = given.pop((_step(row), "split" in row), {})
        rows.append({**{key: value for key, value in extra.items() if key not in row}, **row})
    rows = [*given.values(), *reversed(rows)]
    steps = [_step(row) or 0 for row in events]
    if any(before > after for before, after in pairwise(steps)):
        # A resumed job goes back; its rows stay in the order of the training.
        return rows
    return sorted(rows, key=lambda row: _step(row) or 0)


def _typed(row: Row) -> dict[str, object]:
    """Read the numbers of a table that knows only text; blank cells are left out."""
    typed = {}
    for key, value in row.items():
        number = to_number(value)
        if value is not None:
            typed[key] = value if number is None else number
    return typed


def _step(row: Row) -> int | None:
    return to_count(row.get("step"), MAX_STEP)
