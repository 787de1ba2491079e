"""ms-swift: ``logging.jsonl`` of an output directory, and the ``completions.jsonl`` beside it.

Rows have TRL's keys but no ``step``: ``"global_step/max_steps": "10/438"`` stands for it, with Megatron
``iteration``. A resumed run appends. A finished one ends with a summary and an object that repeats the whole
``log_history``. Source: modelscope/ms-swift, ``swift/trainers/patcher.py``, ``swift/megatron/callbacks/print.py``,
``swift/pipelines/train/sft.py``.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from rlchecks.errors import InputError
from rlchecks.readers.aliases import framework
from rlchecks.readers.assemble import Logged, assemble, keys_of
from rlchecks.readers.files import read_head
from rlchecks.readers.identity import run_name
from rlchecks.readers.json_lines import JsonLines, collect, first_object
from rlchecks.readers.registry import ReadOptions
from rlchecks.readers.rows import Rows
from rlchecks.readers.steps import Row
from rlchecks.readers.swift_answers import FILE, read_answers
from rlchecks.readers.table_files import peek
from rlchecks.readers.trl_neighbours import look_around, side_files
from rlchecks.run import RunLog, rows_of

LOG = "logging.jsonl"
"""Name of the log in an output directory."""

_COUNTERS = ("global_step/max_steps", "iteration")
_OPENING = re.compile(rb'"(?:global_step/max_steps|iteration)"\s*:\s*"\d{1,12}/\d{1,12}"')
_COUNT = re.compile(r"(\d{1,12})/(\d{1,12})")
_PROGRESS = frozenset(
    {
        *("elapsed_time", "remaining_time", "percentage", "memory(GiB)"),
        *("train_speed(s/it)", "train_speed(iter/s)"),
    }
)


class SwiftReader:
    """Reads the log of ms-swift, of its trainers on transformers and on Megatron."""

    name = "swift"
    suffixes = frozenset({".jsonl"})
    looks_for = f"an output directory of ms-swift (with {LOG}), or its {LOG}"

    def holds(self, names: Collection[str]) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return LOG in names

    def detect(self, path: Path, head: bytes) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        if path.is_dir():
            try:
                head = read_head(path / LOG)
            except InputError:
                return False
        return _OPENING.search(head.partition(b"\n")[0]) is not None

    def files(self, path: Path) -> list[Path]:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return [file for file in (path / LOG, path / FILE, *side_files([path])) if os.path.lexists(file)]

    def beside(self, path: Path) -> list[Path]:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return [path.parent / FILE, *side_files([path.parent]), path.parent / "wandb"]

    def opening(self, path: Path, part: str | None = None) -> str | None:
        """See :class:`rlchecks.readers.registry.Reader`; the first row.

        Raises:
            InputError: the log cannot be read; NotARunError: it holds no run of reinforcement learning.
        """
        log = path / LOG if path.is_dir() else path
        head = read_head(log)
        if not any(framework("ms_swift").is_reward(key) for row in peek(log, head) for key in row):
            # Not among the first rows: the whole log has to tell.
            self.read(path, ReadOptions())
        return json.dumps(first_object(head), sort_keys=True)

    def read(self, path: Path, options: ReadOptions) -> RunLog:
        """See :class:`rlchecks.readers.registry.Reader`."""
        log = path / LOG if path.is_dir() else path
        lines = JsonLines(log)
        rows = Rows(log)
        planned: int | None = None

        def row_of(number: int, line: Row) -> Row | None:
            nonlocal planned
            if "log_history" in line:
                # The closing object, which says everything again.
                return None
            row, end = _row(line)
            planned = end or planned
            return row

        collect(lines, rows, row_of)
        neighbours = look_around([log.parent])
        facts = dict(neighbours.facts)
        keys = keys_of(rows)
        if "reward_std" in keys:
            # It follows from what the rewards are divided by; groups are the default.
            facts["reward_std_semantics"] = "batch" if facts.get("scale_rewards") == "batch" else "within_group"
        if "kl" not in keys:
            # kl is logged if and only if beta is not 0.
            facts.setdefault("beta", "0 (inferred)")
        logged = Logged(
            path=path,
            name=run_name(path),
            framework=framework("ms_swift"),
            rows=rows,
            inputs=(lines.source, *neighbours.inputs),
            planned_steps=planned,
            facts=facts,
            warnings=lines.warnings,
        )
        run = assemble(logged, options)
        answers = log.parent / FILE
        return _with_answers(run, answers) if log.name == LOG and answers.is_file() else run


def _row(line: Row) -> tuple[Row, int | None]:
    """Turn ``"10/438"`` into a step, and return the planned steps beside the row.

    How far the run is stands in every line; in that of an evaluation it would pass for another row of training.
    """
    if any(key.startswith("eval_") for key in line):
        line = {key: value for key, value in line.items() if key not in _PROGRESS}
    for key in _COUNTERS:
        value = line.get(key)
        found = _COUNT.fullmatch(value) if isinstance(value, str) else None
        if found:
            rest = {name: logged for name, logged in line.items() if name != key}
            return {"step": int(found[1]), **rest}, int(found[2])
    return line, None


def _with_answers(run: RunLog, path: Path) -> RunLog:
    steps = {split: set(rows_of(run.steps, split)["step"].to_pylist()) for split in ("train", "eval")}
    try:
        answers = read_answers(path, run.run_id, run.graders, steps["train"], steps["eval"])
    except InputError as error:
        return replace(run, warnings=(*run.warnings, f"{FILE} was passed over: {error.problem}"))
    return replace(
        run,
        completions=answers.table,
        inputs=(*run.inputs, answers.source),
        warnings=(*run.warnings, *answers.warnings),
    )
