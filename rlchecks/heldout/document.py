"""The ``comparison``, ``judge`` and ``graders`` of ``verdict.json``."""

from __future__ import annotations

from typing import Any

from rlchecks.errors import UsageError
from rlchecks.heldout.agreement_document import agreement_document
from rlchecks.heldout.case import Case
from rlchecks.heldout.examples import flips, largest
from rlchecks.heldout.gaps import gain_gap
from rlchecks.heldout.mcnemar import mcnemar
from rlchecks.heldout.outcome import judge_outcome, weakest
from rlchecks.heldout.overlap_document import overlap_document, with_overlap_document
from rlchecks.heldout.parts import Part, adjusted_uppers
from rlchecks.heldout.pilot import spread
from rlchecks.heldout.plan import minimum_detectable, questions_at


def needed_questions(case: Case) -> int | None:
    """Questions that would decide: the minimum if a gain is confirmed, else those that confirm the observed difference.

    Returns:
        None if no judge decides, nothing was observed, or the observed difference is a loss beyond the margin, which
        no number of questions turns into a gain.
    """
    part = weakest(case.decisive, case.level)
    estimate = None if part is None else part.interval(case.level).estimate
    if part is None or estimate is None:
        return None
    request = case.request
    if judge_outcome(case.decisive, request.margin, case.level).word == "pass":
        return request.min_questions
    effect = request.margin + estimate
    if effect * effect == 0.0:  # also of what is too small for a number
        return None
    variance = _variance(case, part)
    if variance is None:
        return None
    return questions_at(effect, variance, confidence=case.level, minimum=request.min_questions)


def comparison_document(case: Case, needed: int | None) -> dict[str, Any]:
    """``comparison`` of ``verdict.json``; the top-level figures are those of the judge the decision hangs on.

    Differences are in the unit of the scores; positive is better, also for a judge whose lower score is the better.

    Args:
        case: the comparison.
        needed: of :func:`needed_questions`.
    """
    part = weakest(case.decisive, case.level)
    main = _part_document(part, case.level, None) if part is not None else {}
    n = len(part.pairs.questions) if part is not None else 0
    detectable = None
    if part is not None:
        variance = _variance(case, part)
        if variance is not None:
            detectable = part.scale.raw_difference(minimum_detectable(n, variance, confidence=case.level))
    shown_first = ("difference", "ci_lower", "ci_upper", "n_questions", "n_clusters", "method", "reason")
    return {
        **{name: main.get(name) for name in shown_first},
        "confidence": case.level,
        "margin": case.request.margin,
        "guard_margin": case.request.guard_margin,
        "decoding": case.decoding,
        "baseline_mean": main.get("baseline_mean"),
        "candidate_mean": main.get("candidate_mean"),
        "minimum_detectable": detectable,
        "questions_needed": needed,
        "questions_missing": None if needed is None else max(needed - n, 0),
        "looks": case.request.looks,
        "parts": _parts(case),
        "other_judges": [_other(part, case.level) for part in case.others],
        "flips": flips(part) if part is not None else None,
        "mcnemar_mid_p": _mcnemar(part) if part is not None else None,
        "largest_losses": largest(case, part, gains=False) if part is not None else [],
        "largest_gains": largest(case, part, gains=True) if part is not None else [],
        "gain_gap": _gap(case),
        "agreement": agreement_document(case),
        "overlap": overlap_document(case),
        "with_overlap": with_overlap_document(case),
    }


def _mcnemar(part: Part) -> float | None:
    """Mid-p of McNemar's test; None unless every question has one score of 0 or 1 on each side."""
    if not (part.scale.binary and part.pairs.single):
        return None
    differences = part.pairs.difference
    found = mcnemar(int((differences < 0).sum()), int((differences > 0).sum()))
    return None if found is None else found.mid_p


