"""Validation questions and their scores over the training: a plain file for any provider that trains for others."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from rlchecks.errors import InputError, NotARunError, UsageError
from rlchecks.readers.aliases import framework
from rlchecks.readers.assemble import Logged, assemble
from rlchecks.readers.files import HEAD_BYTES, parse_json, read_bytes, read_head
from rlchecks.readers.identity import run_name
from rlchecks.readers.parquet import is_archived
from rlchecks.readers.registry import ReadOptions
from rlchecks.readers.steps import Row
from rlchecks.readers.table_files import SUFFIXES, keys_in, peek, read_rows
from rlchecks.readers.text import clean, counted, listing, place, readable_part
from rlchecks.readers.timeline_rows import (
    Check,
    checks_in,
    is_object,
    object_checks,
    others,
    shape_of,
    wide_checks,
    wide_steps,
)
from rlchecks.readers.timeline_scores import Key, asked_again, means_of, to_table, totals_of, united
from rlchecks.run import InputFile, RunLog

_ASKED_AGAIN = 0.5


class TimelineReader:
    """Reads the scores of validation questions, by question and step, and training rewards among them."""

    name = "timeline"
    suffixes = SUFFIXES
    looks_for = "a timeline of validation questions (a table with step, question_id, score)"

    def holds(self, names: Collection[str]) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return False

    def detect(self, path: Path, head: bytes) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        if path.suffix.lower() not in SUFFIXES or is_archived(path, head):
            return False
        rows = _some_rows(path, head)
        if not rows:
            return path.suffix.lower() == ".json" and _begins_an_object(head)
        return wide_steps(rows[0].keys()) is not None or shape_of(rows) is not None

    def opening(self, path: Path, part: str | None = None) -> str | None:
        """See :class:`rlchecks.readers.registry.Reader`; the first row."""
        rows = _some_rows(path, read_head(path))
        return json.dumps(rows[0], sort_keys=True, default=str) if rows else None

    def read(self, path: Path, options: ReadOptions) -> RunLog:
        """See :class:`rlchecks.readers.registry.Reader`."""
        found, rows, source, warnings = _load(path)
        if not found:
            raise NotARunError("no row with a question, a step and a score", path=place(path))
        scores, again = united(found)
        _refuse_samples(scores, path)
        if again:
            warnings.append(f"{counted(again, 'row')} with a question, step and grader as before: their mean counts")
        if declared := sorted(options.columns.keys() - set(keys_in(rows))):
            problem = f"is a timeline of validation questions, without training rows that have {listing(declared)}"
            raise UsageError(f"{place(path)} {problem}; read it without --column.")
        totals, facts = totals_of(scores)
        means = means_of(totals)
        step = next((key for key in framework("table").step if any(key in row for row in rows)), "step")
        logged = Logged(
            path=path,
            name=run_name(path),
            framework=replace(framework("table"), name=self.name),
            rows=[*rows, *({step: at, "validation_reward": mean} for at, mean in means.items())],
            inputs=(source,),
            facts=facts,
            warnings=tuple(warnings),
            untyped=path.suffix.lower() in (".csv", ".tsv"),
        )
        run = assemble(logged, options)
        graders = {clean(grader) for _, _, grader in scores if grader is not None}
        checks = to_table(run.run_id, totals | scores)
        return replace(
            run,
            graders=tuple(sorted({*run.graders, *graders})),
            validation=pa.concat_tables([run.validation, checks]).combine_chunks(),
        )


def _load(path: Path) -> tuple[list[Check], list[Row], InputFile, list[str]]:
    """Read the checks, the rows without a question, the record of the reading, and what to tell about it."""
    if path.suffix.lower() == ".json" and _begins_an_object(read_head(path)):
        contents = read_bytes(path)
        document, _ = parse_json(contents.data, path)
        if not is_object(document):
            raise InputError("expected as many scores of each question as there are steps", path=place(path))
        return list(object_checks(document)), [], contents.source, []
    table = read_rows(path)
    warnings = list(table.warnings)
    rows: Sequence[Row] = table.rows
    steps = wide_steps(rows[0].keys())
    if steps is not None:
        return [check for row in rows for check in wide_checks(row, steps)], [], table.source, warnings
    shape = shape_of(rows)
    if shape is None:
        raise NotARunError("no timeline of validation questions", path=place(path))
    found = [(row, checks_in(row, shape)) for row in rows]
    asked = [check for _, check in found if check is not None]
    training = [row for row, check in found if check is None and row.get(shape.question) in (None, "")]
    lost = len(found) - len(asked) - len(training)
    if lost:
        warnings.append(f"{counted(lost, 'row')} with a question but no usable {shape.step}: left out")
    unread = others(rows, shape)
    if unread:
        warnings.append(f"columns of the questions that are not read: {listing(unread)}")
    rest: list[Row] = [{key: value for key, value in row.items() if key != shape.question} for row in training]
    return asked, rest, table.source, warnings


def _some_rows(path: Path, head: bytes) -> list[Row]:
    """Parse the rows that stand whole in the beginning of a table; of Parquet only the first. Never raises."""
    if path.suffix.lower() not in (".csv", ".tsv"):
        return peek(path, head)
    text = readable_part(head)
    # What is cut off at the end of the beginning is no row.
    whole = text if len(head) < HEAD_BYTES else text.rpartition("\n")[0]
    first = peek(path, head)
    delimiter = max(",;\t|", key=whole.partition("\n")[0].count)
    lines = csv.reader(io.StringIO(whole, newline=""), delimiter=delimiter)
    try:
        next(lines, None)
        names = list(first[0]) if first else []
        return [dict(zip(names, cells, strict=True)) for cells in lines if len(cells) == len(names)]
    except csv.Error:
        return first


def _begins_an_object(head: bytes) -> bool:
    text = readable_part(head)
    return text.lstrip().startswith("{") and '"steps"' in text and '"questions"' in text


def _refuse_samples(scores: Mapping[Key, float], path: Path) -> None:
    """Refuse rows that hardly ever ask a question again: they are samples of the training."""
    again, questions, steps = asked_again(scores)
    if steps > 1 and again < _ASKED_AGAIN * questions:
        problem = f"only {again} of {questions} questions are scored at more than one step"
        expected = "expected the same validation questions at every check"
        raise NotARunError(f"{problem}, {expected}", path=place(path))
