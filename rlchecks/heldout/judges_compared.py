"""Several judges on the same answers: how far they agree, where they do not, and what people make of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from rlchecks.heldout.examples import cut
from rlchecks.heldout.intervals import SAME
from rlchecks.heldout.judged import Judged
from rlchecks.heldout.krippendorff import krippendorff_alpha
from rlchecks.heldout.pair_agreement import MOST_CATEGORIES, Column, comparable, pair_agreement
from rlchecks.heldout.people import corrected, together
from rlchecks.heldout.scale import Scale

MOST_JUDGES = 12
"""Judges that are compared with each other."""

MOST_EXAMPLES = 10
"""Answers that are listed."""


def judges_document(
    found: Judged,
    scales: Mapping[str, Scale],
    *,
    people: Collection[str] = (),
    graders: Collection[str] = (),
    sides: tuple[str, str] | None = None,
    decoding: str | None = None,
    level: float = 0.95,
) -> dict[str, Any]:
    """``comparison.agreement`` of ``verdict.json``, and what ``rlchecks judges`` prints.

    Args:
        found: the answers.
        scales: each judge's scale.
        people: judges who are people; their labels are the reference.
        graders: judges that graded the training.
        sides: names of baseline and candidate, None if unknown.
        decoding: the decoding at which people's labels correct the judges.
        level: two-sided confidence level.
    """
    found = found.without_references()
    columns, human, models, label = _roles(found, scales, people)
    # People first: what agrees with them is what one looks for.
    pairs = [(label, column) for column in models] if label is not None else []
    pairs += combinations(models, 2)
    pairs += combinations(human, 2)
    agreements = [pair_agreement(one, other, found, level) for one, other in pairs]
    return {
        "judges": [_judge(column, people, graders) for column in columns],
        "people": [column.name for column in human],
        "pairs": agreements,
        **_all(columns),
        "corrected": _corrected(found.at(decoding), scales, people, sides, level),
        "disagreements": _disagreements(_contrast(columns, label, models, graders, agreements), found),
    }


def _roles(
    found: Judged, scales: Mapping[str, Scale], people: Collection[str]
) -> tuple[list[Column], list[Column], list[Column], Column | None]:
    """All judges, people, the others, and what people say together."""
    columns = [
        Column(name, found.column(name), found.asked[:, at], scales[name]) for at, name in enumerate(found.judges)
    ]
    human = [column for column in columns if column.name in people]
    models = [column for column in columns if column.name not in people]
    return columns, human, models, together(human) if human else None


def _corrected(
    found: Judged, scales: Mapping[str, Scale], people: Collection[str], sides: tuple[str, str] | None, level: float
) -> list[dict[str, Any]]:
    _, _, models, label = _roles(found, scales, people)
    if label is None or sides is None or not set(sides) <= found.present:
        return []
    return [estimate for column in models for estimate in corrected(label, column, found, sides, level)]


def _judge(column: Column, people: Collection[str], graders: Collection[str]) -> dict[str, Any]:
    scored = ~np.isnan(column.scores)
    role = "people" if column.name in people else "training grader" if column.name in graders else "judge"
    return {
        "name": column.name,
        "role": role,
        "scored": int(scored.sum()),
        "unscored": int((column.asked & ~scored).sum()),
        "mean": float(column.scores[scored].mean()) if scored.any() else None,
    }


def _all(columns: Sequence[Column]) -> dict[str, float | None]:
    """Krippendorff's alpha over all judges."""
    values = comparable(*columns) if len(columns) > 1 else None
    if values is None:
        return {"alpha_nominal": None, "alpha_interval": None}
    table = np.stack(values, axis=1)
    few = len(np.unique(table[~np.isnan(table)])) <= MOST_CATEGORIES
    return {
        "alpha_nominal": krippendorff_alpha(table, "nominal") if few else None,
        "alpha_interval": krippendorff_alpha(table, "interval"),
    }


def _contrast(
    columns: Sequence[Column],
    label: Column | None,
    models: Sequence[Column],
    graders: Collection[str],
    agreements: Sequence[Mapping[str, Any]],
) -> tuple[Column, Column] | None:
    """The two whose disagreements are shown: training grader and judge, else judge and people, else the worst pair."""
    grader = next((column for column in columns if column.name in graders), None)
    judge = next((column for column in models if column.name not in graders), None)
    if grader is not None and judge is not None:
        return grader, judge
    if label is not None and models:
        return models[0], label
    known = [pair for pair in agreements if pair["alpha_interval"] is not None]
    if not known:
        return None
    worst = min(known, key=lambda pair: float(pair["alpha_interval"]))
    by_name = {column.name: column for column in columns}
    return by_name[worst["one"]], by_name[worst["other"]]


def _disagreements(contrast: tuple[Column, Column] | None, found: Judged) -> list[dict[str, Any]]:
    """The answers on which two differ most, one a question, the largest difference first."""
    values = None if contrast is None else comparable(*contrast)
    if contrast is None or values is None:
        return []
    difference = np.nan_to_num(np.abs(values[0] - values[1]))
    order = np.argsort(-difference, kind="stable")
    _, first = np.unique(found.question[order], return_index=True)
    chosen = order[np.sort(first)][:MOST_EXAMPLES]
    return [_example(contrast, found, int(at)) for at in chosen if difference[at] > SAME]


def _example(contrast: tuple[Column, Column], found: Judged, at: int) -> dict[str, Any]:
    row = int(found.row[at])
    texts = {name: cut(found.table[name][row].as_py()) for name in ("prompt", "answer")}
    return {
        "question_id": found.table["question_id"][row].as_py(),
        "checkpoint": found.checkpoints[int(found.checkpoint[at])],
        **{
            key: {"judge": column.name, "score": float(column.scores[at])}
            for key, column in zip(("one", "other"), contrast, strict=True)
        },
        **texts,
    }
