"""Results of one's own with columns named by the user: JSON Lines, a JSON list, CSV or Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping

from rlchecks.heldout.harness.log import Answer, EvalLog, JudgeFacts, Object
from rlchecks.heldout.harness.marks import name, number, unscored, whole
from rlchecks.heldout.harness.parquet_rows import parquet_names, parquet_rows
from rlchecks.heldout.harness.source import Source
from rlchecks.heldout.names import listed, shown
from rlchecks.heldout.values import KNOWN

SUMMARISED = ("n_correct", "n_answers")
"""Columns of a question's repeats in one row: how many answers are right, of how many."""

TARGETS = (*KNOWN, *SUMMARISED)
"""What a column can be named."""

MAX_REPEATS = 100_000
"""Most answers that one row may stand for."""

_TEXTS = ("answer", "prompt", "target")
_NAMES = ("decoding", "category", "cluster", "checkpoint")


class ColumnsFormat:
    """Reads results by the names of their columns.

    Args:
        columns: own name to a name of :data:`TARGETS`. Columns that have such a name need not be given. Several may be
            scores: each is a judge, called by its own name unless a column is named ``judge``.
    """

    name = "columns"

    def __init__(self, columns: Mapping[str, str]) -> None:
        self._columns = dict(columns)

    def fits(self, source: Source) -> bool:
        """Whether the file has all columns that were named."""
        header = header_of(source) if self._columns else []
        return bool(self._columns) and all(_has(header, own) for own in self._columns)

    def read(self, source: Source) -> EvalLog:
        """Read the rows.

        Raises:
            InputError: there is no column for the question or the score, or a value is of no use.
        """
        own = _places(self._columns, header_of(source), source)
        answers: list[Answer] = []
        for place, row in _rows(source):
            answers += _answers(row, own, place, source)
        if not answers:
            raise source.error("there is no row", todo="give a file with held-out results")
        judges = tuple(JudgeFacts(judge) for judge in dict.fromkeys(answer.judge for answer in answers))
        return EvalLog(self.name, answers, judges=judges)


def _places(columns: Mapping[str, str], header: list[str], source: Source) -> dict[str, list[str]]:
    """Own columns by what they are."""
    own: dict[str, list[str]] = {}
    absent = [column for column in columns if not _has(header, column)]
    if absent:
        problem = f"there is no column {listed(absent)} (found: {listed(header)})"
        raise source.error(problem, todo="name the columns that there are with --heldout-column")
    for column, target in columns.items():
        own.setdefault(target, []).append(column)
    for column in header:
        if column in TARGETS and column not in own and column not in columns:
            own[column] = [column]
    doubled = next((target for target, found in own.items() if len(found) > 1 and target != "score"), None)
    if doubled is not None:
        raise source.error(f"{listed(own[doubled])} are all named {doubled}", todo="name one column each")
    scored = "score" in own or all(one in own for one in SUMMARISED)
    missing = [] if "question_id" in own else ["question_id"]
    missing += [] if scored else ["score (or n_correct and n_answers)"]
    if missing:
        problem = f"there is no column {' and '.join(missing)} (found: {listed(header)})"
        raise source.error(problem, todo=f"name them, as in --heldout-column {shown(header[0])[1:-1]}=question_id")
    return own


def _answers(row: Object, own: Mapping[str, list[str]], place: str, source: Source) -> Iterator[Answer]:
    def value(target: str) -> object:
        return _value(row, own[target][0]) if target in own else None

    question = name(value("question_id"))
    if question is None:
        raise source.error("question_id is empty or no text", place, "give every row its question")
    answer = Answer(
        question,
        "",
        None,
        place,
        step=whole(value("step")),
        epoch=whole(value("epoch")),
        **{field: name(value(field)) for field in _NAMES},  # type: ignore[arg-type]
        **{field: value(field) for field in _TEXTS},  # type: ignore[arg-type]
    )
    judge = name(value("judge"))
    if all(target in own for target in SUMMARISED):
        yield from _repeats(answer._replace(judge=judge or own["n_correct"][0]), value, place, source)
    for column in own.get("score", ()):
        given = _value(row, column)
        score = number(given)
        if score is None and not unscored(given):
            problem = f"{shown(column)} is {shown(str(given))}, expected a number, true, false or nothing"
            raise source.error(problem, place, "name another column, or leave failed scorings empty")
        yield answer._replace(judge=judge or column, score=score)


def _repeats(answer: Answer, value: object, place: str, source: Source) -> Iterator[Answer]:
    """The answers that were counted, the right ones first; which one was right does not matter to their mean."""
    assert callable(value)
    right, every = (value(target) for target in SUMMARISED)
    if unscored(right) or unscored(every):
        yield answer
        return
    correct, count = whole(right), whole(every)
    if correct is None or count is None or not 0 <= correct <= count or not 0 < count <= MAX_REPEATS:
        problem = f"n_correct is {shown(str(right))} of n_answers {shown(str(every))}, expected 0 to {MAX_REPEATS:,}"
        raise source.error(problem, place, "mend the row")
    for repeat in range(count):
        yield answer._replace(score=float(repeat < correct), epoch=repeat)


def header_of(source: Source) -> list[str]:
    """Names of a file's columns, or of the keys of its first object; none if it has none."""
    if source.kind == "parquet":
        return parquet_names(source)
    if source.kind in ("lines", "document"):
        return list(source.opening)
    if source.kind == "zip":
        return []
    try:
        return next(csv.reader(io.StringIO(source.text, newline="")), [])
    except csv.Error:
        return []


def _rows(source: Source) -> Iterator[tuple[str, Object]]:
    if source.kind == "parquet":
        yield from ((f"row {at + 1}", row) for at, row in enumerate(parquet_rows(source, parquet_names(source))))
    elif source.kind in ("lines", "document"):
        yield from source.objects()
    else:
        reader = csv.reader(io.StringIO(source.text, newline=""), strict=True)
        try:
            header = next(reader, [])
            start = reader.line_num + 1
            for fields in reader:
                if fields and len(fields) != len(header):
                    problem = f"the row has {len(fields)} fields, the header has {len(header)}"
                    raise source.error(problem, f"line {start}", "mend or remove the row")
                if fields:
                    yield f"line {start}", dict(zip(header, fields, strict=True))
                start = reader.line_num + 1
        except csv.Error as error:
            raise source.error(f"the row is not complete CSV ({error})", f"line {reader.line_num}", "mend it") from None


def _has(header: list[str], own: str) -> bool:
    return own in header or own.split(".")[0] in header


def _value(row: Object, own: str) -> object:
    """A column, or by ``outer.inner`` a key of an object in it."""
    if own in row:
        return row[own]
    value: object = row
    for part in own.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value
