"""The difference with the length of the answers held fixed, beside the difference as it is.

A judge that likes long answers rewards a model for writing more. AlpacaEval's length-controlled win rate (Dubois,
Galambosi, Liang and Hashimoto 2024, arXiv 2404.04475) asks what the win rate would be if both models wrote answers of
equal length: a logistic model of pairwise preferences with the tanh of the standardised length difference and a
difficulty for each instruction. Here the scores are paired by question and of any kind, so the model is a line: the
difference of the scores against the difference of the log lengths, and its value at no change of length.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from rlchecks.heldout.answers import Answers, Side
from rlchecks.heldout.case import Case
from rlchecks.heldout.intervals import MIN_CLUSTERS
from rlchecks.heldout.outcome import weakest
from rlchecks.heldout.parts import Part

_Values = NDArray[np.float64]
_OUTER = (2.5, 97.5)  # percentiles: beyond them, no change of length is an extrapolation
_EXTRAPOLATED = "nearly all answers changed their length in one direction, so that it would be an extrapolation"
_SINGULAR = 1e-12
_MEAN_LEVERAGE = 1e-9


class Controlled(NamedTuple):
    """The difference at equal length.

    Attributes:
        estimate: intercept of the line, None if undefined.
        lower: lower confidence limit, None if undefined.
        upper: upper confidence limit, None if undefined.
        slope: rise of the difference as the candidate's answer becomes twice as long, None if undefined.
        extrapolated: whether nearly all answers changed their length in one direction.
        n: questions.
        reason: why there is no estimate or no interval, else None.
    """

    estimate: float | None
    lower: float | None
    upper: float | None
    slope: float | None
    extrapolated: bool
    n: int
    reason: str | None


def length_controlled(
    difference: ArrayLike,
    log_ratio: ArrayLike,
    clusters: Sequence[object] | NDArray[np.generic] | None = None,
    confidence: float = 0.95,
) -> Controlled:
    """Least squares of the paired difference on the log ratio of the lengths, and its value where the ratio is one.

    The interval is the jackknife's: the line is fitted again without each question, or without each cluster, with the
    t distribution on G - 2 degrees of freedom (G: questions or clusters). It allows for any heteroscedasticity and for
    dependence within clusters, and errs towards the wide side.

    Source: MacKinnon and White 1985, Journal of Econometrics 29:305 (jackknife); Bell and McCaffrey 2002, Survey
    Methodology 28:169 (by clusters, CR3).

    Args:
        difference: candidate minus baseline, shape (n,).
        log_ratio: natural logarithm of candidate's over baseline's length, shape (n,).
        clusters: cluster of each question, shape (n,), or None where questions are independent.
        confidence: two-sided confidence level.
    """
    from scipy.special import stdtrit

    y, x = np.asarray(difference, dtype=float), np.asarray(log_ratio, dtype=float)
    n = len(y)
    code = np.arange(n) if clusters is None else np.unique(np.asarray(clusters), return_inverse=True)[1]
    groups = int(code.max(initial=-1)) + 1
    if groups < MIN_CLUSTERS:
        unit = "questions" if clusters is None else "clusters"
        return Controlled(None, None, None, None, False, n, f"{groups} {unit}, fewer than {MIN_CLUSTERS}")
    # Sums of 1, x, x^2, y and x y of each group: the line without it needs no more.
    sums = np.stack([np.bincount(code, weights=part, minlength=groups) for part in (x**0, x, x * x, y, x * y)])
    whole = sums.sum(axis=1, keepdims=True)
    intercept, slope = _line(whole)
    left_out, _ = _line(whole - sums)
    if not (np.isfinite(intercept).all() and np.isfinite(left_out).all()):
        reason = "the lengths of the answers do not vary, or vary in one question or cluster only"
        return Controlled(None, None, None, None, False, n, reason)
    estimate = float(intercept[0])
    low, high = np.percentile(x, _OUTER)
    extrapolated = bool(low > 0.0 or high < 0.0)
    rise = float(slope[0]) * float(np.log(2.0))
    se = float(((groups - 1) / groups * ((left_out - estimate) ** 2).sum()) ** 0.5)
    if se <= _SINGULAR:
        return Controlled(estimate, None, None, rise, extrapolated, n, "the line fits without any error")
    half = float(stdtrit(groups - 2, (1.0 + confidence) / 2.0)) * se
    return Controlled(estimate, estimate - half, estimate + half, rise, extrapolated, n, None)


def length_document(case: Case) -> dict[str, Any] | None:
    """``comparison.length`` of ``verdict.json``, of the judge the decision hangs on; None without one.

    Lengths are characters. Differences are in the unit of the scores.
    """
    part = weakest(case.decisive, case.level)
    if part is None:
        return None
    lengths = _lengths(case.answers, part)
    empty: dict[str, Any] = dict.fromkeys(
        ("baseline_length", "candidate_length", "difference", "controlled", "ci_lower", "ci_upper", "per_doubling")
    )
    document = {"judge": part.scorer.name, "unit": "characters", **empty, "extrapolated": False, "n_questions": 0}
    if lengths is None:
        return {**document, "reason": "some rows give no answer"}
    mean, logarithm = lengths
    clusters = None if part.clusters is None else part.clusters[part.pairs.questions]
    found = length_controlled(part.pairs.difference, logarithm[1] - logarithm[0], clusters, case.level)
    scaled = [None if found.extrapolated else part.scale.raw_difference(value) for value in found[:4]]
    return {
        **document,
        "baseline_length": float(mean[0].mean()) if found.n else None,
        "candidate_length": float(mean[1].mean()) if found.n else None,
        "difference": float(part.pairs.difference.mean()) * part.scale.width if found.n else None,
        **dict(zip(("controlled", "ci_lower", "ci_upper", "per_doubling"), scaled, strict=True)),
        "extrapolated": found.extrapolated,
        "n_questions": found.n,
        "reason": _EXTRAPOLATED if found.extrapolated else found.reason,
    }


def _line(sums: _Values) -> tuple[_Values, _Values]:
    n, x, xx, y, xy = sums
    determinant = n * xx - x * x
    usable = determinant > _MEAN_LEVERAGE * np.maximum(n * xx, _SINGULAR)
    divisor = np.where(usable, determinant, np.nan)
    return (xx * y - x * xy) / divisor, (n * xy - x * y) / divisor


def _lengths(answers: Answers, part: Part) -> tuple[list[_Values], list[_Values]] | None:
    """Mean length and mean log length (of the length plus one) by question, for both sides; None if one is unknown."""
    length = pc.utf8_length(answers.table["answer"])
    if length.null_count:
        length = pc.fill_null(length, -1)
    characters = length.to_numpy().astype(float)
    sides = [_side(answers, side, part, characters) for side in (answers.baseline, answers.candidate)]
    if any(side is None for side in sides):
        return None
    found = [side for side in sides if side is not None]
    return [mean for mean, _ in found], [logarithm for _, logarithm in found]


def _side(answers: Answers, side: Side, part: Part, characters: _Values) -> tuple[_Values, _Values] | None:
    judge = answers.judge(part.scorer.name)
    chosen = (side.judge == judge) & (side.decoding == part.decoding) & ~np.isnan(side.score)
    question, values = side.question[chosen], characters[side.row[chosen]]
    if (values < 0).any():
        return None
    size = len(answers.questions)
    count = np.bincount(question, minlength=size)[part.pairs.questions]
    mean, logarithm = (
        np.bincount(question, weights=weights, minlength=size)[part.pairs.questions] / count
        for weights in (values, np.log1p(values))
    )
    return mean, logarithm