def judge_document(case: Case) -> dict[str, Any]:
    """``judge`` of ``verdict.json``: the judge the decision hangs on, all that decide, and all that could."""
    part = weakest(case.decisive, case.level)
    return {
        "name": None if part is None else part.scorer.name,
        "identity": None if part is None else case.who.judges[part.scorer.name].document(),
        "identities": [one.document() for one in case.who.judges.values()],
        **({} if part is None else _scale_document(part)),
        "decisive": [judge.name for judge in case.panel.decisive],
        "advisory": [judge.name for judge in case.panel.advisory],
        "candidates": list(case.panel.candidates),
    }


def grader_documents(case: Case) -> list[dict[str, Any]]:
    """``graders`` of ``verdict.json``: those that scored the held-out answers, then those known by name only."""
    scored = [
        {
            "name": part.scorer.name,
            **_scale_document(part),
            "scored_held_out": True,
            "identity": case.who.grader(part.scorer.name).document(),
        }
        for part in case.graders
    ]
    others = [
        {
            "name": grader.name,
            "low": grader.low,
            "high": grader.high,
            "range": None if grader.low is None else "declared",
            "higher_is_better": grader.higher_is_better,
            "scored_held_out": False,
            "identity": case.who.grader(grader.name).document(),
        }
        for grader in case.request.graders
        if not case.panel.is_grader(grader.name)
    ]
    return scored + others


def _scale_document(part: Part) -> dict[str, Any]:
    scale = part.scale
    return {
        "low": scale.low,
        "high": scale.high,
        "range": scale.source,
        "higher_is_better": scale.higher_is_better,
    }


def _parts(case: Case) -> list[dict[str, Any]]:
    adjusted: list[float | None] = [
        *adjusted_uppers(case.decisive, case.level),
        *adjusted_uppers(case.guards, case.level),
        *(None for _ in case.graders + case.others),
    ]
    parts = [*case.decisive, *case.guards, *case.graders, *case.others]
    return [_part_document(part, case.level, upper) for part, upper in zip(parts, adjusted, strict=True)]


def _other(part: Part, level: float) -> dict[str, Any]:
    document = _part_document(part, level, None)
    return {"name": part.scorer.name} | {
        name: document[name] for name in ("difference", "ci_lower", "ci_upper", "n_questions")
    }


def _part_document(part: Part, level: float, adjusted_upper: float | None) -> dict[str, Any]:
    found = part.interval(level)
    return {
        "judge": part.scorer.name,
        "decoding": part.decoding_name,
        "role": part.role,
        "difference": part.scale.raw_difference(found.estimate),
        "ci_lower": part.scale.raw_difference(found.lower),
        "ci_upper": part.scale.raw_difference(found.upper),
        "ci_upper_adjusted": part.scale.raw_difference(adjusted_upper),
        "n_questions": found.n,
        "n_clusters": found.clusters,
        "method": found.method,
        "reason": found.reason,
        "baseline_mean": part.scale.raw(float(part.pairs.baseline.mean())) if found.n else None,
        "candidate_mean": part.scale.raw(float(part.pairs.candidate.mean())) if found.n else None,
    }


def _variance(case: Case, part: Part) -> float | None:
    """Upper limit of the variance of a question's difference, as ``rlchecks plan`` takes it from a pilot.

    None without questions, or where all belong to one cluster.
    """
    try:
        return spread(case, part).upper if len(part.pairs.questions) else None
    except UsageError:
        return None


def _gap(case: Case) -> dict[str, Any] | None:
    gap = gain_gap(case.graders, case.decisive, case.level)
    if gap is None:
        return None
    interval = gap.interval
    return {
        "grader": gap.grader,
        "judge": gap.judge,
        "estimate": None if interval is None else interval.estimate,
        "ci_lower": None if interval is None else interval.lower,
        "ci_upper": None if interval is None else interval.upper,
        "method": None if interval is None else interval.method,
        "reason": "a range is not declared" if interval is None else interval.reason,
        "share_grader_only": gap.grader_only,
    }
