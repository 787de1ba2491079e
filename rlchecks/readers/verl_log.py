"""verl's file logger, rLLM's too: JSON Lines of ``{"step": n, "data": {...}}``, and the samples dumped beside it.

Source: verl-project/verl, ``FileLogger`` in ``verl/utils/tracking.py``; rllm-org/rllm, ``rllm/utils/tracking.py``. What
is not a number there is NaN in verl 0.6 and 0.7 and null since 0.8.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from rlchecks.errors import InputError, NotARunError
from rlchecks.readers.aliases import Framework, recognise
from rlchecks.readers.assemble import Logged, assemble, keys_of
from rlchecks.readers.files import read_head
from rlchecks.readers.identity import run_name
from rlchecks.readers.json_lines import JsonLines, collect, first_object
from rlchecks.readers.registry import ReadOptions
from rlchecks.readers.rows import Rows
from rlchecks.readers.score_groups import WITHIN_GROUP
from rlchecks.readers.steps import MAX_STEP, Row
from rlchecks.readers.text import counted, place
from rlchecks.readers.values import to_count, to_number
from rlchecks.readers.verl_dump import GROUPED, spreads, with_samples
from rlchecks.readers.verl_samples import Dump, dumps_below, read_dump, sample_files
from rlchecks.run import RunLog

_OPENING = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"step"\s*:\s*-?\d+\s*,\s*"data"\s*:\s*\{')
_LEVELS = 2
# A directory with more files of JSON Lines is not that of one run.
_MOST_LOGS = 50
# Means over the same answers, summed in another order or precision.
_TOLERANCE = 1e-3


class VerlLogReader:
    """Reads the log of verl's file logger, or a directory with one such log and directories of dumped samples."""

    name = "verl_log"
    suffixes = frozenset({".jsonl"})
    looks_for = "the JSON Lines of verl's file logger ({'step': n, 'data': {...}})"

    def holds(self, names: Collection[str]) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return any(name.endswith(".jsonl") for name in names)

    def detect(self, path: Path, head: bytes) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return _log_in(path) is not None if path.is_dir() else _OPENING.match(head) is not None

    def files(self, path: Path) -> list[Path]:
        """See :class:`rlchecks.readers.registry.Reader`."""
        log = _log_in(path)
        samples = [file for directory in dumps_below(path, _LEVELS) for _, file in sample_files(directory)]
        return [*([log] if log else []), *samples]

    def opening(self, path: Path, part: str | None = None) -> str | None:
        """See :class:`rlchecks.readers.registry.Reader`; the first row."""
        log = _log_in(path) if path.is_dir() else path
        return json.dumps(first_object(read_head(log)), sort_keys=True) if log else None

    def read(self, path: Path, options: ReadOptions) -> RunLog:
        """See :class:`rlchecks.readers.registry.Reader`."""
        log = _log_in(path) if path.is_dir() else path
        if log is None:
            raise NotARunError("expected one log of verl's file logger beside its samples", path=place(path))
        lines = JsonLines(log)
        rows = Rows(log)

        def row_of(number: int, line: Row) -> Row:
            data = line.get("data")
            if not isinstance(data, dict):
                raise InputError("expected {'step': ..., 'data': {...}}", path=place(log), where=f"line {number}")
            return {**{key: value for key, value in line.items() if key != "data"}, **data}

        collect(lines, rows, row_of)
        keys = keys_of(rows)
        known = recognise(keys, "verl")
        dumps: list[Dump] = []
        warnings = list(lines.warnings)
        for directory in dumps_below(path, _LEVELS) if path.is_dir() else []:
            dump, remarks = _side_files(directory, rows, known)
            dumps += [dump] if dump else []
            warnings += [f"{directory.relative_to(path)}: {remark}" for remark in remarks]
        added = {one.step: spreads(one) for dump in dumps if not dump.validation for one in dump.steps}
        logged = Logged(
            path=path,
            name=run_name(log),
            framework=known,
            rows=_Completed(rows, added) if any(added.values()) else rows,
            inputs=(lines.source, *(source for dump in dumps for source in dump.inputs)),
            facts={"reward_std_semantics": WITHIN_GROUP, "grouped_by": f"{GROUPED} (inferred)"} if added else {},
            warnings=tuple(warnings),
        )
        run = assemble(logged, options)
        return with_samples(run, dumps) if dumps else run


class _Completed(Sequence[Row]):
    """Logged rows with what the samples of their steps add; what was logged stays."""

    def __init__(self, rows: Sequence[Row], added: Mapping[int, Row]) -> None:
        self._rows = rows
        self._added = added

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> Row:  # type: ignore[override]
        row = self._rows[index]
        step = to_count(row.get("step"), MAX_STEP)
        added = self._added.get(step) if step is not None else None
        return {**added, **row} if added else row


def _log_in(directory: Path) -> Path | None:
    """Return the log of a directory that has samples below; None if there is not just one log, or there are none."""
    if not dumps_below(directory, _LEVELS):
        return None
    try:
        candidates = [entry for entry in directory.iterdir() if entry.suffix == ".jsonl" and entry.is_file()]
    except OSError:
        return None
    logs = []
    for candidate in candidates if len(candidates) <= _MOST_LOGS else []:
        try:
            logs += [candidate] if _OPENING.match(read_head(candidate)) else []
        except InputError:
            continue
    return logs[0] if len(logs) == 1 else None


def _side_files(directory: Path, rows: Sequence[Row], known: Framework) -> tuple[Dump | None, list[str]]:
    """Read a directory of samples; None, and why, if they cannot be those of the log."""
    try:
        dump = read_dump(directory)
    except InputError as error:
        return None, [f"left out: {error.problem}"]
    if dump.validation:
        return dump, list(dump.warnings)
    logged: dict[int, float] = {}
    for row in rows:
        step = to_count(row.get("step"), MAX_STEP)
        reward = next(
            (
                number
                for key in row
                if known.is_reward(key) and not known.is_eval(key) and (number := to_number(row[key])) is not None
            ),
            None,
        )
        if step is not None and reward is not None:
            logged[step] = reward
    common = [(logged[one.step], one.scores.mean) for one in dump.steps if one.step in logged]
    differing = sum(not np.isclose(*pair, rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True) for pair in common)
    if 2 * differing > len(common):
        steps = counted(len(common), "common step")
        return None, [
            f"left out: at {differing} of {steps} its mean score is not the logged reward, so it is of another run"
        ]
    return dump, list(dump.warnings)
