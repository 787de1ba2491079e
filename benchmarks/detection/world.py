"""Simulated training runs with known truth: how grader, sampler and logger turn a policy's course into a log.

A scenario says what the policy does at each step (how likely it is to be right, how long it writes, how far it has
moved); this module draws answers from it as a trainer would and logs what a trainer logs. Nothing here knows the
rules that are being measured.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ERAS = {
    "current": (),
    "0.18": ("entropy",),
    "0.17": ("entropy", "zero_std_fraction"),
    "0.14": ("entropy", "zero_std_fraction", "clipped_ratio", "min_length", "max_length", "terminated_length"),
    "no_kl": ("kl",),
}
"""What a trainer cannot log: the key generations of TRL, and a run without a reference model."""


@dataclass(frozen=True)
class Setting:
    """How a run is made and logged.

    Attributes:
        steps: optimiser steps.
        every: steps between logged rows, each the mean over its interval.
        prompts: prompts of a step.
        group: answers to a prompt.
        limit: length limit in tokens.
        low: reward of a wrong answer.
        high: reward of a right answer.
        difficulty: spread of the prompts' difficulty in logits; what makes zero-std groups before any training.
        rho: lag-1 autocorrelation, per step, of the batch's luck.
        wander: its standard deviation in logits.
        missing: metrics that are not logged.
    """

    steps: int
    every: int
    prompts: int
    group: int
    limit: int
    low: float = 0.0
    high: float = 1.0
    difficulty: float = 1.5
    rho: float = 0.0
    wander: float = 0.0
    missing: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Logged rows."""
        return self.steps // self.every


@dataclass
class Policy:
    """What the policy does at each step; arrays of shape ``(steps,)``.

    Attributes:
        skill: logit of the chance of a right answer to a prompt of middle difficulty.
        length: median answer length in tokens before the limit.
        kl: divergence from the starting model in nats per token.
        entropy: nats per token.
        grad_norm: gradient norm.
        spread: standard deviation of the logarithm of the length.
        format: chance of a well-formed answer, for graders with a format function of weight ``format_weight``.
        format_weight: share of the reward's range that the format function pays.
        second_stop: whether answers end with a token that the tokenizer does not know as an end.
    """

    skill: Floats
    length: Floats
    kl: Floats
    entropy: Floats
    grad_norm: Floats
    spread: float = 0.4
    format: Floats | None = None
    format_weight: float = 0.0
    second_stop: bool = False
    override: dict[str, tuple[slice, float]] = field(default_factory=dict)


@dataclass
class Log:
    """A logged run.

    Attributes:
        step: training step of each row.
        columns: metric (and ``reward/<function>``) to values, shape ``(rows,)``.
        noise: standard deviation of a row's reward about its expectation, in units of the reward.
        expected: expectation of each row's reward.
    """

    step: NDArray[np.int64]
    columns: dict[str, Floats]
    noise: float
    expected: Floats


def ar1(size: int, rho: float, scale: float, rng: np.random.Generator) -> Floats:
    """Draw a stationary AR(1) series of the given marginal standard deviation."""
    shocks = rng.normal(0.0, 1.0, size)
    if not scale:
        return np.zeros(size)
    if rho == 0:
        return scale * shocks
    series = np.empty(size)
    series[0] = shocks[0]
    factor = np.sqrt(1 - rho**2)
    for at in range(1, size):
        series[at] = rho * series[at - 1] + factor * shocks[at]
    return scale * series


def log_of(policy: Policy, setting: Setting, rng: np.random.Generator) -> Log:
    """Draw a run's answers and log them."""
    steps, prompts, group = setting.steps, setting.prompts, setting.group
    luck = ar1(steps, setting.rho, setting.wander, rng)
    difficulty = rng.normal(0.0, setting.difficulty, (steps, prompts))
    chance = 1 / (1 + np.exp(-np.clip(policy.skill[:, None] + luck[:, None] - difficulty, -30, 30)))
    right = rng.binomial(group, chance) / group
    width = setting.high - setting.low
    share = policy.format_weight
    reward = setting.low + width * (1 - share) * right.mean(axis=1)
    within = np.sqrt(right * (1 - right) * group / max(group - 1, 1))
    same = (right == 0) | (right == 1)
    columns: dict[str, Floats] = {}
    if policy.format is not None:
        formed = rng.binomial(group, np.broadcast_to(policy.format[:, None], (steps, prompts))) / group
        reward = reward + width * share * formed.mean(axis=1)
        same &= (formed == 0) | (formed == 1)
        within = np.sqrt(((1 - share) * within) ** 2 + share**2 * formed * (1 - formed) * group / max(group - 1, 1))
        columns["reward/correct"] = right.mean(axis=1)
        columns["reward/format"] = formed.mean(axis=1)
    columns |= _lengths(policy, setting, rng)
    columns |= {
        "reward": reward,
        "reward_std": width * within.mean(axis=1),
        "zero_std_fraction": same.mean(axis=1),
        "kl": policy.kl * np.exp(rng.normal(0, 0.1, steps)),
        "entropy": policy.entropy * np.exp(rng.normal(0, 0.05, steps)),
        "grad_norm": policy.grad_norm * np.exp(rng.normal(0, 0.3, steps)),
        "learning_rate": np.full(steps, 1e-6),
    }
    for name, (where, value) in policy.override.items():
        columns[name][where] = value
    rows, every = setting.rows, setting.every
    logged = {
        name: values[: rows * every].reshape(rows, every).mean(axis=1)
        for name, values in columns.items()
        if name not in setting.missing
    }
    mean = 1 / (1 + np.exp(-np.clip(policy.skill / np.sqrt(1 + 0.346 * setting.difficulty**2), -30, 30)))
    expected = setting.low + width * (1 - share) * mean
    if policy.format is not None:
        expected = expected + width * share * policy.format
    expected = expected[: rows * every].reshape(rows, every).mean(axis=1)
    step = np.arange(1, rows + 1) * every
    noise = logged["reward"] - expected
    return Log(step, logged, float(np.nanstd(noise[np.isfinite(noise)])) if rows > 1 else 0.0, expected)


def _lengths(policy: Policy, setting: Setting, rng: np.random.Generator) -> dict[str, Floats]:
    steps, answers = setting.steps, setting.prompts * setting.group
    # Some hundred answers tell the mean as well as thousands do.
    drawn = min(answers, 128)
    free = policy.length[:, None] * np.exp(rng.normal(0.0, policy.spread, (steps, drawn)))
    tokens = np.clip(np.rint(free), 1, setting.limit)
    cut = free >= setting.limit
    ended = np.where(cut, np.nan, tokens)
    clipped = cut.mean(axis=1)
    if policy.second_stop:
        clipped, ended = np.ones(steps), np.full_like(ended, np.nan)
    alive = np.isfinite(ended)
    total = np.where(alive, ended, 0.0).sum(axis=1)
    return {
        "mean_length": tokens.mean(axis=1),
        "min_length": tokens.min(axis=1),
        "max_length": tokens.max(axis=1),
        "clipped_ratio": clipped,
        # TRL logs 0 where no answer ended by itself.
        "terminated_length": total / np.maximum(alive.sum(axis=1), 1),
    }
