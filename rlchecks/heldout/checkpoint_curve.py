"""Where the model was best: all checkpoints of the held-out rows against the best of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rlchecks.errors import UsageError
from rlchecks.heldout.answers import codes_of
from rlchecks.heldout.best import Standing, against_best
from rlchecks.heldout.case import Case, gather
from rlchecks.heldout.checkpoints import placed
from rlchecks.heldout.outcome import weakest
from rlchecks.heldout.parts import Part
from rlchecks.heldout.request import ComparisonRequest
from rlchecks.heldout.rows import HeldoutRows
from rlchecks.heldout.scale import Scale, scale_of
from rlchecks.signals import kl_curve

FEWEST = 3
"""Checkpoints from which there is something to choose from beside baseline and candidate."""

MOST = 50
"""Checkpoints that are compared with each other at most."""

AS_GOOD = 0.05
"""Fraction of the judge's range by which a checkpoint may be below the best and be as good, where no margin is set."""

Kl = Callable[[int], float | None]
"""Step to the KL of the checkpoint made there, in nats; None if unknown."""

_Floats = NDArray[np.float64]


def checkpoint_curve(
    rows: HeldoutRows, request: ComparisonRequest, kl: Kl | None = None, *, case: Case | None = None
) -> dict[str, Any] | None:
    """Compare all checkpoints that have a place in the training, for ``comparison.checkpoints`` of ``verdict.json``.

    The judge is the one that the decision hangs on, at the primary decoding; questions that were training prompts are
    left out. It describes, and decides nothing.

    Args:
        rows: held-out rows.
        request: as for :func:`rlchecks.heldout.compare.compare`.
        kl: tells the KL of a checkpoint by its step.
        case: the comparison of the same rows and request, if it is at hand.

    Returns:
        None with fewer than three such checkpoints, or without a deciding judge. Otherwise the mapping with ``judge``,
        ``decoding``, ``confidence`` (of all limits together), ``tolerance``, ``best`` (the highest score), ``as_good``
        (the earliest that is at most the tolerance below the best), ``reason`` (why there is none), ``rows`` and
        ``kl_curve``. Scores are in the judge's unit; differences are positive for the better.

    Raises:
        UsageError: as for ``compare``.
        InputError: as for ``compare``.
    """
    case = case or gather(rows, request)
    part = weakest(case.decisive, case.level)
    places = placed(rows.table, case.checkpoints.baseline)
    if part is None or len(places) < FEWEST:
        return None
    if len(places) > MOST:
        return _document(part, case, f"{len(places)} checkpoints, more than {MOST}")
    table = _of_part(rows.table, case, part, list(places))
    try:
        scale = scale_of(part.scorer, pc.fill_null(table["score"], np.nan).to_numpy())
    except UsageError as error:
        return _document(part, case, str(error))
    scores, questions, single = _scores(table, list(places), scale)
    shown = [name for name, row in zip(places, scores, strict=True) if np.isfinite(row).any()]
    scores = scores[np.isfinite(scores).any(axis=1)]
    if len(shown) < FEWEST:
        return None
    standings = against_best(
        scores,
        binary_single=scale.binary and single,
        averaged_binary=scale.binary,
        clusters=_clusters(case, questions),
        confidence=case.level,
    )
    steps = [places[name] for name in shown]
    distances = [None if kl is None or step is None else kl(step) for step in steps]
    tolerance = request.margin or AS_GOOD
    good = [index for index, one in enumerate(standings) if one.lower is not None and -one.lower <= tolerance]
    means = [float(row[np.isfinite(row)].mean()) for row in scores]
    best = int(np.argmax(means))
    return _document(
        part,
        case,
        None if good else _undecided(scores.shape[1], tolerance),
        tolerance=tolerance * scale.width,
        best=shown[best],
        as_good=shown[good[0]] if good else None,
        rows=[
            _row(name, step, float(mean), int(np.isfinite(row).sum()), one, distance, scale)
            for name, step, mean, row, one, distance in zip(
                *(shown, steps, means, scores, standings, distances), strict=True
            )
        ],
        kl_curve=None if kl is None else _kl_curve(distances, scores, case, questions, scale),
    )


