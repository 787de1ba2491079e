"""pass@k: the chance that at least one of k answers is right, where questions were answered several times."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rlchecks.heldout.answers import Answers, Side
from rlchecks.heldout.case import Case
from rlchecks.heldout.intervals import paired_interval
from rlchecks.heldout.outcome import weakest
from rlchecks.heldout.parts import Part

_Values = NDArray[np.float64]


def pass_at_k(answers: ArrayLike, right: ArrayLike, k: int) -> _Values:
    """The unbiased estimate of pass@k for each question: 1 - C(n - c, k) / C(n, k).

    Source: Chen et al. 2021, arXiv 2107.03374, equation 1.

    Args:
        answers: n, answers to each question, at least ``k``, shape (m,).
        right: c, the right ones among them, 0 to n, shape (m,).
        k: answers drawn, at least 1.

    Returns:
        Estimates from 0 to 1, shape (m,).

    Raises:
        ValueError: a question has fewer than ``k`` answers, or ``k`` or a count is out of range.
    """
    from scipy.special import gammaln

    n, c = np.asarray(answers, dtype=float), np.asarray(right, dtype=float)
    if k < 1 or (n < k).any() or (c < 0).any() or (c > n).any():
        raise ValueError(f"pass@{k} needs {k} answers to each question, of which 0 to all are right")
    wrong = n - c
    missed = np.zeros(len(n))
    some = wrong >= k
    # C(w, k) / C(n, k) = w! (n - k)! / ((w - k)! n!)
    w, m = wrong[some], n[some]
    missed[some] = np.exp(gammaln(w + 1) - gammaln(w - k + 1) - gammaln(m + 1) + gammaln(m - k + 1))
    return np.clip(1.0 - missed, 0.0, 1.0)


def pass_document(case: Case) -> dict[str, Any] | None:
    """``comparison.pass_at_k`` of ``verdict.json``: k = 1, 2, 4, ... up to the fewest answers to a question.

    Of the judge that the decision hangs on, at the primary decoding; its difference at k = 1 is the mean's. Limits are
    each at the confidence level of the comparison. None where no question has several answers or no judge decides.
    """
    part = weakest(case.decisive, case.level)
    if part is None or part.pairs.single or not len(part.pairs.questions):
        return None
    document: dict[str, Any] = {"judge": part.scorer.name, "decoding": part.decoding_name, "rows": [], "reason": None}
    if not part.scale.binary:
        return {**document, "reason": "the scores are not right or wrong"}
    before, after = (_counts(case.answers, side, part) for side in (case.answers.baseline, case.answers.candidate))
    fewest = int(min(before[0].min(), after[0].min()))
    clusters = None if part.clusters is None else part.clusters[part.pairs.questions]
    for power in range(fewest.bit_length()):
        k = 1 << power
        one, other = pass_at_k(*before, k), pass_at_k(*after, k)
        found = paired_interval(other - one, averaged_binary=True, clusters=clusters, confidence=case.level)
        document["rows"].append(
            {
                "k": k,
                "baseline": float(one.mean()),
                "candidate": float(other.mean()),
                "difference": found.estimate,
                "ci_lower": found.lower,
                "ci_upper": found.upper,
                "method": found.method,
                "reason": found.reason,
            }
        )
    return document


def _counts(answers: Answers, side: Side, part: Part) -> tuple[_Values, _Values]:
    """Scored answers to each compared question, and the right ones among them."""
    judge = answers.judge(part.scorer.name)
    chosen = (side.judge == judge) & (side.decoding == part.decoding) & ~np.isnan(side.score)
    size = len(answers.questions)
    scores = part.scale.unit(side.score[chosen])
    count = np.bincount(side.question[chosen], minlength=size)
    right = np.bincount(side.question[chosen], weights=scores, minlength=size)
    return count[part.pairs.questions].astype(float), np.rint(right[part.pairs.questions])
