"""Runs of which only verl's dumped samples are left; see :mod:`rlchecks.readers.verl_samples`."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pyarrow as pa

from rlchecks.errors import NotARunError
from rlchecks.readers.aliases import framework
from rlchecks.readers.answers import to_table
from rlchecks.readers.assemble import Logged, assemble
from rlchecks.readers.files import read_head
from rlchecks.readers.identity import run_name
from rlchecks.readers.json_lines import first_object
from rlchecks.readers.registry import ReadOptions
from rlchecks.readers.score_groups import WITHIN_GROUP, question_id
from rlchecks.readers.steps import Row
from rlchecks.readers.text import place
from rlchecks.readers.verl_samples import (
    Dump,
    Samples,
    dumps_below,
    is_dump,
    is_sample,
    is_sample_name,
    may_be_validation,
    read_dump,
    sample_files,
)
from rlchecks.run import RunLog
from rlchecks.schema import COMPLETIONS, VALIDATION

_VALIDATION = re.compile(r"val|test", re.I)

GROUPED = "answers with the same input text"
"""The fact ``grouped_by``: what a group is, since the samples name none."""


class VerlDumpReader:
    """Reads a directory of verl's dumped rollouts or validation samples, or one that holds both."""

    name = "verl_dump"
    suffixes = frozenset({".jsonl"})
    looks_for = "a directory of verl's dumped samples (<step>.jsonl with input, output, score, step)"

    def detect(self, path: Path, head: bytes) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return bool(_dumps(path)) if path.is_dir() else is_sample(head)

    def holds(self, names: Collection[str]) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`; validation beside rollouts is looked for by its name."""
        return any(is_sample_name(name) or _VALIDATION.search(name) for name in names)

    def belongs(self, directory: Path) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return directory in _dumps(directory.parent)

    def files(self, path: Path) -> list[Path]:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return [file for directory in _dumps(path) for _, file in sample_files(directory)]

    def opening(self, path: Path, part: str | None = None) -> str | None:
        """See :class:`rlchecks.readers.registry.Reader`; the fields of the first sample but its texts.

        Raises:
            NotARunError: it is a single file.
        """
        if not path.is_dir():
            raise _single(path)
        first = first_object(read_head(self.files(path)[0]))
        return json.dumps([first.get("score"), first.get("step"), first.get("input")]) if first else None

    def read(self, path: Path, options: ReadOptions) -> RunLog:
        """See :class:`rlchecks.readers.registry.Reader`."""
        if not path.is_dir():
            raise _single(path)
        dumps = [read_dump(directory) for directory in _dumps(path)]
        if not dumps:
            raise NotARunError("no samples of verl in it", path=place(path))
        rows = list(chain.from_iterable(_rows(dump) for dump in dumps))
        logged = Logged(
            path=path,
            name=run_name(path),
            framework=framework("verl"),
            rows=rows,
            inputs=tuple(source for dump in dumps for source in dump.inputs),
            facts={"reward_std_semantics": WITHIN_GROUP, "grouped_by": f"{GROUPED} (inferred)"},
            warnings=tuple(warning for dump in dumps for warning in dump.warnings),
        )
        return with_samples(assemble(logged, options), dumps)


def spreads(samples: Samples) -> Row:
    """The metrics of a step's rollouts that verl does not log itself.

    A group of one answer has no spread, so a step without larger groups has none of these.
    """
    if not samples.scores.groups:
        return {}
    return {"reward_std": samples.scores.spread, "zero_std_fraction": samples.scores.zero_spread}


def with_samples(run: RunLog, dumps: Sequence[Dump]) -> RunLog:
    """Add the answers, and the scores of the validation questions, to a run."""
    completions: list[pa.Table] = [run.completions]
    checks: list[pa.Table] = [run.validation]
    for dump in dumps:
        answers = [answer for samples in dump.steps for answer in samples.answers]
        split = "eval" if dump.validation else "train"
        completions.append(to_table(run.run_id, [split] * len(answers), answers))
        if dump.validation:
            checks += [_checks(run.run_id, samples) for samples in dump.steps]
    return replace(
        run,
        completions=pa.concat_tables(completions).cast(COMPLETIONS).combine_chunks(),
        validation=pa.concat_tables(checks).cast(VALIDATION).combine_chunks(),
    )


def _dumps(path: Path) -> list[Path]:
    """List the directories of samples that make up the run at a path; none if it is no such run."""
    if is_dump(path):
        return [path]
    below = dumps_below(path, 1)
    # Rollouts and validation side by side are one run; several of one kind may be of several.
    return below if sorted(map(may_be_validation, below)) == [False, True] else []


def _rows(dump: Dump) -> Iterator[Row]:
    for samples in dump.steps:
        counter = {"step": samples.step}
        reward = samples.scores.mean
        if dump.validation:
            yield {**counter, "validation_reward": reward}
        else:
            means = {f"dumped/{key}": value for key, value in samples.means.items()}
            yield {**counter, "reward": reward, **spreads(samples), "dumped/answers": samples.scores.answers, **means}


def _checks(run_id: str, samples: Samples) -> pa.Table:
    questions, scores = samples.scores.questions, samples.scores.scores
    count = len(questions)
    columns = [
        pa.repeat(run_id, count),
        pa.array([samples.step] * count, pa.int64()),
        pa.array([question_id(int(one)) for one in questions], pa.string()),
        pa.nulls(count, pa.string()),
        pa.array(scores, pa.float64(), from_pandas=True),
    ]
    return pa.Table.from_arrays(columns, schema=VALIDATION)


def _single(path: Path) -> NotARunError:
    todo = f"name its directory, {place(path.absolute().parent)}"
    return NotARunError(
        "the samples of one step of verl, expected the directory of all of them", path=place(path), todo=todo
    )