def _document(part: Part, case: Case, reason: str | None, **found: Any) -> dict[str, Any]:
    empty: dict[str, Any] = {"tolerance": None, "best": None, "as_good": None, "rows": [], "kl_curve": None}
    about = {"judge": part.scorer.name, "decoding": part.decoding_name, "confidence": case.level}
    return about | empty | found | {"reason": reason}


def _undecided(questions: int, tolerance: float) -> str:
    return f"no checkpoint is shown to be at most {tolerance:g} of the range below the best with {questions} questions"


def _of_part(table: pa.Table, case: Case, part: Part, names: list[str]) -> pa.Table:
    """The rows of one judge at one decoding, without questions that were training prompts."""
    excluded = set() if case.overlap is None else set(np.flatnonzero(case.overlap.excluded).tolist())
    counted = [name for code, name in enumerate(case.answers.questions) if code not in excluded]
    decoding = table["decoding"]
    same = pc.is_null(decoding) if part.decoding_name is None else pc.equal(decoding, part.decoding_name)
    wanted = pc.and_(pc.equal(table["judge"], part.scorer.name), pc.fill_null(same, False))
    for column, values in (("checkpoint", names), ("question_id", counted)):
        wanted = pc.and_(wanted, pc.is_in(table[column], value_set=pa.array(values, pa.string())))
    return table.filter(wanted)


def _scores(table: pa.Table, names: list[str], scale: Scale) -> tuple[_Floats, list[str | None], bool]:
    """Mean score on 0 to 1, shape (checkpoints, questions); the questions; whether each was asked once at most."""
    checkpoint = pc.index_in(table["checkpoint"], value_set=pa.array(names, pa.string())).to_numpy()
    question, questions = codes_of(table["question_id"])
    epoch = pc.fill_null(table["epoch"], -(2**63)).to_numpy()
    score = scale.unit(pc.fill_null(table["score"], np.nan).to_numpy().astype(float))
    cell = checkpoint.astype(np.int64) * len(questions) + question
    # Of rows that repeat another one, the first counts.
    order = np.lexsort((np.arange(len(cell)), epoch, cell))
    again = np.zeros(len(cell), dtype=bool)
    again[order[1:]] = (np.diff(cell[order]) == 0) & (np.diff(epoch[order]) == 0)
    used = ~again & np.isfinite(score)
    size = len(names) * len(questions)
    count = np.bincount(cell[used], minlength=size)
    total = np.bincount(cell[used], weights=score[used], minlength=size)
    mean = np.full(size, np.nan)
    mean[count > 0] = total[count > 0] / count[count > 0]
    return mean.reshape(len(names), -1), questions, bool(count.max(initial=0) <= 1)


def _clusters(case: Case, questions: list[str | None]) -> NDArray[np.int64] | None:
    clusters = case.answers.clusters
    if clusters is None:
        return None
    code = {name: index for index, name in enumerate(case.answers.questions)}
    return clusters[[code[str(name)] for name in questions]]


def _row(
    name: str, step: int | None, mean: float, count: int, one: Standing, distance: float | None, scale: Scale
) -> dict[str, Any]:
    difference, lower, upper = map(scale.raw_difference, (one.difference, one.lower, one.upper))
    return {
        "checkpoint": name,
        "step": step,
        "mean": scale.raw(mean),
        "n_questions": count,
        "difference": difference,
        "ci_lower": lower,
        "ci_upper": upper,
        "may_be_best": one.may_be_best,
        "kl": distance,
    }


def _kl_curve(
    distances: list[float | None], scores: _Floats, case: Case, questions: list[str | None], scale: Scale
) -> dict[str, Any]:
    known = np.array([np.nan if value is None else value for value in distances])
    means = np.array([row[np.isfinite(row)].mean() for row in scores])
    answers = scores.T if np.isfinite(scores).all() else None
    curve = kl_curve.fit(known, means, answers, _clusters(case, questions))
    if all(value is None for value in distances):
        curve = curve._replace(reason="the log has no KL at these checkpoints")
    start = None if curve.start is None else scale.raw(curve.start)
    slopes = {name: scale.raw_difference(value) for name, value in (("alpha", curve.alpha), ("beta", curve.beta))}
    return {**curve._asdict(), "start": start, **slopes}
