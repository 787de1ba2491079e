"""Tables of a run's history, as Weights & Biases' API hands them out and as SDKs before 0.10 wrote them.

``run.history()`` is a sample of 500 rows unless it is asked for more, ``run.scan_history()`` is complete. Both have
the columns ``_step``, ``_runtime`` and ``_timestamp`` beside the logged keys. Source: wandb/wandb
wandb/apis/public/runs.py.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from itertools import pairwise
from pathlib import Path

from rlchecks.errors import NotARunError
from rlchecks.readers.aliases import recognise
from rlchecks.readers.assemble import Logged, assemble, keys_of
from rlchecks.readers.files import read_head
from rlchecks.readers.identity import run_name
from rlchecks.readers.parquet import is_archived
from rlchecks.readers.registry import ReadOptions
from rlchecks.readers.rows import Rows
from rlchecks.readers.steps import MAX_STEP
from rlchecks.readers.table_files import SUFFIXES, keys_in, peek, read_rows
from rlchecks.readers.text import listing, place
from rlchecks.readers.trl_rules import apply
from rlchecks.readers.values import to_count
from rlchecks.readers.wandb_history import STEP, History
from rlchecks.readers.wandb_rows import CLOCKS, framework_of, unite
from rlchecks.run import RunLog

_OLD = "wandb-history"
_SAMPLE = 500


class WandbExportReader:
    """Reads exported histories of Weights & Biases: CSV, JSON, JSON Lines, Parquet."""

    name = "wandb_export"
    suffixes = SUFFIXES
    looks_for = "a table of a Weights & Biases run's history (columns _step, _runtime, _timestamp)"

    def holds(self, names: Collection[str]) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return False

    def detect(self, path: Path, head: bytes) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        if path.suffix.lower() not in SUFFIXES or path.is_dir() or is_archived(path, head):
            return False
        keys = keys_in(peek(path, head))
        if STEP not in keys or not CLOCKS & set(keys):
            return False
        known = recognise(keys, "table")
        return any(known.is_reward(key) for key in keys)

    def opening(self, path: Path, part: str | None = None) -> str | None:
        """See :class:`rlchecks.readers.registry.Reader`; the first row."""
        rows = peek(path, read_head(path))
        return json.dumps(rows[0], sort_keys=True, default=str) if rows else None

    def read(self, path: Path, options: ReadOptions) -> RunLog:
        """See :class:`rlchecks.readers.registry.Reader`."""
        table = read_rows(path)
        history = History()
        rows = Rows()
        for row in table.rows:
            rows.append(history.plain(row))
        steps = [to_count(row.get(STEP), MAX_STEP) for row in rows]
        if len(rows) == 1 and steps[0]:
            problem = f"one row, that of log call {steps[0]:,}: the summary of a run, expected a row for each step"
            raise NotARunError(problem, path=place(path))
        keys = keys_of(rows)
        framework = framework_of(keys, options.columns)
        united = unite([rows], framework, options.columns)
        logged = Logged(
            path=path,
            # The name of the old files says nothing; their directory's does.
            name=run_name(path.absolute().parent if path.stem == _OLD else path),
            framework=framework,
            rows=united.rows,
            inputs=(table.source,),
            facts={"not_read": listing(sorted(history.left_out))} if history.left_out else {},
            warnings=(*table.warnings, *history.warnings(), *united.warnings, *_sampled(steps)),
            untyped=table.untyped,
        )
        return apply(assemble(logged, options), keys)


def _sampled(steps: Sequence[int | None]) -> list[str]:
    """Say that a history is a sample if it has as many rows as a sample has, and gaps of several lengths."""
    known = [step for step in steps if step is not None]
    if len(steps) != _SAMPLE or len({after - before for before, after in pairwise(known)}) < 2:
        return []
    calls = max(known) - min(known) + 1
    return [
        f"exactly {_SAMPLE} rows of {calls:,} log calls: run.history() hands out a sample of that size;"
        " run.scan_history() hands out all rows"
    ]
