"""Several candidates in one call: which is the best, and what the choice costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rlchecks.errors import UsageError
from rlchecks.heldout.case import Case, gather
from rlchecks.heldout.checkpoints import choose_checkpoints
from rlchecks.heldout.holm import UpperLimit, holm_uppers
from rlchecks.heldout.names import labels, shown
from rlchecks.heldout.outcome import judge_outcome, weakest
from rlchecks.heldout.request import ComparisonRequest
from rlchecks.heldout.rows import HeldoutRows
from rlchecks.heldout.split import split_questions


@dataclass(frozen=True)
class Choice:
    """The best of several candidates.

    Attributes:
        candidate: its name.
        rows: the rows that decide: all, or those of the questions that it was not chosen on.
        document: ``comparison.choice`` of ``verdict.json``.
    """

    candidate: str
    rows: HeldoutRows
    document: dict[str, Any]


class _Contender(NamedTuple):
    case: Case
    lower: float | None  # of all deciding judges, on 0 to 1
    rank: tuple[bool, float, float]


def choose_candidate(
    rows: HeldoutRows, request: ComparisonRequest, candidates: Sequence[str], share: float | None = None
) -> Choice:
    """Choose the candidate whose weakest deciding judge has the largest lower limit.

    Of equals the larger difference wins, then the first by name. Without a share all candidates are looks at the same
    questions: the limits are at alpha divided for all looks, which for the best candidate is the first step of Holm's
    procedure, and the others go through its further steps. With a share the choice is made on that part of the
    questions, at the level of one look, and decides nothing: the other part does.

    Args:
        rows: held-out rows.
        request: as for :func:`rlchecks.heldout.compare.compare`; its ``looks`` counts all candidates, its ``together``
            those that were not compared before.
        candidates: their names, at least two.
        share: share of the questions to choose on, None to choose and decide on all.

    Raises:
        UsageError: a name is unknown, named twice or the baseline's; the share is out of range; or the candidates were
            not answered in one common decoding.
        InputError: as for ``compare``.
    """
    names = check_names(rows, request.baseline, candidates)
    seen, deciding, asked = rows, rows, request
    if share is not None:
        seen, deciding = split_questions(rows, share)
        asked = replace(request, looks=1, together=1)
    contenders = _contenders(seen, asked, names)
    best = max(range(len(names)), key=lambda index: (contenders[index].rank, -index))
    adjusted = _adjusted(contenders, asked)
    document = {
        "choose_on": share,
        "confidence": asked.level,
        "questions": len(pc.unique(seen.table["question_id"])),
        "chosen": names[best],
        "rows": [
            _row(name, one, lower, asked, chosen=name == names[best])
            for name, one, lower in zip(names, contenders, adjusted, strict=True)
        ],
    }
    return Choice(names[best], deciding, document)


def check_names(rows: HeldoutRows, baseline: str | None, candidates: Sequence[str]) -> list[str]:
    """The candidates in the order of their names.

    Raises:
        UsageError: one is not in the rows, named twice or the baseline's.
    """
    doubled = next((name for name in candidates if list(candidates).count(name) > 1), None)
    if doubled is not None:
        raise UsageError(f"The candidate {shown(doubled)} is named twice; name each candidate once.")
    for name in sorted(candidates):
        if choose_checkpoints(rows.table, baseline, name).baseline == name:
            raise UsageError(f"{shown(name)} is the baseline, so it cannot be one of the candidates; leave it out.")
    return sorted(candidates)


def _contenders(rows: HeldoutRows, request: ComparisonRequest, names: Sequence[str]) -> list[_Contender]:
    first = gather(rows, replace(request, candidate=names[0]))
    if first.overlap is not None:
        # Every question that counts is the baseline's too, so that what is left out is the same for all.
        trained = [first.answers.questions[code] for code in np.flatnonzero(first.overlap.excluded)]
        left_out = pc.is_in(rows.table["question_id"], value_set=pa.array(trained, pa.string()))
        rows = replace(rows, table=rows.table.filter(pc.invert(left_out)))
    unprompted = replace(request, training_prompts=None)
    cases = [first, *(gather(rows, replace(unprompted, candidate=name)) for name in names[1:])]
    decodings = sorted({case.decoding for case in cases if case.decoding is not None})
    if len(decodings) > 1:
        raise UsageError(
            f"The candidates have most answers in different decodings ({labels(decodings)}); name the one that will be "
            "deployed with --decoding."
        )
    return [_contender(case, request) for case in cases]


def _contender(case: Case, request: ComparisonRequest) -> _Contender:
    part = weakest(case.decisive, request.level)
    outcome = judge_outcome(case.decisive, request.margin, request.level)
    if part is None or not len(part.pairs.questions):
        return _Contender(case, None, (False, 0.0, 0.0))
    # Of one judge in its own unit: a range that is guessed from the scores is another for each candidate.
    width = part.scale.width if len(case.decisive) == 1 else 1.0
    estimate = float(part.pairs.difference.mean()) * width
    if outcome.lower is None:
        return _Contender(case, None, (False, 0.0, estimate))
    return _Contender(case, outcome.lower, (True, outcome.lower * width, estimate))


def _adjusted(contenders: Sequence[_Contender], request: ComparisonRequest) -> list[float | None]:
    """Lower limits on 0 to 1, adjusted by Holm over the candidates and the earlier looks."""

    def negated(one: _Contender) -> UpperLimit:
        def upper(level: float) -> float | None:
            lower = judge_outcome(one.case.decisive, request.margin, level).lower
            return None if lower is None else -lower

        return upper

    defined = sum(one.lower is not None for one in contenders)
    # What Holm divides by all looks at its first step.
    together = 1.0 - request.alpha * request.looks
    found = holm_uppers([negated(one) for one in contenders], together, others=max(request.looks - defined, 0))
    return [None if upper is None else -upper for upper in found]


def _row(
    name: str, one: _Contender, adjusted: float | None, request: ComparisonRequest, *, chosen: bool
) -> dict[str, Any]:
    part = weakest(one.case.decisive, request.level)
    width = 1.0 if part is None else part.scale.width
    found = None if part is None else part.interval(request.level)
    estimate, lower, upper = (None, None, None) if found is None else found[:3]

    def scaled(value: float | None) -> float | None:
        return None if value is None else value * width

    return {
        "candidate": name,
        "step": one.case.checkpoints.candidate_step,
        "judge": None if part is None else part.scorer.name,
        "decoding": one.case.decoding,
        "difference": scaled(estimate),
        "ci_lower": scaled(lower),
        "ci_upper": scaled(upper),
        "ci_lower_adjusted": scaled(adjusted),
        "confirmed": adjusted is not None and adjusted > -request.margin,
        "n_questions": 0 if found is None else found.n,
        "chosen": chosen,
        "reason": "no judge decides" if found is None else found.reason,
    }
