"""The plan of ``rlchecks plan``: how many held-out questions, and answers to each, a decision needs."""

from __future__ import annotations

from typing import Any, NamedTuple

from rlchecks.aim import Aim
from rlchecks.errors import UsageError
from rlchecks.heldout import ComparisonRequest, compare, differing_share_upper, read_rows
from rlchecks.heldout.case import Case
from rlchecks.heldout.names import label, labels
from rlchecks.heldout.need import Need
from rlchecks.heldout.outcome import weakest
from rlchecks.heldout.parts import Part
from rlchecks.heldout.pilot import Spread, spread
from rlchecks.heldout.plan import MIN_QUESTIONS

SHARES = (0.05, 0.1, 0.2, 0.3)
"""Shares of differing questions for which a plan without a pilot is made."""

BETWEEN = 0.25
"""Share of the variance of single answers' differences that is between questions, without a pilot: Miller 2024, arXiv
2411.00640, section on power, reckons with 1/9 between questions and 1/6 within each side."""

REPEATS = (1, 2, 4, 8)
"""Answers per question and side for which a plan says what they save."""


class _Plan(NamedTuple):
    need: Need
    needed: int | None
    words: str
    share: float | None = None  # that differs, if that is what is assumed


def plan(
    margin: float,
    gain: float,
    pilot: tuple[str, ...],
    request: ComparisonRequest,
    *,
    repeats: int | None = None,
    candidates: int = 1,
    questions: int | None = None,
) -> dict[str, Any]:
    """Plan the size of a held-out evaluation.

    Args:
        margin: loss that shall be excluded, 0 to below 1.
        gain: gain that is expected, 0 to below 1; with a margin of 0 it is what shall be confirmed.
        pilot: held-out results of a pilot, baseline and candidate.
        request: which checkpoints, judge and decoding to look at in the pilot.
        repeats: answers per question and side; None: one, or as many as the pilot has.
        candidates: candidates that will be gated on these questions.
        questions: questions that there are, None if any number can be had.

    Returns:
        ``margin``, ``gain``, ``confidence``, ``plans`` (``differing_share`` or ``variance``, and ``questions``, None
        if no number suffices; with ``questions`` also ``power``, the probability that those confirm it; of a pilot
        with clusters ``clusters`` and ``cluster_size``), ``repeats`` (``repeats`` and ``questions`` of the last plan;
        ``repeats`` None: however many), ``never`` (sentences: why it can never pass) and ``lines``, all in words.

    Raises:
        UsageError: a number is out of range, margin and gain are both 0, or the pilot cannot be reckoned with: no
            deciding judge, no common question, a range that is not declared.
    """
    aim = Aim(margin, gain, repeats, candidates, questions)
    case, part = _judge_of(pilot, request) if pilot else (None, None)
    found = _assumed() if case is None or part is None else spread(case, part)
    plans = _from_shares(aim) if case is None or part is None else [_from_pilot(aim, case, part, found)]
    saved = _saved(aim, found)
    never = [] if case is None or part is None else _lost(aim, case, part)
    if questions is not None and questions < MIN_QUESTIONS:
        never.append(f"{questions} questions are fewer than {MIN_QUESTIONS}, and fewer always hold.")
    each = "" if candidates == 1 else f", alpha divided among {candidates} candidates"
    lines = [f"To {aim.words} with 95 % confidence and 80 % power{each}:"]
    lines += [f"  {_number(one.needed, 'no number of'):>12} questions {one.words}" for one in plans]
    if saved:
        listed = ", ".join(f"{row['repeats'] or 'any number'}: {_number(row['questions'])}" for row in saved)
        lines.append(f"  Questions by answers per question and side ({plans[-1].words}): {listed}.")
        if not pilot:
            lines.append(
                f"  Assumed for this: {BETWEEN:.0%} of the variance is between questions, which more answers do not "
                "lessen; a pilot with several answers to each question measures it."
            )
    lines += [*_with_questions(aim, plans, saved), *(f"Never: {sentence}" for sentence in never)]
    return {
        "margin": margin,
        "gain": gain,
        "confidence": aim.confidence,
        "plans": [_document(aim, one, found) for one in plans],
        "repeats": saved,
        "never": never,
        "lines": lines,
    }


def _assumed() -> Spread:
    within = SHARES[-1] * (1.0 - BETWEEN) / 2.0
    return Spread(0, SHARES[-1], SHARES[-1] * BETWEEN, within, within)


