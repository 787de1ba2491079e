"""Compare a candidate with its baseline on held-out questions."""

from __future__ import annotations

from rlchecks.heldout.case import gather
from rlchecks.heldout.detail import details
from rlchecks.heldout.document import comparison_document, grader_documents, judge_document, needed_questions
from rlchecks.heldout.evidence import collect
from rlchecks.heldout.request import Comparison, ComparisonRequest
from rlchecks.heldout.rows import HeldoutRows


def compare(rows: HeldoutRows, request: ComparisonRequest) -> Comparison:
    """Compare a candidate with its baseline: pair, decide, guard, and say what is missing.

    The unit is the question. Repeats are averaged, decodings are never pooled, questions that were training prompts
    are left out, and nothing that is missing counts for the candidate.

    Args:
        rows: held-out rows of at least one checkpoint.
        request: names, judges, margin, looks and what is known of the training.

    Returns:
        The comparison; what could not be computed is None, with the reason in words.

    Raises:
        UsageError: a name is unknown or cannot be defaulted, or a score lies outside its declared range.
        InputError: one question belongs to two clusters.
    """
    case = gather(rows, request)
    needed = needed_questions(case)
    detail = details(case)
    entries = {**collect(case, needed), **detail.entries}
    baseline, candidate, step = case.checkpoints
    return Comparison(
        baseline=baseline,
        candidate=candidate,
        candidate_step=step,
        decoding=case.decoding,
        judge=judge_document(case),
        graders=grader_documents(case),
        document={**comparison_document(case, needed), **detail.documents},
        evidence={name: entry.value for name, entry in entries.items()},
        observed={name: entry.observed for name, entry in entries.items()},
        case=case,
        advice={name: entry.advice for name, entry in entries.items() if entry.advice},
    )
