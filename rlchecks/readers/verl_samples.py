"""The samples that verl dumps: a directory of ``<global_step>.jsonl``, one object for each answer.

An object has ``input``, ``output``, ``gts``, ``score``, ``step`` and further fields of the reward function. Rollouts
(``trainer.rollout_data_dir``) and validation (``trainer.validation_data_dir``) look alike and are told apart by their
content: validation has a field ``reward`` that repeats the score, no ``request_id``, and asks the same questions at
every step. Source: verl-project/verl, ``verl/trainer/ppo/ray_trainer.py`` and
``verl/trainer/ppo/v1/trainer_base.py``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rlchecks.errors import InputError
from rlchecks.readers.answers import MAX_BYTES, Answer, spaced
from rlchecks.readers.files import read_head
from rlchecks.readers.json_lines import JsonLines, first_object
from rlchecks.readers.score_groups import GroupScores, question_hash, summarise
from rlchecks.readers.steps import MAX_STEP, Row
from rlchecks.readers.text import counted, place, shown
from rlchecks.readers.values import to_count, to_number, to_text
from rlchecks.run import InputFile

_NAME = re.compile(r"(0|[1-9]\d{0,11})\.jsonl")
_OPENING = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"input"\s*:')
_FIELDS = frozenset({"input", "output", "score", "step"})
# Of rollouts; what is validated has none.
_REQUEST = "request_id"
_SAME_QUESTIONS = 0.5


class Samples(NamedTuple):
    """The samples of one step.

    Attributes:
        step: its number.
        scores: their scores.
        means: mean of each further field that is a number, or a truth value, in every sample.
        like_validation: whether the fields are those of validation.
        answers: some of the answers.
        cut: number of answers that were not kept.
    """

    step: int
    scores: GroupScores
    means: dict[str, float]
    like_validation: bool
    answers: list[Answer]
    cut: int


class Dump(NamedTuple):
    """A directory of samples: its steps in order, what they are of, the files, and what to tell about them."""

    steps: list[Samples]
    validation: bool
    inputs: tuple[InputFile, ...]
    warnings: tuple[str, ...]


def sample_files(directory: Path) -> list[tuple[int, Path]]:
    """List the files named ``<step>.jsonl`` of a directory in the order of their steps."""
    try:
        found = [(name, entry) for entry in directory.iterdir() if (name := _NAME.fullmatch(entry.name))]
        return sorted((int(name[1]), entry) for name, entry in found if entry.is_file())
    except OSError:
        return []


def is_sample_name(name: str) -> bool:
    """Whether a file is named like the samples of a step."""
    return _NAME.fullmatch(name) is not None


def is_sample(head: bytes) -> bool:
    """Whether a file begins with a sample; of one that is cut off the first field tells."""
    if not _OPENING.match(head):
        return False
    first = first_object(head)
    return not first or first.keys() >= _FIELDS


def is_dump(directory: Path) -> bool:
    """Whether a directory holds samples, by the first file that is not empty."""
    return is_sample(_first_head(directory))


def may_be_validation(directory: Path) -> bool:
    """Whether the first sample of a directory has the fields of validation."""
    return _like_validation(first_object(_first_head(directory)))


def dumps_below(directory: Path, levels: int) -> list[Path]:
    """List the directories of samples below a directory, in the order of their paths; no link is followed."""
    try:
        below = sorted(entry for entry in directory.iterdir() if entry.is_dir() and not entry.is_symlink())
    except OSError:
        return []
    found = []
    for entry in below:
        if is_dump(entry):
            found.append(entry)
        elif levels > 1:
            found += dumps_below(entry, levels - 1)
    return found


def read_dump(directory: Path) -> Dump:
    """Read all samples of a directory; a file that cannot be read is left out and told about.

    Raises:
        InputError: none of the files can be read.
    """
    files = sample_files(directory)
    kept = spaced(files, MAX_BYTES)
    steps: list[Samples] = []
    inputs: list[InputFile] = []
    warnings: list[str] = []
    failures: list[InputError] = []
    for number, path in files:
        lines = JsonLines(path)
        try:
            samples = _read(lines, path, number, MAX_BYTES if number in kept else 0)
        except InputError as error:
            failures.append(error)
            continue
        steps.append(samples)
        inputs.append(lines.source)
        warnings += [f"{path.name}: {warning}" for warning in lines.warnings]
    if not steps:
        raise failures[0] if failures else InputError("no samples of verl in it", path=place(directory))
    if failures:
        warnings.append(f"{counted(len(failures), 'file')} of samples left out: {failures[0]}")
    if len(kept) < len(files) or any(one.cut for one in steps if one.answers):
        number = sum(len(one.answers) for one in steps)
        every = sum(one.scores.answers for one in steps)
        limit = f"about {MAX_BYTES >> 20} MiB, of evenly spaced steps"
        warnings.append(f"all {every} answers count, and the texts of {number} of them are kept ({limit})")
    unscored = sum(one.scores.unscored for one in steps)
    if unscored:
        warnings.append(f"{counted(unscored, 'answer')} without a score: in no mean")
    return Dump(steps, _is_validation(steps), tuple(inputs), tuple(warnings))


def _first_head(directory: Path) -> bytes:
    for _, path in sample_files(directory):
        try:
            if head := read_head(path):
                return head
        except InputError:
            continue
    return b""


def _read(lines: JsonLines, path: Path, named: int, room: int) -> Samples:
    step: int | None = None
    questions: list[int] = []
    scores: list[float] = []
    sums: dict[str, tuple[int, float]] | None = None
    answers: list[Answer] = []
    like_validation = True
    for number, row in lines:
        if not row.keys() >= _FIELDS:
            raise InputError("no sample of verl", path=place(path), where=f"line {number}")
        given = to_count(row["step"], MAX_STEP)
        step = given if step is None else step
        if given is not None and given != step:
            problem = f"step {shown(to_text(row['step']))} where the file began with {step}"
            raise InputError(problem, path=place(path), where=f"line {number}")
        score = to_number(row["score"])
        questions.append(question_hash(to_text(row["input"])))
        scores.append(np.nan if score is None else score)
        like_validation &= _like_validation(row)
        extra = {key: value for key, value in row.items() if key not in _FIELDS}
        sums = dict.fromkeys(extra, (0, 0.0)) if sums is None else sums
        for key in sums.keys() & extra.keys():
            plain = _plain_number(extra[key])
            if plain is not None:
                sums[key] = sums[key][0] + 1, sums[key][1] + plain
        if room > 0:
            at = named if step is None else step
            answers.append(Answer(at, row["input"], row["output"], None, {"score": row["score"]}, extra))
            room -= sum(len(value) if isinstance(value, str) else 100 for value in row.values())
    count = len(scores)
    means = {key: total / many for key, (many, total) in (sums or {}).items() if many == count}
    at = named if step is None else step
    return Samples(at, summarise(questions, scores), means, like_validation, answers, count - len(answers))


def _like_validation(row: Row) -> bool:
    if _REQUEST in row or not row.keys() >= {"reward", "score"}:
        return False
    # As text, since a NaN does not equal itself.
    return to_text(row["reward"]) == to_text(row["score"])


def _plain_number(value: object) -> float | None:
    # A number in quotation marks is an answer or a ground truth, more likely than a measurement.
    return float(value) if isinstance(value, bool) else None if isinstance(value, str) else to_number(value)


def _is_validation(steps: Sequence[Samples]) -> bool:
    if not all(one.like_validation for one in steps):
        return False
    if len(steps) < 2:
        return True
    first, second = (one.scores.questions for one in steps[:2])
    common = len(np.intersect1d(first, second, assume_unique=True))
    return common >= _SAME_QUESTIONS * min(len(first), len(second))