def _from_shares(aim: Aim) -> list[_Plan]:
    several = aim.repeats is not None and aim.repeats > 1
    answers = f" from answer to answer, with {aim.repeats} answers a side" if several else ""
    plans = []
    for share in SHARES:
        need = Need(aim.effect, aim.confidence, share, share=True)
        if aim.repeats is not None and several:
            need = Need(aim.effect, aim.confidence, share * (BETWEEN + (1.0 - BETWEEN) / aim.repeats))
        plans.append(_Plan(need, need.questions(), f"if {share:.0%} of the questions differ{answers}", share))
    return plans


def _judge_of(pilot: tuple[str, ...], request: ComparisonRequest) -> tuple[Case, Part]:
    case = compare(read_rows(pilot), request).case
    part = weakest(case.decisive, case.level)
    if part is None:
        raise UsageError(
            f"The pilot has no judge that decides; name one with --judge (it has {labels(case.answers.judges)})."
        )
    if not len(part.pairs.questions):
        raise UsageError("No question of the pilot was answered and scored on both sides.")
    if not part.scale.known:
        name = label(part.scorer.name)
        raise UsageError(
            f"The range of {name}'s scores is not declared, without which margin and gain mean nothing and every gate "
            f"holds; give it as in --judge {name}:0..10."
        )
    return case, part


def _from_pilot(aim: Aim, case: Case, part: Part, found: Spread) -> _Plan:
    n = found.questions
    if part.scale.binary and part.pairs.single and found.clusters is None:
        share = differing_share_upper(float(abs(part.pairs.difference).sum()), n, case.level)
        need = Need(aim.effect, aim.confidence, share, share=True)
        return _Plan(need, need.questions(), f"at most {share:.1%} differ by the pilot's {n} questions", share)
    need = Need(aim.effect, aim.confidence, found.variance(aim.repeats), cluster_size=found.cluster_size)
    several = f", with {aim.repeats} answers a side" if aim.repeats is not None and found.between is not None else ""
    spreads = f"differences spread by at most {need.variance**0.5:.3f}{several}"
    if found.clusters is None:
        return _Plan(need, need.questions(), f"by the pilot's {n} questions: {spreads}")
    return _Plan(
        need,
        need.questions(),
        f"in clusters of {found.cluster_size:.3g}, by the pilot's {n} questions in {found.clusters} clusters: with "
        f"what the questions of a cluster share, {spreads}",
    )


def _lost(aim: Aim, case: Case, part: Part) -> list[str]:
    upper = part.interval(case.level).upper
    if upper is None or upper >= -aim.margin:
        return []
    return [f"the pilot already shows a loss beyond the margin: its upper limit is {upper:+.3f}."]


def _saved(aim: Aim, found: Spread) -> list[dict[str, Any]]:
    if found.between is None:
        return []
    rows: list[dict[str, Any]] = []
    for repeats in REPEATS:
        need = Need(aim.effect, aim.confidence, found.variance(repeats), cluster_size=found.cluster_size)
        rows.append({"repeats": repeats, "questions": need.questions()})
    least = Need(aim.effect, aim.confidence, found.between, cluster_size=found.cluster_size)
    return [*rows, {"repeats": None, "questions": least.questions() if found.between > 0.0 else MIN_QUESTIONS}]


def _with_questions(aim: Aim, plans: list[_Plan], saved: list[dict[str, Any]]) -> list[str]:
    """What the questions that there are give: a probability under each assumption, not one for all."""
    there = aim.questions
    if there is None or there < MIN_QUESTIONS:
        return []
    lines = [f"With {there:,} questions the probability of confirming this is:"]
    lines += [f"  {one.need.power(there):>12.0%} {one.words}" for one in plans]
    least = saved[-1]["questions"] if saved else MIN_QUESTIONS
    if least is None or least > there:
        lines.append(f"  More answers to each question do not suffice {plans[-1].words}: {_any_number(least)}.")
    return lines


def _document(aim: Aim, one: _Plan, found: Spread) -> dict[str, Any]:
    spreads = {"variance": one.need.variance} if one.share is None else {"differing_share": one.share}
    clusters = {} if found.clusters is None else {"clusters": found.clusters, "cluster_size": found.cluster_size}
    power = {} if aim.questions is None else {"power": one.need.power(aim.questions)}
    return {**spreads, **clusters, "questions": one.needed, **power}


def _number(questions: int | None, none: str = "none suffices") -> str:
    return none if questions is None else f"{questions:,}"


def _any_number(questions: int | None) -> str:
    return (
        "no number of questions does" if questions is None else f"any number of them asks for {questions:,} questions"
    )
