"""Timelines of validation questions, in the shapes in which people keep them.

- Long: a row for each question, step and grader; a column for each of them, and one for the score.
- Wide: a row for each question, a column for each step, named by its number.
- An object ``{"steps": [0, 10, ...], "questions": {"<id>": [score at each step], ...}}``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from rlchecks.metrics import METRICS
from rlchecks.readers.aliases import framework
from rlchecks.readers.steps import MAX_STEP, Row
from rlchecks.readers.values import to_count, to_number, to_text

STEPS = ("step", "global_step", "train_step", "training_step", "iteration")
"""Columns with the step, best first; without any the number at the end of ``checkpoint`` is the step."""

QUESTIONS = ("question_id", "sample_id", "prompt_id", "example_id", "item_id", "task_id", "question", "item", "id")
"""Columns with the question, best first; of the last two only those in which some value comes again at another step."""

SCORES = ("score", "reward", "grade")
"""Columns with the score, best first."""

_VAGUE = frozenset({"item", "id"})
_CHECKPOINT = "checkpoint"
_GRADER = "grader"
_JUDGE = "judge"
_AT_END = re.compile(r"(?:^|\D)(\d{1,12})$")
_COLUMN = re.compile(r"(?:(?:global[ _]?)?step|checkpoint|ckpt|iteration|iter)?[ _:/-]*(\d{1,12})", re.I)


class Check(NamedTuple):
    """One score: of which question, at which step, by which grader (None: the total), and the score if there is one."""

    step: int
    question: str
    grader: str | None
    score: float | None


class Shape(NamedTuple):
    """The columns of a long timeline; ``step`` may be that of the checkpoint."""

    step: str
    question: str
    score: str


def shape_of(rows: Sequence[Row]) -> Shape | None:
    """Tell the columns of a long timeline from some of its rows; None if it is none.

    A row with a question and a training metric other than the reward is a step of training on one prompt, and so are
    rows of several steps without any question that comes again.
    """
    keys = {key for row in rows for key in row}
    if _JUDGE in keys:
        return None
    question = next((key for key in QUESTIONS if key in keys), None)
    score = next((key for key in SCORES if key in keys), None)
    step = next((key for key in (*STEPS, _CHECKPOINT) if key in keys), None)
    if question is None or score is None or step is None:
        return None
    shape = Shape(step, question, score)
    asked = [row for row in rows if _present(row.get(question))]
    if not asked or any(_trains(row, shape) for row in asked):
        return None
    again = _asked_again(asked, shape)
    if again is False or (again is None and question in _VAGUE):
        return None
    return shape if any(step_of(row, shape) is not None and _present(row.get(score)) for row in asked) else None


def checks_in(row: Row, shape: Shape) -> Check | None:
    """Read a row of a long timeline; None if it has no question, or no step."""
    question = row.get(shape.question)
    step = step_of(row, shape)
    if not _present(question) or step is None:
        return None
    grader = row.get(_GRADER)
    return Check(step, to_text(question), to_text(grader) if _present(grader) else None, _score(row.get(shape.score)))


def step_of(row: Row, shape: Shape) -> int | None:
    """Read the step of a row."""
    value = row.get(shape.step)
    step = to_count(value, MAX_STEP)
    if step is None and shape.step == _CHECKPOINT and isinstance(value, str):
        found = _AT_END.search(value)
        return int(found[1]) if found else None
    return step


def others(rows: Iterable[Row], shape: Shape) -> list[str]:
    """List the columns of the rows with a question that are not read."""
    read = {*shape, _GRADER, _CHECKPOINT}
    found = {key: None for row in rows if _present(row.get(shape.question)) for key in row if _present(row[key])}
    return [key for key in found if key not in read]


def wide_steps(keys: Collection[str]) -> dict[str, int] | None:
    """Tell the columns of a wide timeline, column to step; None if it is none.

    All columns but those of question and grader have to be steps, at least two, in their order.
    """
    if not any(key in keys for key in QUESTIONS):
        return None
    named = {key: _COLUMN.fullmatch(key) for key in keys if key not in QUESTIONS and key != _GRADER}
    steps = {key: int(found[1]) for key, found in named.items() if found}
    order = list(steps.values())
    if len(steps) < len(named) or len(steps) < 2 or order != sorted(set(order)):
        return None
    return steps


def wide_checks(row: Row, steps: Mapping[str, int]) -> Iterator[Check]:
    """Read a row of a wide timeline; a blank cell is a question that was not asked."""
    question = next((row[key] for key in QUESTIONS if _present(row.get(key))), None)
    if question is None:
        return
    grader = row.get(_GRADER)
    for column, step in steps.items():
        if _present(row.get(column)):
            name = to_text(grader) if _present(grader) else None
            yield Check(step, to_text(question), name, _score(row[column]))


def is_object(document: object) -> bool:
    """Whether a JSON document is a timeline."""
    if not isinstance(document, Mapping):
        return False
    steps, questions = document.get("steps"), document.get("questions")
    if not isinstance(steps, list) or not isinstance(questions, Mapping) or not questions:
        return False
    return all(isinstance(scores, list) and len(scores) == len(steps) for scores in questions.values())


def object_checks(document: Mapping[str, object]) -> Iterator[Check]:
    """Read a timeline that is an object."""
    steps, questions = document["steps"], document["questions"]
    if isinstance(steps, list) and isinstance(questions, Mapping):
        for question, scores in questions.items():
            for value, score in zip(steps, scores, strict=True):
                step = to_count(value, MAX_STEP)
                if step is not None and score is not None:
                    yield Check(step, to_text(question), None, _score(score))


def _present(value: object) -> bool:
    return value is not None and value != ""


def _score(value: object) -> float | None:
    return float(value) if isinstance(value, bool) else to_number(value)


def _trains(row: Row, shape: Shape) -> bool:
    known = framework("table")
    own = {*shape, _GRADER, _CHECKPOINT, *SCORES}
    for key, value in row.items():
        target = None if key in own or not _present(value) or known.is_eval(key) else known.target(key)
        if target is not None and target.name in METRICS:
            return True
    return False


def _asked_again(rows: Sequence[Row], shape: Shape) -> bool | None:
    """Whether some question is asked at several steps; None if all rows are of one step."""
    pairs = {(step_of(row, shape), to_text(row[shape.question])) for row in rows}
    if len({step for step, _ in pairs}) < 2:
        return None
    return len({question for _, question in pairs}) < len(pairs)
