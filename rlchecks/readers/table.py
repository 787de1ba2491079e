"""Tables of metrics, one row a step: CSV, TSV, JSON Lines, a JSON list of objects, Parquet."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from pathlib import Path

from rlchecks.errors import NotARunError
from rlchecks.readers.aliases import Framework, framework, recognise
from rlchecks.readers.assemble import Logged, assemble, keys_of
from rlchecks.readers.decimal_commas import refuse_decimal_commas
from rlchecks.readers.files import read_head
from rlchecks.readers.identity import run_name
from rlchecks.readers.key_patterns import plain_spelling
from rlchecks.readers.parquet import PARQUET, is_archived
from rlchecks.readers.registry import ReadOptions
from rlchecks.readers.rows import Rows
from rlchecks.readers.run_columns import may_hold_several, runs_in
from rlchecks.readers.samples import answers
from rlchecks.readers.source import choose
from rlchecks.readers.table_files import SUFFIXES, keys_in, peek, read_rows
from rlchecks.readers.text import listing, place
from rlchecks.readers.trl_rules import apply
from rlchecks.run import RunLog

_DEFAULT = "table"
_LOG_NAME = re.compile(r"metric|log|histor|progress|train|curve", re.I)
# Of loops of one's own; not among the keys of a step, since they may count something else.
_COUNTERS = ("it", "iters", "iterations", "update", "updates", "batch", "round", "training_iteration")
_OPENING_ROWS = 16
# What other programs than those that log by rows hardly write.
_ROWS_ALONE = SUFFIXES - {".json"}
_HELD_OUT = frozenset({"question_id", "checkpoint", "judge", "score"})
# Both a question and an answer in a row: one row an answer, not a step.
_QUESTIONS = frozenset({"prompt", "input", "question", "instruction"})
_ANSWERS = frozenset({"completion", "completions", "response", "answer", "output"})


class TableReader:
    """Reads tables whose columns have canonical or known names; see ``[table]`` in ``aliases.toml``."""

    name = "table"
    suffixes = SUFFIXES
    looks_for = "a table (.csv, .tsv, .jsonl, .ndjson, .json, .parquet) with a column for the reward, such as 'reward'"

    def detect(self, path: Path, head: bytes) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        if path.suffix.lower() not in SUFFIXES or path.is_dir() or is_archived(path, head):
            return False
        keys = keys_in(peek(path, head))
        if not keys and head.startswith(PARQUET):
            # Damaged, which is said when it is read.
            return True
        return not no_steps(keys) and any(map(_framework_of(keys).is_reward, keys))

    def holds(self, names: Collection[str]) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return False

    def parts(self, path: Path) -> list[str]:
        """See :class:`rlchecks.readers.registry.Reader`; the values of a column such as ``seed``.

        Raises:
            InputError: as :func:`rlchecks.readers.run_columns.runs_in`, or the table is damaged.
        """
        if not may_hold_several(keys_in(peek(path, read_head(path)))):
            return []
        rows = read_rows(path).rows
        return list(runs_in(rows, _framework_of(keys_of(rows)), path))

    def opening(self, path: Path, part: str | None = None) -> str | None:
        """See :class:`rlchecks.readers.registry.Reader`; the first rows, of CSV and Parquet the first alone.

        Raises:
            InputError: the table is damaged.
        """
        if part is not None:
            table = read_rows(path).rows
            first = runs_in(table, _framework_of(keys_of(table)), path)[part][0]
            return json.dumps(table[int(first)], sort_keys=True, default=str)
        rows = peek(path, read_head(path)) or [read_rows(path).rows[0]]
        return "\n".join(json.dumps(row, sort_keys=True, default=str) for row in rows[:_OPENING_ROWS])

    def read(self, path: Path, options: ReadOptions) -> RunLog:
        """See :class:`rlchecks.readers.registry.Reader`."""
        if path.suffix.lower() not in SUFFIXES:
            suffixes = ", ".join(sorted(SUFFIXES))
            raise NotARunError(f"no table (known by the extensions {suffixes})", path=place(path))
        table = read_rows(path)
        keys = keys_of(table.rows)
        reason = no_steps(keys)
        if reason and not options.columns:
            raise NotARunError(reason, path=place(path))
        known = _framework_of(keys)
        refuse_decimal_commas(table.rows, known.with_columns(options.columns), path)
        several = runs_in(table.rows, known, path) or runs_in(
            table.rows, known.with_columns(options.columns), path, options.columns
        )
        rows, name = table.rows, run_name(path)
        if not several and options.part is not None:
            raise NotARunError(f"one run, so there is no {listing([options.part])} in it", path=place(path))
        if several:
            part = choose(path, list(several), options.part)
            wanted = set(several[part].tolist())
            rows, name = Rows.of([row for at, row in enumerate(rows) if at in wanted], path), f"{name} {part}"
        logged = Logged(
            path=path,
            name=name,
            framework=known,
            rows=rows,
            inputs=(table.source,),
            warnings=table.warnings,
            untyped=table.untyped,
        )
        run = assemble(logged, options)
        return apply(run, keys) if "trl_grpo" in known.lineage else run


def no_steps(keys: Iterable[str]) -> str | None:
    """Say why rows with these keys are no steps of a training run; None if they may be."""
    present = {spelling for key in keys for spelling in (key, plain_spelling(key))}
    if present >= _HELD_OUT:
        return "results of a held-out evaluation, not a training run"
    if known := answers(present):
        return known
    if present & _QUESTIONS and present & _ANSWERS:
        both = [*sorted(present & _QUESTIONS), *sorted(present & _ANSWERS)]
        return f"one row for each answer (columns {listing(both)}), expected one for each step"
    return None


def looks_like_a_log(path: Path, head: bytes) -> bool:
    """Whether a table counts steps, as a log of training does, or is named like one; whether or not it has a reward."""
    if path.suffix.lower() not in SUFFIXES or is_archived(path, head):
        return False
    keys = keys_in(peek(path, head))
    if not keys or no_steps(keys):
        return False
    named = _LOG_NAME.search(path.stem) is not None and path.suffix.lower() != ".json"
    plain = set(map(plain_spelling, keys))
    return named or bool((set(keys) | plain) & {*framework(_DEFAULT).step, *_COUNTERS})


def is_named_like_a_log(path: Path) -> bool:
    """Whether the name of a file alone says that it is a log."""
    return _LOG_NAME.search(path.stem) is not None or path.suffix.lower() in _ROWS_ALONE


def _framework_of(keys: Collection[str]) -> Framework:
    """Tell the framework; of plain tables also where its keys are spelled in another way."""
    known = recognise(keys, _DEFAULT)
    return known.spelled(keys) if _DEFAULT in known.lineage else known
