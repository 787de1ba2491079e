"""prime-rl: the ``metrics.jsonl`` of a run directory, written by two processes, several rows a step.

In 0.8.0 the trainer writes into the run directory and the orchestrator into ``run_default`` below it; since August 2026
both append to one file. A row is ``{"step": n, "time": seconds, ...}``; non-finite values are left out when it is
written, and a resumed run appends. Source: PrimeIntellect-ai/prime-rl, ``src/prime_rl/utils/monitor/file.py`` and
``packages/prime-rl-configs/src/prime_rl/utils/validation.py`` at v0.8.0, ``src/prime_rl/monitors/file.py`` at 559b447.
"""

from __future__ import annotations

import heapq
import json
import os
import re
import tomllib
from collections.abc import Collection, Iterator
from pathlib import Path

from rlchecks.errors import InputError
from rlchecks.readers.aliases import recognise
from rlchecks.readers.assemble import Logged, assemble, keys_of
from rlchecks.readers.files import read_bytes, read_head
from rlchecks.readers.identity import run_name
from rlchecks.readers.json_lines import PACK_BYTES, JsonLines, first_object
from rlchecks.readers.registry import ReadOptions
from rlchecks.readers.rows import Rows
from rlchecks.readers.steps import MAX_STEP, Row
from rlchecks.readers.table_files import peek
from rlchecks.readers.values import to_count, to_number
from rlchecks.run import InputFile, RunLog

LOG = "metrics.jsonl"
"""Name of the logs."""

_PLACES = (Path(), Path("run_default"), Path("orchestrator"), Path("trainer"))
_SETTINGS = (Path("configs/rl.json"), Path("configs/rl.toml"))
_LARGEST_SETTINGS = 1 << 20
_OPENING = re.compile(rb'\s*\{\s*"step"\s*:\s*\d+\s*,\s*"time"\s*:\s*\d')
_OWN = re.compile(rb'"(?:train/|eval/|reward/|entropy/|mismatch_kl/|optim/|perf/|progress/|stop_condition/|batch/)')


class PrimeRlReader:
    """Reads the run directories of prime-rl; a single log of it is a table."""

    name = "prime_rl"
    suffixes: frozenset[str] = frozenset()
    looks_for = f"a run directory of prime-rl (with its {LOG})"

    def holds(self, names: Collection[str]) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return LOG in names or any(place.name in names for place in _PLACES[1:])

    def detect(self, path: Path, head: bytes) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return path.is_dir() and bool(_logs(path))

    def files(self, path: Path) -> list[Path]:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return [*_logs(path), *(path / place for place in _SETTINGS if os.path.lexists(path / place))]

    def belongs(self, directory: Path) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return any(directory.name == place.name for place in _PLACES[1:]) and bool(_logs(directory.parent))

    def opening(self, path: Path, part: str | None = None) -> str | None:
        """See :class:`rlchecks.readers.registry.Reader`; the first row of each log.

        Raises:
            InputError: a log cannot be read; NotARunError: there is no reward in them.
        """
        logs = _logs(path)
        heads = [read_head(log) for log in logs]
        keys = {key for log, head in zip(logs, heads, strict=True) for row in peek(log, head) for key in row}
        if not any(recognise(keys, self.name).is_reward(key) for key in keys):
            # Not among the first rows: the whole log has to tell.
            self.read(path, ReadOptions())
        return json.dumps([first_object(head) for head in heads], sort_keys=True)

    def read(self, path: Path, options: ReadOptions) -> RunLog:
        """See :class:`rlchecks.readers.registry.Reader`."""
        logs = [JsonLines(log) for log in _logs(path)]
        rows = Rows(path)
        # Each file is in the order of time; a resumed run comes after what it repeats.
        packed = 0
        for _, _, row in heapq.merge(
            *(_timed(lines, place) for place, lines in enumerate(logs)), key=lambda one: one[:2]
        ):
            rows.append(row)
            taken = sum(lines.taken for lines in logs)
            if taken - packed > PACK_BYTES:
                packed = taken
                rows.pack()
        planned, settings = _planned(path)
        several = len(logs) > 1
        logged = Logged(
            path=path,
            name=run_name(path),
            framework=recognise(keys_of(rows), self.name),
            rows=rows,
            inputs=(*(lines.source for lines in logs), *settings),
            planned_steps=planned,
            warnings=tuple(
                f"{log.relative_to(path)}: {warning}" if several else warning
                for log, lines in zip(_logs(path), logs, strict=True)
                for warning in lines.warnings
            ),
        )
        return assemble(logged, options)


def _logs(directory: Path) -> list[Path]:
    found = []
    for place in _PLACES:
        log = directory / place / LOG
        try:
            head = read_head(log) if log.is_file() else b""
        except (InputError, OSError):
            continue
        if _OPENING.match(head) and _OWN.search(head):
            found.append(log)
    return found


def _timed(lines: JsonLines, place: int) -> Iterator[tuple[float, int, Row]]:
    before = 0.0
    for _, row in lines:
        time = to_number(row.get("time"))
        # A clock that was set back does not change the order within a file.
        before = before if time is None else max(before, time)
        yield before, place, row


def _planned(directory: Path) -> tuple[int | None, list[InputFile]]:
    for place in _SETTINGS:
        path = directory / place
        if not path.is_file():
            continue
        try:
            contents = read_bytes(path, _LARGEST_SETTINGS)
            text = contents.data.decode()
            document = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        except (InputError, ValueError, RecursionError):
            continue
        planned = to_count(document.get("max_steps"), MAX_STEP) if isinstance(document, dict) else None
        return planned or None, [contents.source]
    return None, []
