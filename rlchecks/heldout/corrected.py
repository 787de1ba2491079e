"""What people's labels on some answers say of a judge's scores on all: its bias is estimated and taken off."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

MIN_LABELLED = 10
"""Fewer labelled questions give no interval: the normal approximation rests on them."""


class Corrected(NamedTuple):
    """An estimate of what people would say of all answers.

    Attributes:
        estimate: the estimate, in the unit of the scores; None if undefined.
        lower: lower confidence limit, None if undefined.
        upper: upper confidence limit, None if undefined.
        labelled: questions with people's labels.
        unlabelled: questions with the judge's score alone.
        reason: why something is None, else None.
    """

    estimate: float | None
    lower: float | None
    upper: float | None
    labelled: int
    unlabelled: int
    reason: str | None


def prediction_powered(
    labels: ArrayLike, judged: ArrayLike, judged_alone: ArrayLike, confidence: float = 0.95
) -> Corrected:
    """Prediction-powered mean: the judge's mean on unlabelled questions plus the mean of what people say beyond it.

    mean(judged_alone) + mean(labels - judged), with the variance var(labels - judged) / n + var(judged_alone) / N;
    valid however bad the judge is, as long as the labelled questions are a random part of all. Paired differences in
    place of scores give the difference of two checkpoints.

    Source: Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023, Science 382:669, algorithm 1. Their normal quantile
    is replaced by Student's, with the degrees of freedom of Welch 1947 and Satterthwaite 1946, since labels are few.

    Args:
        labels: people's scores, shape (n,).
        judged: the judge's scores of the same questions, shape (n,).
        judged_alone: the judge's scores of the other questions, shape (N,).
        confidence: two-sided confidence level, between 0 and 1.
    """
    beyond = np.asarray(labels, dtype=float) - np.asarray(judged, dtype=float)
    alone = np.asarray(judged_alone, dtype=float)
    n, rest = len(beyond), len(alone)
    if n < MIN_LABELLED or rest < MIN_LABELLED:
        what = "labelled" if n < MIN_LABELLED else "unlabelled"
        return Corrected(None, None, None, n, rest, f"fewer than {MIN_LABELLED} questions are {what}")
    estimate = float(alone.mean() + beyond.mean())
    parts = np.array([beyond.var(ddof=1) / n, alone.var(ddof=1) / rest])
    total = float(parts.sum())
    if parts[0] <= 1e-24:
        reason = "people and judge differ by the same amount everywhere, so the judge's error has no variance"
        return Corrected(estimate, None, None, n, rest, reason)
    from scipy.special import stdtrit

    df = total**2 / float((parts**2 / np.array([n - 1, rest - 1])).sum())
    half = float(stdtrit(df, (1.0 + confidence) / 2.0)) * total**0.5
    return Corrected(estimate, estimate - half, estimate + half, n, rest, None)


def rogan_gladen(labels: ArrayLike, judged: ArrayLike, judged_alone: ArrayLike, confidence: float = 0.95) -> Corrected:
    """Share of right answers behind a judge that errs: (q + specificity - 1) / (sensitivity + specificity - 1).

    q is the share that the judge calls right among the unlabelled answers; sensitivity and specificity are estimated
    on the labelled ones. The interval is that of Lang and Reiczigel, which counts the error of all three.

    Sources: Rogan and Gladen 1978, American Journal of Epidemiology 107:71; Lang and Reiczigel 2014, Preventive
    Veterinary Medicine 113:13.

    Args:
        labels: people's scores, 0 or 1, shape (n,).
        judged: the judge's scores of the same answers, 0 or 1, shape (n,).
        judged_alone: the judge's scores of the other answers, 0 or 1, shape (N,).
        confidence: two-sided confidence level, between 0 and 1.
    """
    truth, said, alone = (np.asarray(each, dtype=float) > 0.5 for each in (labels, judged, judged_alone))
    n, rest = len(truth), len(alone)
    right, wrong = int(truth.sum()), int((~truth).sum())
    if rest < MIN_LABELLED:
        return Corrected(None, None, None, n, rest, f"fewer than {MIN_LABELLED} answers are unlabelled")
    if not (right and wrong):
        missing = "right" if wrong else "wrong"
        return Corrected(None, None, None, n, rest, f"people call no answer {missing}")
    sensitivity, specificity = float(said[truth].mean()), float((~said[~truth]).mean())
    if sensitivity + specificity <= 1.0:
        return Corrected(None, None, None, n, rest, "by the labels the judge cannot tell right from wrong")
    share = float(alone.mean())
    estimate = (share + specificity - 1.0) / (sensitivity + specificity - 1.0)
    lower, upper = _lang_reiczigel((share, rest), (sensitivity, right), (specificity, wrong), confidence)
    return Corrected(min(max(estimate, 0.0), 1.0), lower, upper, n, rest, None)


def _lang_reiczigel(
    share: tuple[float, int], sensitivity: tuple[float, int], specificity: tuple[float, int], confidence: float
) -> tuple[float, float]:
    """The interval from three proportions, each with the number of answers that it is of."""
    from scipy.special import ndtri

    z = float(ndtri((1.0 + confidence) / 2.0))
    n, right, wrong = share[1] + z**2, sensitivity[1] + 2, specificity[1] + 2
    q = (share[0] * share[1] + z**2 / 2) / n
    se, sp = (sensitivity[0] * sensitivity[1] + 1) / right, (specificity[0] * specificity[1] + 1) / wrong
    youden = se + sp - 1.0
    if youden <= 0.0:
        return 0.0, 1.0
    p = (q + sp - 1.0) / youden
    of_se, of_sp = se * (1 - se) / right, sp * (1 - sp) / wrong
    shift = 2 * z**2 * (p * of_se - (1 - p) * of_sp)
    half = z / youden * (q * (1 - q) / n + p**2 * of_se + (1 - p) ** 2 * of_sp) ** 0.5
    return min(max(p + shift - half, 0.0), 1.0), max(min(p + shift + half, 1.0), 0.0)
