"""The rules, in the order in which they are asked: a rule sees the codes of those before it.

To add a finding, write one module with ``detect(context) -> list[Finding]`` and name it here.
"""

from __future__ import annotations

from collections.abc import Callable

from rlchecks.diagnosis import (
    answers_clipped,
    diverged,
    earlier_checkpoint,
    ended_early,
    entropy_collapse,
    format_only,
    inconclusive,
    kl_without_gain,
    learning,
    length_collapse,
    length_growth,
    length_with_reward,
    no_trend,
    non_finite,
    reward_falling,
    rewards_missing,
    saturated,
    starved,
    sudden_reward,
    too_short,
    validation_flat,
    validation_rising,
)
from rlchecks.diagnosis.context import Context
from rlchecks.diagnosis.finding import Finding

Rule = Callable[[Context], list[Finding]]

_SELF_CONTAINED: tuple[Rule, ...] = (
    non_finite.detect,
    rewards_missing.detect,
    diverged.detect,
    starved.detect,
    length_collapse.detect,
    length_with_reward.detect,
    answers_clipped.detect,
    kl_without_gain.detect,
    sudden_reward.detect,
    format_only.detect,
    entropy_collapse.detect,
    reward_falling.detect,
    length_growth.detect,
    saturated.detect,
)
_VALIDATION: tuple[Rule, ...] = (validation_flat.detect, validation_rising.detect, earlier_checkpoint.detect)
_LAST: tuple[Rule, ...] = (
    learning.detect,
    no_trend.detect,
    too_short.detect,
    ended_early.detect,
    inconclusive.detect,
)

_REWARD_ONLY: tuple[Rule, ...] = (
    non_finite.detect,
    rewards_missing.detect,
    starved.detect_constant,
    sudden_reward.detect,
    reward_falling.detect,
)
"""A hosted provider shows rewards and validation checks; what else its log may hold is not comparable."""


def rules(profile: str) -> tuple[Rule, ...]:
    """The rules of a profile, in order."""
    first = _REWARD_ONLY if profile == "hosted" else _SELF_CONTAINED
    return first + _VALIDATION + _LAST


CODES: tuple[str, ...] = (
    "reward_hacking",
    "non_finite",
    "rewards_missing",
    "diverged",
    "starved_floor",
    "starved_ceiling",
    "starved",
    "length_collapse",
    "length_with_reward",
    "answers_clipped",
    "kl_without_gain",
    "sudden_reward",
    "format_only",
    "validation_flat",
    "reward_falling",
    "length_growth",
    "entropy_collapse",
    "saturated",
    "validation_rising",
    "earlier_checkpoint_as_good",
    "learning",
    "no_trend",
    "too_short",
    "ended_early",
    "inconclusive",
)
"""Every finding code."""
