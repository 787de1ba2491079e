"""Agreement of two judges on the answers that both scored."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlchecks.heldout.judged import Judged
from rlchecks.heldout.kappa import cohen_kappa
from rlchecks.heldout.krippendorff import krippendorff_alpha
from rlchecks.heldout.scale import Scale

MOST_CATEGORIES = 10
"""Of scores with more different values equality is chance, so kappa and nominal alpha are not given."""


class Column(NamedTuple):
    """The scores of one judge.

    Attributes:
        name: the judge.
        scores: NaN where unscored, shape (answers,).
        asked: whether it has a row of the answer, shape (answers,).
        scale: its scale.
    """

    name: str
    scores: NDArray[np.float64]
    asked: NDArray[np.bool_]
    scale: Scale


def comparable(*columns: Column) -> list[NDArray[np.float64]] | None:
    """The scores of judges on one scale, higher being better.

    Returns:
        On 0 to 1 where all ranges are known, else as they stand; None if the directions differ and a range is unknown.
    """
    if all(column.scale.known for column in columns):
        return [np.round(column.scale.unit(column.scores), 9) for column in columns]
    if len({column.scale.higher_is_better for column in columns}) > 1:
        return None
    sign = 1.0 if columns[0].scale.higher_is_better else -1.0
    return [sign * column.scores for column in columns]


def pair_agreement(one: Column, other: Column, found: Judged, level: float) -> dict[str, Any]:
    """All measures for two judges; what cannot be computed is None, with the reason.

    ``equal`` is the share of equal scores. ``closeness`` is one minus the mean absolute difference on 0 to 1: for
    scores of 0 and 1 the same, and half a win agrees with a win by half. With unscored answers it lies between
    ``closeness_lowest`` and ``closeness_highest``.

    Args:
        one: the one judge.
        other: the other.
        found: the answers.
        level: two-sided confidence level of kappa's interval, with answers to one question as one cluster.
    """
    document: dict[str, Any] = dict.fromkeys(
        ("equal", "closeness", "closeness_lowest", "closeness_highest", "kappa", "kappa_lower", "kappa_upper")
    )
    document |= dict.fromkeys(("alpha_nominal", "alpha_interval", "reason"))
    document = {"one": one.name, "other": other.name} | document
    values = comparable(one, other)
    both = ~np.isnan(one.scores) & ~np.isnan(other.scores)
    unscored = int((one.asked & other.asked & ~both).sum())
    document |= {"answers": int(both.sum()), "unscored": unscored}
    if values is None:
        return document | {"reason": "one is better high and the other low, and a range is not declared"}
    if not both.any():
        return document | {"reason": "no answer was scored by both"}
    first, second = values[0][both], values[1][both]
    document["alpha_interval"] = krippendorff_alpha(np.stack([first, second], axis=1), "interval")
    if one.scale.known and other.scale.known:
        total, n = float((1.0 - np.abs(first - second)).sum()), len(first)
        document["closeness"] = total / n
        document["closeness_lowest"] = total / (n + unscored)
        document["closeness_highest"] = (total + unscored) / (n + unscored)
    if len(np.unique(np.concatenate([first, second]))) > MOST_CATEGORIES:
        return document | {"reason": f"there are more than {MOST_CATEGORIES} different scores"}
    kappa = cohen_kappa(first, second, found.question[both], level)
    return document | {
        "equal": float((first == second).mean()),
        "kappa": kappa.value,
        "kappa_lower": kappa.lower,
        "kappa_upper": kappa.upper,
        "alpha_nominal": krippendorff_alpha(np.stack([first, second], axis=1), "nominal"),
        "reason": kappa.reason,
    }
