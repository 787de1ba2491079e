"""ms-swift's ``completions.jsonl``: a line for each logged step, an object with one list a column.

Columns: ``step`` (text) or, with Megatron, ``gen_step``; ``prompt``; ``completion``; the raw score of each reward
function; ``advantages``; what the user's plugins add. The Ray trainer writes a line for each answer instead, with
``reward``. At an evaluation the same step is written once more, with the answers of the evaluation. Source:
modelscope/ms-swift, ``swift/rlhf_trainers/grpo_trainer.py``, ``swift/megatron/trainers/rollout_mixin.py``,
``swift/ray/megatron/base_trainer.py``.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from rlchecks.readers.answers import MAX_BYTES, Answer, to_table
from rlchecks.readers.steps import MAX_STEP
from rlchecks.readers.stream import Stream
from rlchecks.readers.text import counted
from rlchecks.readers.values import to_count
from rlchecks.run import InputFile

FILE = "completions.jsonl"
"""Name of the file in an output directory."""

_STEPS = ("step", "gen_step")
_OWN = frozenset({*_STEPS, "prompt", "completion", "advantages", "reward"})
_STEP = re.compile(rb'\s*\{\s*"(?:gen_)?step"\s*:\s*\[?\s*"?(\d{1,12})\b')


class SwiftAnswers(NamedTuple):
    """Logged answers as :data:`rlchecks.schema.COMPLETIONS`, the file they come from, what to tell about them."""

    table: pa.Table
    source: InputFile
    warnings: tuple[str, ...]


class _Kept:
    """Lines that fit into memory: every line, then every second, every fourth, ... and always the last."""

    def __init__(self) -> None:
        self._lines: dict[int, bytes] = {}
        self._stride = 1
        self._bytes = 0
        self._last: tuple[int, bytes] | None = None

    def add(self, index: int, data: bytes) -> None:
        self._last = index, data
        if index % self._stride:
            return
        self._lines[index] = data
        self._bytes += len(data)
        while self._bytes > MAX_BYTES and len(self._lines) > 1:
            self._stride *= 2
            self._lines = {at: line for at, line in self._lines.items() if at % self._stride == 0}
            self._bytes = sum(map(len, self._lines.values()))

    def lines(self) -> dict[int, bytes]:
        return self._lines if self._last is None else {**self._lines, self._last[0]: self._last[1]}


def read_answers(
    path: Path, run_id: str, graders: Collection[str], train_steps: Collection[int], eval_steps: Collection[int]
) -> SwiftAnswers:
    """Read the answers; lines that cannot be read are left out and told about.

    Args:
        path: the file.
        run_id: id of the run.
        graders: names of the reward functions, which are columns here.
        train_steps: steps with training metrics.
        eval_steps: steps with an evaluation.

    Raises:
        InputError: the file cannot be read at all.
    """
    stream = Stream(path)
    kept = _Kept()
    steps: list[int | None] = []
    lost = 0
    before = b""
    for line in stream.lines(MAX_BYTES):
        if not line.data.strip() or line.data == before:
            # The last answers are written again with the closing summary.
            continue
        if not line.whole:
            lost += 1
            continue
        before = line.data
        found = _STEP.match(line.data)
        kept.add(len(steps), line.data)
        steps.append(int(found[1]) if found else None)
    splits = _splits(steps, train_steps, eval_steps)
    answers: list[Answer] = []
    split: list[str] = []
    lines = kept.lines()
    for index, data in sorted(lines.items()):
        some = list(_answers(data, graders))
        lost += not some
        answers += some
        split += [splits[index]] * len(some)
    warnings = []
    if len(lines) < len(steps):
        limit = f"at most {MAX_BYTES >> 20} MiB"
        warnings.append(f"{FILE}: {len(lines)} of {len(steps)} lines are read, evenly spaced ({limit})")
    if lost:
        warnings.append(f"{FILE}: {counted(lost, 'line')} without readable answers left out")
    return SwiftAnswers(to_table(run_id, split, answers), stream.source, tuple(warnings))


def _splits(steps: list[int | None], train_steps: Collection[int], eval_steps: Collection[int]) -> list[str]:
    """Tell for each line whether it is of training: at a step with an evaluation the last of several lines is not."""
    times = Counter(steps)
    seen: Counter[int | None] = Counter()
    splits = []
    for step in steps:
        seen[step] += 1
        last = seen[step] == times[step]
        alone = times[step] == 1 and step in train_steps
        splits.append("eval" if step in eval_steps and last and not alone else "train")
    return splits


def _answers(data: bytes, graders: Collection[str]) -> Iterator[Answer]:
    try:
        line = json.loads(data)
    except (ValueError, RecursionError):
        return
    if not isinstance(line, dict) or not line.keys() >= {"prompt", "completion"}:
        return
    if isinstance(line["prompt"], list) and isinstance(line["completion"], list):
        columns = {name: values for name, values in line.items() if isinstance(values, list)}
        count = len(line["completion"])
        # Columns of another length belong to other answers.
        whole = {name: values for name, values in columns.items() if len(values) == count}
        rows: list[Mapping[str, object]] = [
            {name: values[row] for name, values in whole.items()} for row in range(count)
        ]
    else:
        rows = [line]
    for row in rows:
        step = next((number for name in _STEPS if (number := to_count(row.get(name), MAX_STEP)) is not None), None)
        if step is None:
            continue
        scores = {name: value for name, value in row.items() if name in graders}
        if not scores and "reward" in row:
            scores = {"reward": row["reward"]}
        extra = {name: value for name, value in row.items() if name not in _OWN and name not in scores}
        advantage = row.get("advantages")
        yield Answer(step, row.get("prompt"), row.get("completion"), advantage, scores, extra)
