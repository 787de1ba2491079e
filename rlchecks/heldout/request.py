"""What a comparison is asked, and what it answers."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rlchecks.errors import UsageError
from rlchecks.heldout.harness.log import JudgeFacts
from rlchecks.heldout.holm import looks_divisor
from rlchecks.heldout.names import shown
from rlchecks.heldout.scorer import Scorer

if TYPE_CHECKING:
    from rlchecks.heldout.case import Case


@dataclass(frozen=True)
class ComparisonRequest:
    """What is compared, by whom, and by which rule.

    Margins are fractions of a judge's range: the declared one, 0 to 1 where all scores are 0 or 1, else the one
    that the scores suggest.

    Attributes:
        baseline: name of the starting model's checkpoint, None for the earliest.
        candidate: name of the checkpoint to be promoted, None for the latest.
        judges: judges named by the user, decisive or advisory; empty: the only one that is no training grader.
        graders: training graders, from the log and declared.
        graders_known: whether the training graders are known at all.
        graders_told: what the run's log tells of its graders beside their names.
        base_models: names of the model that the training started from.
        decoding: the decoding to be deployed, None for the default.
        margin: loss that is acceptable, 0 to below 1; 0: a gain must be confirmed.
        guard_margin: loss of a guard that rejects, 0 to below 1.
        confidence: two-sided confidence level of the first look.
        looks: how many candidates, this one included, were gated on these questions; alpha is divided for it by
            :func:`rlchecks.heldout.holm.looks_divisor`.
        together: how many of them are compared in this call.
        min_questions: fewest questions that decide.
        candidate_hash: content hash of the candidate's checkpoint.
        baseline_hash: content hash of the baseline's checkpoint.
        training_reward_gain: gain of the training reward, as a fraction of the grader's scale.
        training_reward_scale: low and high end of the training reward's scale.
        training_prompts: prompts seen in training, None if none are known.
        training_prompts_share: share of all training prompts that these are, 0 to 1.
        near_copies: whether to look for training prompts that differ from a question in a few words too.
    """

    baseline: str | None = None
    candidate: str | None = None
    judges: tuple[Scorer, ...] = ()
    graders: tuple[Scorer, ...] = ()
    graders_known: bool = False
    graders_told: tuple[JudgeFacts, ...] = ()
    base_models: tuple[str, ...] = ()
    decoding: str | None = None
    margin: float = 0.0
    guard_margin: float = 0.02
    confidence: float = 0.95
    looks: int = 1
    together: int = 1
    min_questions: int = 100
    candidate_hash: str | None = None
    baseline_hash: str | None = None
    training_reward_gain: float | None = None
    training_reward_scale: tuple[float, float] | None = None
    training_prompts: Collection[str] | None = None
    training_prompts_share: float | None = None
    near_copies: bool = False

    def __post_init__(self) -> None:
        """Refuse what no rule can mean.

        Raises:
            UsageError: a margin, level or count is out of range, or a judge is named twice.
        """
        for name, margin in (("margin", self.margin), ("guard margin", self.guard_margin)):
            if not 0.0 <= margin < 1.0:
                raise UsageError(
                    f"The {name} is a fraction of the judge's range from 0 to below 1, such as 0.02; got {margin:g}."
                )
        if not 0.0 < self.confidence < 1.0:
            raise UsageError(f"The confidence level must lie between 0 and 1, such as 0.95; got {self.confidence:g}.")
        if self.looks < 1 or self.min_questions < 1 or not 1 <= self.together <= self.looks:
            raise UsageError("The number of looks, those of this call and the minimum of questions are at least 1.")
        names = [judge.name for judge in self.judges]
        doubled = next((name for name in names if names.count(name) > 1), None)
        if doubled is not None:
            raise UsageError(f"The judge {shown(doubled)} is named twice; name each judge once.")
        if self.training_reward_scale is not None:
            low, high = self.training_reward_scale
            if not (math.isfinite(low) and math.isfinite(high) and low < high):
                raise UsageError(f"The training reward's scale must be finite and ascend, got {low:g} to {high:g}.")

    @property
    def alpha(self) -> float:
        """Two-sided error probability of this look: (1 - confidence) divided for the looks."""
        return round((1.0 - self.confidence) / looks_divisor(self.looks, self.together), 12)

    @property
    def level(self) -> float:
        """Two-sided confidence level of this look: 1 - alpha."""
        return 1.0 - self.alpha


@dataclass(frozen=True)
class Comparison:
    """The answer.

    Attributes:
        baseline: name of the starting model's checkpoint.
        candidate: name of the checkpoint to be promoted.
        candidate_step: its training step, from its rows or the number that ends its name where trainers write the
            step; None if neither tells it.
        decoding: the primary decoding; None where rows do not name one.
        judge: the deciding judge, for ``verdict.json``; its ``name`` is None where none was chosen.
        graders: the training graders, for ``verdict.json``.
        document: ``comparison`` of ``verdict.json``. Differences are in the unit of the scores; positive is better.
        evidence: the evidence table's row. None: undefined.
        observed: one sentence for every evidence column, with its numbers.
        case: what it rests on.
        advice: evidence column to what to do about it, where that is more than the suite can know.
    """

    baseline: str
    candidate: str
    candidate_step: int | None
    decoding: str | None
    judge: Mapping[str, Any]
    graders: list[dict[str, Any]]
    document: Mapping[str, Any]
    evidence: Mapping[str, bool | int | float | None]
    observed: Mapping[str, str]
    case: Case = field(repr=False, compare=False)
    advice: Mapping[str, str] = field(default_factory=dict)
