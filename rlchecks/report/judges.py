"""Several judges beside each other, ready to be shown: numbers in words, every text made harmless."""

from __future__ import annotations

from typing import NamedTuple

from rlchecks.report import format as fmt
from rlchecks.report.inert import block, line
from rlchecks.report.summary import Document, items, mapping

_LONGEST = 500
_MOST_EXAMPLES = 4
_OF = {"baseline": "the baseline", "candidate": "the candidate", "difference": "the difference"}
EACH_BY_ITSELF = (
    "Each line is an estimate of its own, so the difference need not be candidate minus baseline: for the difference "
    "the labels are paired by question."
)
"""Why the three estimates of a judge do not add up."""

_METHODS = {"prediction_powered": "prediction-powered", "rogan_gladen": "Rogan-Gladen"}


class Pair(NamedTuple):
    """Agreement of two judges."""

    pair: str
    answers: str
    equal: str
    closeness: str
    bounds: str
    kappa: str
    alpha: str
    reason: str


class Corrected(NamedTuple):
    """What people's labels make of a judge's scores.

    ``alone`` is the judge's mean over all questions; ``people`` and ``beside``, people's and the judge's, are over the
    same labelled ones.
    """

    judge: str
    of: str
    alone: str
    people: str
    beside: str
    estimate: str
    labelled: str
    method: str
    reason: str


class Disputed(NamedTuple):
    """An answer that two scored differently."""

    question: str
    scores: str
    prompt: str
    answer: str


def pairs(agreement: Document) -> list[Pair]:
    """The agreement of every two."""
    return [_pair(item) for item in items(agreement, "pairs")]


def corrected(agreement: Document) -> list[Corrected]:
    """The estimates that people's labels correct."""
    return [
        Corrected(
            line(item.get("judge"), 80),
            _OF.get(str(item.get("of")), ""),
            _mean(item, "judge_alone"),
            _mean(item, "people_alone"),
            _mean(item, "judge_labelled"),
            _estimate(item),
            f"{fmt.number(item.get('labelled'))} questions labelled, {fmt.number(item.get('unlabelled'))} not",
            _METHODS.get(str(item.get("method")), ""),
            line(item.get("reason") or "", 200),
        )
        for item in items(agreement, "corrected")
    ]


def disputed(agreement: Document, most: int = _MOST_EXAMPLES) -> list[Disputed]:
    """The answers on which two differ most."""
    return [_disputed(item) for item in items(agreement, "disagreements")[:most]]


def _pair(item: Document) -> Pair:
    return Pair(
        f"{line(item.get('one'), 80)} · {line(item.get('other'), 80)}",
        fmt.number(item.get("answers")),
        _share(item.get("equal")),
        _share(item.get("closeness")),
        _bounds(item),
        _decimal(item.get("kappa"))
        + (f" [{_decimal(item.get('kappa_lower'))}, {_decimal(item.get('kappa_upper'))}]" if _bounded(item) else ""),
        _decimal(item.get("alpha_interval")),
        line(item.get("reason") or "", 200),
    )


def _estimate(item: Document) -> str:
    values = [item.get(key) for key in ("estimate", "ci_lower", "ci_upper")]
    if item.get("of") == "difference" or fmt.finite(values[0]) is None:
        return fmt.interval(*values)
    estimate, lower, upper = (fmt.number(value) for value in values)
    return estimate if fmt.finite(values[1]) is None else f"{estimate} [{lower}, {upper}]"


def _mean(item: Document, key: str) -> str:
    return fmt.signed(item.get(key)) if item.get("of") == "difference" else fmt.number(item.get(key))


def _bounds(item: Document) -> str:
    lowest, highest = item.get("closeness_lowest"), item.get("closeness_highest")
    return "" if lowest == highest else f"{_share(lowest)} to {_share(highest)}"


def _bounded(item: Document) -> bool:
    return fmt.finite(item.get("kappa_lower")) is not None


def _share(value: object) -> str:
    share = fmt.finite(value)
    return "–" if share is None else f"{100 * share:.1f} %"


def _decimal(value: object) -> str:
    number = fmt.finite(value)
    return "–" if number is None else f"{number:.2f}"


def _disputed(item: Document) -> Disputed:
    sides = [mapping(item.get(key)) for key in ("one", "other")]
    return Disputed(
        f"{line(item.get('question_id'), 120)}, {line(item.get('checkpoint'), 80)}",
        ", ".join(f"{line(side.get('judge'), 80)}: {fmt.number(side.get('score'))}" for side in sides),
        block(item.get("prompt"), _LONGEST),
        block(item.get("answer"), _LONGEST),
    )
