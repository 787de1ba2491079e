"""tinker-cookbook: the ``metrics.jsonl`` of a log directory, and the ``config.json`` beside it.

Steps are batches, counted from 0; ``progress/done_frac`` is (step + 1) over their number. Source:
thinking-machines-lab/tinker-cookbook, ``tinker_cookbook/rl/train.py``, ``tinker_cookbook/utils/ml_log.py``,
``tinker_cookbook/stores/training_store.py``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from rlchecks.errors import InputError
from rlchecks.readers.aliases import recognise
from rlchecks.readers.assemble import Logged, assemble, keys_of
from rlchecks.readers.files import read_bytes, read_head
from rlchecks.readers.identity import run_name
from rlchecks.readers.json_lines import JsonLines, collect, first_object
from rlchecks.readers.registry import ReadOptions
from rlchecks.readers.rows import Rows
from rlchecks.readers.steps import MAX_STEP
from rlchecks.readers.table_files import peek
from rlchecks.readers.text import clean
from rlchecks.readers.values import to_count, to_number, to_text
from rlchecks.run import InputFile, RunLog

LOG = "metrics.jsonl"
"""Name of the log in a log directory."""

CONFIG = "config.json"
"""Name of the settings beside it."""

_LARGEST_CONFIG = 1 << 20
_OPENING = re.compile(rb'"(?:env/all/reward/total|progress/done_frac|progress/batch)"\s*:')
_FACTS = {
    "beta": ("kl_penalty_coef",),
    "max_completion_length": ("max_tokens",),
    "num_generations": ("dataset_builder", "group_size"),
    "temperature": ("temperature",),
    "loss_type": ("loss_fn",),
    "model": ("model_name",),
    "eval_steps": ("eval_every",),
    "save_steps": ("save_every",),
}
_DROPPED = "remove_constant_reward_groups"


class TinkerReader:
    """Reads the log of tinker-cookbook's reinforcement learning."""

    name = "tinker"
    suffixes = frozenset({".jsonl"})
    looks_for = f"a log directory of tinker-cookbook (with {LOG}), or its {LOG}"

    def holds(self, names: Collection[str]) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return LOG in names and CONFIG in names

    def detect(self, path: Path, head: bytes) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        if path.is_dir():
            if not (path / CONFIG).is_file():
                return False
            try:
                head = read_head(path / LOG)
            except InputError:
                return False
        return _OPENING.search(head.partition(b"\n")[0]) is not None

    def files(self, path: Path) -> list[Path]:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return [file for file in (path / LOG, path / CONFIG) if file.exists()]

    def beside(self, path: Path) -> list[Path]:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return [path.parent / CONFIG]

    def opening(self, path: Path, part: str | None = None) -> str | None:
        """See :class:`rlchecks.readers.registry.Reader`; the first row.

        Raises:
            InputError: the log cannot be read; NotARunError: there is no reward in it.
        """
        log = path / LOG if path.is_dir() else path
        head = read_head(log)
        keys = {key for row in peek(log, head) for key in row}
        if not any(recognise(keys, self.name).is_reward(key) for key in keys):
            # Not among the first rows: the whole log has to tell.
            self.read(path, ReadOptions())
        return json.dumps(first_object(head), sort_keys=True)

    def read(self, path: Path, options: ReadOptions) -> RunLog:
        """See :class:`rlchecks.readers.registry.Reader`."""
        log = path / LOG if path.is_dir() else path
        lines = JsonLines(log)
        rows = Rows(log)
        collect(lines, rows)
        told = (_last_step(rows[place]) for place in range(len(rows) - 1, -1, -1))
        last = next((step for step in told if step is not None), None)
        config, inputs = _config(log.parent / CONFIG) if log.name == LOG else ({}, [])
        facts = {
            fact: clean(to_text(value)) for fact, keys in _FACTS.items() if (value := _at(config, keys)) is not None
        }
        if last is not None:
            facts["planned_from"] = "progress/done_frac (inferred)"
        logged = Logged(
            path=path,
            name=run_name(path),
            framework=recognise(keys_of(rows), self.name),
            rows=rows,
            inputs=(lines.source, *inputs),
            planned_steps=last or None,
            facts=facts,
            warnings=lines.warnings,
        )
        run = assemble(logged, options)
        return _without_dropped_groups(run) if config.get(_DROPPED) is True else run


def _last_step(row: Mapping[str, object]) -> int | None:
    """Return the number of the last planned step, which is one less than there are batches."""
    step = to_count(row.get("progress/batch", row.get("step")), MAX_STEP)
    done = to_number(row.get("progress/done_frac"))
    if step is None or done is None or not 0 < done <= 1:
        return None
    return to_count(float(round((step + 1) / done) - 1), MAX_STEP)


def _config(path: Path) -> tuple[Mapping[str, object], list[InputFile]]:
    try:
        contents = read_bytes(path, _LARGEST_CONFIG)
        document = json.loads(contents.data.decode())
    except (InputError, ValueError, RecursionError):
        return {}, []
    return (document, [contents.source]) if isinstance(document, dict) else ({}, [])


def _at(config: Mapping[str, object], keys: Collection[str]) -> object:
    value: object = config
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return None if isinstance(value, (Mapping, list)) else value


def _without_dropped_groups(run: RunLog) -> RunLog:
    """Take the share of groups without a spread as missing: such groups were dropped before they were counted."""
    place = run.steps.schema.get_field_index("zero_std_fraction")
    nothing = pa.nulls(len(run.steps), pa.float64())
    warning = f"{_DROPPED} is on: groups of equal rewards were dropped uncounted, so their share is missing"
    return replace(
        run,
        steps=run.steps.set_column(place, run.steps.schema.field(place), nothing),
        warnings=(*run.warnings, warning),
    )
