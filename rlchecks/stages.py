"""The stages of the pipelines as plain functions: each is one task of a Prefect flow, or one call without it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from rlchecks import evidence, signals
from rlchecks.archive import Archive
from rlchecks.diagnosis import Finding, Parameters, diagnose
from rlchecks.diagnosis.finding import Number
from rlchecks.errors import InputError
from rlchecks.heldout import Choice, Comparison, ComparisonRequest, HeldoutRows, compare, read_rows, several
from rlchecks.readers import read_run
from rlchecks.readers.source import source_of
from rlchecks.run import RunLog

if TYPE_CHECKING:
    from rlchecks.health import Check, Suite
    from rlchecks.suites import Suites


@dataclass(frozen=True)
class Examination:
    """What the training log says about a run.

    Attributes:
        signals: the signals table, one row.
        findings: what the signals show together, the worst first.
    """

    signals: pa.Table
    findings: tuple[Finding, ...]

    @property
    def row(self) -> dict[str, Any]:
        """The signals as a mapping."""
        return signals.rows(self.signals)[0]


def load_run(source: str, archive: str, run_id: str | None = None, columns: Mapping[str, str] | None = None) -> RunLog:
    """Read a run from ``PATH`` or ``PATH#PART``, or else from the archive by its id; an existing path wins.

    Raises:
        InputError: it is neither, or the log cannot be read.
    """
    if source.strip() and source_of(source).path.exists():
        return read_run(source, run_id=run_id, columns=columns)
    store = Archive(archive)
    if store.has(source):
        return store.read_run(source)
    raise InputError(
        "there is no such file or directory, and no run of that id in the archive at " + archive,
        path=source,
        todo="give the path of a run's log, or an id that `rlchecks sql 'select run_id from runs'` lists",
    )


def store_run(run: RunLog, archive: str) -> None:
    """Write a run to the archive, with the signals of all of it; unchanged, it changes nothing."""
    store = Archive(archive)
    changed = store.write_run(run).changed
    if changed or not store.signals([run.run_id]).num_rows:
        # They may also be missing because an earlier writer was killed between the two.
        store.write_signals(run.run_id, signals.compute(run.steps, [signals.facts_of(run)], run.validation))


def load_heldout(paths: Sequence[str], columns: Mapping[str, str] | None = None) -> HeldoutRows:
    """Read held-out rows, or the evaluation logs of other programs, from files."""
    return read_rows(paths, columns)


def examine(
    run: RunLog, parameters: Parameters, reward_range: tuple[float, float] | None = None, last_step: int | None = None
) -> Examination:
    """Compute the signals of a run and find what they show.

    Args:
        run: the run.
        parameters: thresholds of the profile.
        reward_range: the reward's declared range.
        last_step: only steps up to this one count: those that the candidate was trained on.
    """
    steps, checks = run.steps, run.validation
    if last_step is not None:
        steps = steps.filter(pc.less_equal(steps["step"], last_step))
        checks = checks.filter(pc.less_equal(checks["step"], last_step))
    table = signals.compute(steps, [signals.facts_of(run, reward_range)], checks)
    return Examination(table, diagnose(signals.rows(table)[0], parameters))


def choose_candidate(
    rows: HeldoutRows, request: ComparisonRequest, candidates: Sequence[str], share: float | None = None
) -> Choice:
    """Choose the best of several candidates on the held-out questions, or on a share of them."""
    return several.choose_candidate(rows, request, candidates, share)


def compare_heldout(rows: HeldoutRows, request: ComparisonRequest) -> Comparison:
    """Compare candidate and baseline on the held-out questions."""
    return compare(rows, request)


def check(suites: Suites, examination: Examination, evidence_table: pa.Table) -> tuple[Check, ...]:
    """Validate the signals and the evidence with Great Expectations; results of both suites, in their order."""
    from rlchecks.health import validate

    promotion = validate(suites.promotion, evidence_table).checks(0)
    return promotion + validate(suites.health, examination.signals).checks(0)


def evidence_of(
    comparison: Mapping[str, Number],
    findings: Sequence[Finding],
    suite: Suite,
    subject: Mapping[str, Number] | None = None,
) -> pa.Table:
    """Build the evidence table from the columns of a comparison, telling which findings the promotion suite names."""
    named: dict[str, bool] = {}
    for expectation in suite.expectations:
        stops = expectation.on_failure in ("hold", "reject")
        named[expectation.column] = named.get(expectation.column, False) or stops
    return evidence.table(comparison, findings, named, subject)


def store_heldout(run_id: str, archive: str, rows: HeldoutRows) -> None:
    """Archive the held-out rows that a verdict rests on."""
    place = rows.table.schema.get_field_index("run_id")
    name = pa.field("run_id", pa.string(), nullable=False)
    Archive(archive).write_evaluations(run_id, rows.table.set_column(place, name, pa.repeat(run_id, len(rows.table))))
