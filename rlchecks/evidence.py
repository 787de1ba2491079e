"""The evidence table: the one row that the promotion suite decides over.

It joins the columns of the held-out comparison with one or two flags per finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from rlchecks.diagnosis.finding import Finding, Number, Severity
from rlchecks.diagnosis.registry import CODES

_INTEGER, _NUMBER, _FLAG = pa.int64(), pa.float64(), pa.bool_()


@dataclass(frozen=True)
class Column:
    """One column of the evidence table: its type and its meaning."""

    name: str
    kind: pa.DataType
    meaning: str


_COMPARISON = (
    Column("n_questions", _INTEGER, "questions that both sides answered and that count"),
    Column("missing_fraction", _NUMBER, "share of questions without a usable score on one side"),
    Column("missing_changes_result", _FLAG, "the worst case for missing answers decides otherwise"),
    Column("duplicate_ids", _INTEGER, "answers that occur twice for one question, judge, decoding and repeat"),
    Column(
        "unmatched_questions",
        _INTEGER,
        "questions that only one side was asked, or that have another prompt or target on the other",
    ),
    Column("repeated_prompt_fraction", _NUMBER, "share of the questions whose prompt another one has too"),
    Column("baseline_is_candidate", _FLAG, "same checkpoint hash, or all answers identical"),
    Column("judge_chosen", _FLAG, "it is clear which judge decides"),
    Column("judge_is_grader", _FLAG, "a deciding judge is a training grader, or the model itself"),
    Column(
        "judge_copies_grader", _FLAG, "a deciding judge's scores are a training grader's, and only the name differs"
    ),
    Column("judge_family_is_graders", _FLAG, "a deciding judge shares model, prompt or model family with a grader"),
    Column("judge_family_is_models", _FLAG, "a deciding judge is of the evaluated model's family"),
    Column("grader_agreement", _NUMBER, "largest share of equal scores of a deciding judge and a training grader"),
    Column("grader_known", _FLAG, "the training grader is known from the log or declared"),
    Column("judge_identity_declared", _FLAG, "more than the names tells judge and grader apart"),
    Column("difference", _NUMBER, "mean of candidate minus baseline over the questions"),
    Column("ci_lower", _NUMBER, "lower limit of its interval"),
    Column("ci_upper", _NUMBER, "upper limit of its interval"),
    Column("margin", _NUMBER, "loss that is accepted"),
    Column(
        "margin_range_known",
        _FLAG,
        "the judges' range, of which the margin is a fraction, is no guess, and a loss could exceed the margin",
    ),
    Column("margin_lower", _NUMBER, "smallest lower limit of a decisive judge, plus the margin"),
    Column("margin_upper", _NUMBER, "smallest Holm-adjusted upper limit of a decisive judge, plus the margin"),
    Column("judges_disagree", _FLAG, "one decisive judge confirms a gain, another a loss"),
    Column("guard_upper", _NUMBER, "smallest Holm-adjusted upper limit among the guards"),
    Column("guard_lower", _NUMBER, "smallest lower limit among the guards"),
    Column("n_guards", _INTEGER, "other decodings and advisory judges"),
    Column("n_guards_undefined", _INTEGER, "guards without an interval"),
    Column("gain_depends_on_decoding", _FLAG, "only one decoding gains"),
    Column("reward_hacking", _FLAG, "the training grader gained and a decisive judge lost"),
    Column("gain_gap", _NUMBER, "grader's gain minus judge's gain on the same answers, ranges mapped to 0..1"),
    Column("gain_gap_lower", _NUMBER, "lower limit of its interval"),
    Column("gain_gap_upper", _NUMBER, "upper limit of its interval"),
    Column("gain_gap_warns", _FLAG, "the gap is above 0.05 and its lower limit above 0"),
    Column("category_upper", _NUMBER, "smallest Holm-adjusted upper limit of a category, ranges mapped to 0..1"),
    Column("n_carrying", _INTEGER, "questions whose removal undoes the gain; null if more than max(3, 2 %) are needed"),
    Column("n_looks", _INTEGER, "different answers compared on these questions, those of this call included"),
    Column("alpha", _NUMBER, "two-sided error rate of the intervals, after the looks"),
    Column("overlap_questions", _INTEGER, "held-out questions that are training prompts too; left out"),
    Column("overlap_share_seen", _NUMBER, "share of the training prompts that were seen"),
)

COMPARISON_COLUMNS = frozenset(column.name for column in _COMPARISON)
"""Columns that the held-out comparison gives."""

_SUBJECT = (
    Column("candidate_not_in_run", _FLAG, "the run has checkpoints, and none of the candidate's name"),
    Column("candidate_beyond_log", _FLAG, "the candidate's step lies beyond the last step of the training log"),
)

_DIAGNOSIS = (
    Column("too_short", _FLAG, "too few logged steps for a trend"),
    Column("unnamed_finding", _FLAG, "a finding of warning or worse that no expectation of the suite names"),
    *(Column(f"finding_{code}", _FLAG, f"{code} is a warning or worse") for code in CODES),
    *(Column(f"critical_{code}", _FLAG, f"{code} is critical") for code in CODES),
)

COLUMNS: dict[str, Column] = {column.name: column for column in (*_COMPARISON, *_SUBJECT, *_DIAGNOSIS)}
"""Every column of the evidence table, by name."""

SCHEMA = pa.schema([pa.field(column.name, column.kind) for column in COLUMNS.values()])
"""Arrow schema of the evidence table."""


def table(
    comparison: Mapping[str, Number],
    findings: Iterable[Finding],
    named: Mapping[str, bool],
    subject: Mapping[str, Number] | None = None,
) -> pa.Table:
    """Build the evidence table.

    Args:
        comparison: evidence columns of the held-out comparison; one that is left out is missing.
        findings: every finding of the run, ``reward_hacking`` included.
        named: columns that the promotion suite checks, to whether a failure stops the promotion.
        subject: whether the candidate belongs to the run: ``candidate_not_in_run`` and ``candidate_beyond_log``.

    Returns:
        a table with :data:`SCHEMA` and one row.
    """
    row: dict[str, Number] = {column.name: comparison.get(column.name) for column in _COMPARISON}
    row |= {column.name: (subject or {}).get(column.name) for column in _SUBJECT}
    severity = {finding.code: finding.severity for finding in findings}
    row["too_short"] = "too_short" in severity
    row["unnamed_finding"] = any(not _named(code, level, named) for code, level in severity.items())
    for code in CODES:
        level = severity.get(code, Severity.INFORMATION)
        row[f"finding_{code}"] = level >= Severity.WARNING
        row[f"critical_{code}"] = level >= Severity.CRITICAL
    return pa.Table.from_pylist([row], schema=SCHEMA)


def _named(code: str, level: Severity, named: Mapping[str, bool]) -> bool:
    """Whether the suite says what a finding means; a critical one needs a name that stops the promotion."""
    if level == Severity.INFORMATION:
        return True
    names = {f"finding_{code}", f"critical_{code}", code} & named.keys()
    return any(named[name] for name in names) if level == Severity.CRITICAL else bool(names)
