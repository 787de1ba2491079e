"""The plan of ``rlchecks plan``: how many held-out questions, and answers to each, a decision needs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from rlchecks.errors import UsageError
from rlchecks.heldout import ComparisonRequest, compare, differing_share_upper, read_rows
from rlchecks.heldout.outcome import weakest
from rlchecks.heldout.pilot import Spread, spread
from rlchecks.heldout.plan import MIN_QUESTIONS
from rlchecks.heldout.power import power_of, questions_for_share, questions_for_variance

SHARES = (0.05, 0.1, 0.2, 0.3)
"""Shares of differing questions for which a plan without a pilot is made."""

BETWEEN = 0.25
"""Share of the variance of single answers' differences that is between questions, without a pilot: Miller 2024, arXiv
2411.00640, section on power, reckons with 1/9 between questions and 1/6 within each side."""

REPEATS = (1, 2, 4, 8)
"""Answers per question and side for which a plan says what they save."""


@dataclass(frozen=True)
class Aim:
    """What shall be confirmed.

    Attributes:
        margin: loss that shall be excluded, 0 to below 1.
        gain: gain that is expected, 0 to below 1; with a margin of 0 it is what shall be confirmed.
        repeats: answers per question and side; None: one, or as many as the pilot has.
        candidates: candidates that will be gated on the questions: each has alpha / candidates.
        questions: questions that there are, None if any number can be had.
    """

    margin: float
    gain: float
    repeats: int | None = None
    candidates: int = 1
    questions: int | None = None

    def __post_init__(self) -> None:
        """Refuse what no plan can mean.

        Raises:
            UsageError: a number is out of range, or margin and gain are both 0.
        """
        if not (0 <= self.margin < 1 and 0 <= self.gain < 1 and self.margin + self.gain > 0):
            raise UsageError(
                "--margin (the loss to be excluded) and --gain (the gain that is expected) lie between 0 and 1, and "
                "one of them above 0, such as --margin 0.02: that there is no loss at all can never be confirmed when "
                "nothing was gained."
            )
        if min(n for n in (self.candidates, self.repeats, self.questions) if n is not None) < 1:
            raise UsageError("--repeats, --candidates and --questions are at least 1.")

    @property
    def effect(self) -> float:
        """Distance of the expected difference from the threshold."""
        return self.margin + self.gain

    @property
    def confidence(self) -> float:
        """Two-sided confidence level of each candidate's interval."""
        return 1.0 - 0.05 / self.candidates


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
        if no number suffices), ``repeats`` (``repeats`` and ``questions`` of the last plan; ``repeats`` None: however
        many), ``never`` (sentences: why it can never pass) and ``lines``, all in words.

    Raises:
        UsageError: a number is out of range, or margin and gain are both 0.
    """
    aim = Aim(margin, gain, repeats, candidates, questions)
    plans, words, saved, seen = _from_pilot(aim, pilot, request) if pilot else _from_shares(aim)
    never = seen + _never(aim, plans, saved)
    each = "" if candidates == 1 else f", alpha divided among {candidates} candidates"
    lines = [f"To {_aim(margin, gain)} with 95 % confidence and 80 % power{each}:"]
    for one, word in zip(plans, words, strict=True):
        number = "no number of" if one["questions"] is None else f"{one['questions']:,}"
        lines.append(f"  {number:>12} questions {word}")
    if saved:
        listed = ", ".join(f"{row['repeats'] or 'any number'}: {_number(row['questions'])}" for row in saved)
        lines.append(f"  Questions by answers per question and side ({words[-1]}): {listed}.")
    lines += [f"Never: {sentence}" for sentence in never]
    return {
        "margin": margin,
        "gain": gain,
        "confidence": aim.confidence,
        "plans": plans,
        "repeats": saved,
        "never": never,
        "lines": lines,
    }


def _from_shares(aim: Aim) -> tuple[list[dict[str, Any]], list[str], list[dict[str, Any]], list[str]]:
    plans = []
    for share in SHARES:
        needed = questions_for_share(aim.effect, share, confidence=aim.confidence)
        if aim.repeats is not None and aim.repeats > 1:
            variance = share * (BETWEEN + (1.0 - BETWEEN) / aim.repeats)
            needed = questions_for_variance(aim.effect, variance, confidence=aim.confidence)
        plans.append({"differing_share": share, "questions": needed})
    answers = "" if aim.repeats in (None, 1) else f" from answer to answer, with {aim.repeats} answers a side"
    words = [f"if {share:.0%} of the questions differ{answers}" for share in SHARES]
    within = SHARES[-1] * (1.0 - BETWEEN) / 2.0
    assumed = Spread(0, SHARES[-1], SHARES[-1] * BETWEEN, within, within)
    return plans, words, _saved(aim, assumed), []


def _from_pilot(
    aim: Aim, pilot: tuple[str, ...], request: ComparisonRequest
) -> tuple[list[dict[str, Any]], list[str], list[dict[str, Any]], list[str]]:
    case = compare(read_rows(pilot), request).case
    part = weakest(case.decisive, case.level)
    if part is None:
        raise UsageError("The pilot has no judge that decides; name one with --judge.")
    n = len(part.pairs.questions)
    if n == 0:
        raise UsageError("No question of the pilot was answered and scored on both sides.")
    found = spread(case, part)
    interval = part.interval(case.level)
    seen = []
    if interval.upper is not None and interval.upper < -aim.margin:
        seen.append(f"the pilot already shows a loss beyond the margin: its upper limit is {interval.upper:+.3f}.")
    if part.scale.binary and part.pairs.single:
        share = differing_share_upper(float(abs(part.pairs.difference).sum()), n, case.level)
        needed = questions_for_share(aim.effect, share, confidence=aim.confidence)
        words = f"at most {share:.0%} differ by the pilot's {n} questions"
        return [{"differing_share": share, "questions": needed}], [words], [], seen
    variance = found.variance(aim.repeats)
    needed = questions_for_variance(aim.effect, variance, confidence=aim.confidence)
    answers = "" if aim.repeats is None or found.between is None else f", with {aim.repeats} answers a side"
    words = f"by the pilot's {n} questions: differences spread by at most {variance**0.5:.3f}{answers}"
    saved = _saved(aim, found) if found.between is not None else []
    return [{"variance": variance, "questions": needed}], [words], saved, seen


def _saved(aim: Aim, found: Spread) -> list[dict[str, Any]]:
    needed = partial(questions_for_variance, aim.effect, confidence=aim.confidence)
    rows: list[dict[str, Any]] = [
        {"repeats": repeats, "questions": needed(found.variance(repeats))} for repeats in REPEATS
    ]
    between = found.between or 0.0
    return [*rows, {"repeats": None, "questions": needed(between) if between > 0.0 else MIN_QUESTIONS}]


def _never(aim: Aim, plans: list[dict[str, Any]], saved: list[dict[str, Any]]) -> list[str]:
    there = aim.questions
    if there is None:
        return []
    if there < MIN_QUESTIONS:
        return [f"{there} questions are fewer than {MIN_QUESTIONS}, and fewer always hold."]
    if any(one["questions"] is not None and one["questions"] <= there for one in plans):
        return []
    variance = min(float(one[name]) for one in plans for name in ("variance", "differing_share") if name in one)
    power = power_of(there, aim.effect, variance, confidence=aim.confidence)
    sentences = [f"{there:,} questions confirm this with a probability of {power:.0%} at most, not 80 %."]
    least = saved[-1]["questions"] if saved else MIN_QUESTIONS
    if least is None or least > there:
        sentences.append(f"more answers to each question do not help: even any number asks for {_number(least)}.")
    return sentences


def _number(questions: int | None) -> str:
    return "none suffices" if questions is None else f"{questions:,}"


def _aim(margin: float, gain: float) -> str:
    if not gain:
        return f"exclude a loss of {margin:g}, when there is none,"
    return f"confirm a gain of {gain:g}" if not margin else f"exclude a loss of {margin:g}, when {gain:g} is gained,"
