"""The table "the grader pays +0.11 for 100 more characters", with the answers that show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rlchecks.grading.effects import Floats, Integers, Undefined, within
from rlchecks.grading.features import FEATURES, Feature

CONFIDENCE = 0.95

MOST_ANSWERS = 20_000
"""Answers that are looked at; of more, those of the last steps: what the grader pays for now is what counts."""

MOST_CHARACTERS = 5_000_000
"""Characters of answers that are looked at, a second or two of work; of more, those of the last steps."""

_SHORT = 100.0
"""Median length in characters under which answers are short."""

_CUT_KEYS = ("truncated", "is_truncated", "clipped", "finish_reason", "stop_reason", "stop_condition")
_CUT_WORDS = frozenset({"true", "1", "1.0", "length", "max_tokens", "generation_truncated"})
_WHOLE_WORDS = frozenset({"false", "0", "0.0", "stop", "eos", "end_turn", "tool_calls"})
_CUT = Feature("cut", "being cut off", 1.0, lambda prompt, answer: 0.0)


class Example(NamedTuple):
    """Two answers to one prompt that show an effect: the step, the prompt, and text and score of both."""

    step: int
    prompt: str
    more: str
    more_score: float
    less: str
    less_score: float


@dataclass(frozen=True)
class Payment:
    """What a reward function pays for a feature, among answers to the same prompt.

    Attributes:
        function: name of the reward function.
        feature: name of the feature.
        unit: what the payment is for, in words.
        amount: change of the score; None if it cannot be estimated.
        lower: lower end of its 95 % interval.
        upper: upper end.
        p: two-sided p-value, adjusted by Holm over all features and functions.
        prompts: prompts in which the feature varies.
        reason: why there is no amount.
        example: two answers that show it, if the adjusted p is at most .05.
    """

    function: str
    feature: str
    unit: str
    amount: float | None = None
    lower: float | None = None
    upper: float | None = None
    p: float | None = None
    prompts: int = 0
    reason: str | None = None
    example: Example | None = None

    @property
    def clear(self) -> bool:
        """Whether the payment differs from 0 at 5 % over all that was looked at."""
        return self.p is not None and self.p <= 1 - CONFIDENCE


class _Answers(NamedTuple):
    step: Integers
    prompts: list[str]
    answers: list[str]
    scores: dict[str, Floats]
    group: Integers
    cluster: Integers
    cut: Floats | None


def what_it_pays(completions: pa.Table) -> tuple[Payment, ...]:
    """Estimate what each reward function pays for each feature.

    Every feature but the length is estimated with the length held fixed. Features are looked at together, so the
    p-values are adjusted by Holm's method (1979, Scandinavian Journal of Statistics 6:65).

    Args:
        completions: rows of :data:`rlchecks.schema.COMPLETIONS` of one run; those of evaluations are left out.

    Returns:
        payments, the clear ones first, the surest first; nothing if no answers with scores were logged.
    """
    answers = _answers(completions)
    if answers is None:
        return ()
    columns = {feature.name: _column(feature, answers) for feature in FEATURES}
    features = [_fitting(feature, columns[feature.name]) for feature in FEATURES]
    if answers.cut is not None:
        columns[_CUT.name] = answers.cut
        features.append(_CUT)
    found = [
        (_estimate(function, feature, score, columns, answers), feature)
        for function, score in sorted(answers.scores.items())
        for feature in features
    ]
    return _adjusted(found, columns, answers)


def _fitting(feature: Feature, values: Floats) -> Feature:
    """Report the length in tens of characters where answers are short: 100 more would be none that was ever seen."""
    if feature.name == "length" and np.median(values) < _SHORT:
        return replace(feature, unit="10 more characters", step=10.0)
    return feature


def _estimate(
    function: str, feature: Feature, score: Floats, columns: Mapping[str, Floats], answers: _Answers
) -> Payment:
    known = np.isfinite(score) & np.isfinite(columns[feature.name])
    length = None if feature.name == "length" else columns["length"][known]
    try:
        effect = within(
            score[known], columns[feature.name][known], answers.group[known], answers.cluster[known], length
        )
    except Undefined as reason:
        return Payment(function, feature.name, feature.unit, reason=str(reason))
    from scipy.special import stdtr, stdtrit

    reach = float(stdtrit(effect.df, (1 + CONFIDENCE) / 2)) * effect.error
    p = float(2 * stdtr(effect.df, -abs(effect.slope / effect.error))) if effect.error > 0 else float(effect.slope == 0)
    low, middle, high = (feature.step * value for value in (effect.slope - reach, effect.slope, effect.slope + reach))
    return Payment(function, feature.name, feature.unit, middle, low, high, p, effect.clusters)


def _adjusted(
    found: Sequence[tuple[Payment, Feature]], columns: Mapping[str, Floats], answers: _Answers
) -> tuple[Payment, ...]:
    tested = sorted((one for one in found if one[0].p is not None), key=lambda one: one[0].p or 0.0)
    payments: list[Payment] = []
    largest = 0.0
    for place, (payment, feature) in enumerate(tested):
        largest = max(largest, min(1.0, (payment.p or 0.0) * (len(tested) - place)))
        adjusted = replace(payment, p=largest)
        if adjusted.clear and adjusted.amount:
            score = answers.scores[payment.function]
            adjusted = replace(adjusted, example=_example(score, columns[feature.name], adjusted.amount, answers))
        payments.append(adjusted)
    payments += [payment for payment, _ in found if payment.p is None]
    return tuple(payments)


def _example(score: Floats, feature: Floats, amount: float, answers: _Answers) -> Example | None:
    """The two answers of one group that differ most in the feature, their scores differing as the effect says."""
    best: tuple[float, int, int] | None = None
    usable = np.flatnonzero(np.isfinite(score) & np.isfinite(feature))
    order = usable[np.lexsort((feature[usable], answers.group[usable]))]
    groups = answers.group[order]
    starts = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]]) if len(order) else np.empty(0, dtype=np.int64)
    for start, stop in zip(starts, np.r_[starts[1:], len(order)], strict=True):
        less, more = int(order[start]), int(order[stop - 1])
        shows = (score[more] - score[less]) * np.sign(amount)
        apart = float(feature[more] - feature[less])
        if shows > 0 and apart > 0 and (best is None or apart > best[0]):
            best = (apart, more, less)
    if best is None:
        return None
    _, more, less = best
    return Example(
        int(answers.step[more]),
        answers.prompts[more],
        answers.answers[more],
        float(score[more]),
        answers.answers[less],
        float(score[less]),
    )


def _column(feature: Feature, answers: _Answers) -> Floats:
    pairs = zip(answers.prompts, answers.answers, strict=True)
    return np.array([feature.of(prompt, answer) for prompt, answer in pairs], dtype=np.float64)


def _answers(completions: pa.Table) -> _Answers | None:
    table = completions.filter(pc.equal(completions["split"], "train"))
    table = table.filter(pc.and_(pc.is_valid(table["prompt"]), pc.is_valid(table["completion"])))
    table = table.take(pc.sort_indices(table, [(name, "ascending") for name in ("step", "prompt", "completion")]))
    table = table.slice(max(0, table.num_rows - MOST_ANSWERS))
    sizes = pc.utf8_length(table["completion"]).to_numpy()
    fitting = int((np.cumsum(sizes[::-1]) <= MOST_CHARACTERS).sum())
    table = table.slice(table.num_rows - fitting)
    rows = table.select(["step", "prompt", "completion", "rewards", "extra_text"]).to_pylist()
    # In full, so that sums do not depend on the order of the log.
    rows.sort(key=lambda row: (row["step"], row["prompt"], row["completion"], repr(row["rewards"])))
    if not rows:
        return None
    names = sorted({name for row in rows for name, _ in row["rewards"] or ()})
    scores = {name: np.full(len(rows), np.nan) for name in names}
    for at, row in enumerate(rows):
        for name, value in row["rewards"] or ():
            if value is not None and np.isfinite(value):
                scores[name][at] = value
    if not names:
        return None
    step = np.array([row["step"] for row in rows], dtype=np.int64)
    prompts = [row["prompt"] for row in rows]
    _, cluster = np.unique(np.array(prompts, dtype=object), return_inverse=True)
    _, group = np.unique(np.stack([step, cluster]), axis=1, return_inverse=True)
    cut = _cut([dict(row["extra_text"] or ()) for row in rows])
    return _Answers(step, prompts, [row["completion"] for row in rows], scores, group.ravel(), cluster.ravel(), cut)


def _cut(extras: Sequence[Mapping[str, str | None]]) -> Floats | None:
    """1 for answers that the log says were cut, 0 for whole ones, NaN where it does not say; None if it never does."""
    key = next((key for key in _CUT_KEYS if any(extra.get(key) is not None for extra in extras)), None)
    if key is None:
        return None
    words = [(extra.get(key) or "").strip().lower() for extra in extras]
    return np.array([1.0 if word in _CUT_WORDS else 0.0 if word in _WHOLE_WORDS else np.nan for word in words])
