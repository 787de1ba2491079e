"""Simulated training runs with known truth: how grader, sampler and logger turn a policy's course into a log.

A scenario says what the policy does at each step (how likely it is to be right, how long it writes, how far it has
moved); this module draws answers from it as a trainer would and logs what a trainer logs. Nothing here knows the
rules that are being measured.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter
from scipy.special import expit, ndtr

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

ERAS = {
    "current": (),
    "0.18": ("entropy",),
    "0.17": ("entropy", "zero_std_fraction"),
    "0.14": ("entropy", "zero_std_fraction", "clipped_ratio", "min_length", "max_length", "terminated_length"),
    "no_kl": ("kl",),
}
"""What a trainer cannot log: the key generations of TRL, and a run without a reference model."""

ANSWERS_DRAWN = 128
"""Lengths drawn a step at most: some hundred answers tell the mean as well as thousands do."""


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
        declared: whether the range from ``low`` to ``high`` is declared.
        difficulty: spread of the prompts' difficulty in logits; what makes zero-std groups before any training.
        graded: std of the score of one answer, on the range, for graders that give more than right or wrong; 0: none.
        batch_spread: whether the logged spread is that of the whole batch, and not the mean of the groups'.
        rho: lag-1 autocorrelation, per step, of the batch's luck.
        wander: its standard deviation in logits.
        wordiness: standard deviation of the logarithm of the batch's length, with the same autocorrelation.
        kl_noise: spread of the logarithm of the KL that is measured in a batch, with heavy tails.
        entropy_noise: standard deviation of the logarithm of the entropy, with the same autocorrelation.
        missing: metrics that are not logged.
    """

    steps: int
    every: int
    prompts: int
    group: int
    limit: int
    low: float = 0.0
    high: float = 1.0
    declared: bool = False
    difficulty: float = 1.5
    graded: float = 0.0
    batch_spread: bool = False
    rho: float = 0.0
    wander: float = 0.0
    wordiness: float = 0.0
    kl_noise: float = 0.1
    entropy_noise: float = 0.05
    missing: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Logged rows."""
        return self.steps // self.every

    @property
    def row_rho(self) -> float:
        """Lag-1 autocorrelation of neighbouring rows' luck."""
        return float(self.rho**self.every)


@dataclass
class Policy:
    """What the policy does at each step; arrays of shape ``(steps,)``.

    Attributes:
        skill: logit of the chance of a right answer to a prompt of middle difficulty.
        length: median answer length in tokens before the limit.
        kl: divergence from the starting model in nats per token.
        entropy: nats per token.
        grad_norm: gradient norm.
        learning_rate: learning rate.
        spread: standard deviation of the logarithm of the length.
        other: chance of what a second reward function pays for, of the weight ``other_weight``.
        other_name: name of that function.
        other_weight: share of the reward's range that it pays.
        second_stop: whether answers end with a token that the tokenizer does not know as an end.
        override: metric to the steps and the value that is logged there instead.
        logged_each: metric to the number of rows between those that have it; the others hold null.
        lost: rows whose reward the grader did not return; None: none.
    """

    skill: Floats
    length: Floats
    kl: Floats
    entropy: Floats
    grad_norm: Floats
    learning_rate: Floats
    spread: float = 0.4
    other: Floats | None = None
    other_name: str = "format"
    other_weight: float = 0.0
    second_stop: bool = False
    override: dict[str, tuple[slice, float]] = field(default_factory=dict)
    logged_each: dict[str, int] = field(default_factory=dict)
    lost: Flags | None = None


@dataclass
class Log:
    """A logged run.

    Attributes:
        step: training step of each row.
        columns: metric (and ``reward/<function>``) to values, shape ``(rows,)``.
        null: metric to the rows that hold nothing, shape ``(rows,)``.
        course: what the columns would be without noise: the policy's own course, by the same names.
        noise: metric to the standard deviation of a row about its course.
    """

    step: NDArray[np.int64]
    columns: dict[str, Floats]
    null: dict[str, Flags]
    course: dict[str, Floats]
    noise: dict[str, float]


def ar1(size: int, rho: float, scale: float, rng: np.random.Generator) -> Floats:
    """Draw a stationary AR(1) series of the given marginal standard deviation."""
    shocks = rng.normal(0.0, 1.0, size)
    if not scale or not size:
        return np.zeros(size)
    shocks[1:] *= np.sqrt(1 - rho**2)
    return scale * np.asarray(lfilter([1.0], [1.0, -rho], shocks))


def log_of(policy: Policy, setting: Setting, rng: np.random.Generator) -> Log:
    """Draw a run's answers and log them."""
    steps = setting.steps
    rewards, course = _rewards(policy, setting, rng)
    lengths, length_course = _lengths(policy, setting, rng)
    columns = rewards | lengths
    course |= length_course
    errors = {
        "kl": setting.kl_noise * np.clip(rng.standard_t(4, steps), -5, 5),
        "entropy": ar1(steps, setting.rho, setting.entropy_noise, rng),
        "grad_norm": rng.normal(0, 0.3, steps),
    }
    for name, error in errors.items():
        course[name] = getattr(policy, name)
        columns[name] = course[name] * np.exp(error)
    columns["learning_rate"] = policy.learning_rate
    for name, (where, value) in policy.override.items():
        columns[name][where] = value
    logged = {name: _rows(values, setting) for name, values in columns.items() if name not in setting.missing}
    course = {name: _rows(values, setting) for name, values in course.items()}
    row = np.arange(setting.rows)
    null = {name: row % each != 0 for name, each in policy.logged_each.items() if name in logged}
    if policy.lost is not None:
        null["reward"] = policy.lost[: setting.rows]
        if "zero_std_fraction" in logged:  # TRL logs 0 in its place (grpo_trainer.py, NaN == 0 is False)
            logged["zero_std_fraction"] = np.where(null["reward"], 0.0, logged["zero_std_fraction"])
    noise = {name: _noise(logged[name] - course[name]) for name in logged.keys() & course.keys()}
    return Log((row + 1) * setting.every, logged, null, course, noise)


def _rows(values: Floats, setting: Setting) -> Floats:
    rows, every = setting.rows, setting.every
    return np.asarray(values[: rows * every].reshape(rows, every).mean(axis=1))


def _noise(residual: Floats) -> float:
    finite = residual[np.isfinite(residual)]
    return float(np.std(finite)) if len(finite) > 1 else 0.0


def _rewards(policy: Policy, setting: Setting, rng: np.random.Generator) -> tuple[dict[str, Floats], dict[str, Floats]]:
    steps, prompts, group = setting.steps, setting.prompts, setting.group
    luck = ar1(steps, setting.rho, setting.wander, rng)
    difficulty = rng.normal(0.0, setting.difficulty, (steps, prompts))
    chance = expit(policy.skill[:, None] + luck[:, None] - difficulty)
    # The mean over difficulties that are normal, to a thousandth (Zeger, Liang and Albert 1988).
    mean = expit(policy.skill / np.sqrt(1 + 0.346 * (setting.difficulty**2 + setting.wander**2)))
    if setting.graded:
        share = np.clip(chance + rng.normal(0, setting.graded / np.sqrt(group), chance.shape), 0, 1)
        within, same = np.full_like(share, setting.graded**2), np.zeros_like(share)
    else:
        share = rng.binomial(group, chance) / group
        within = share * (1 - share) * group / max(group - 1, 1)
        same = ((share == 0) | (share == 1)).astype(float)
    alike = np.zeros(steps) if setting.graded else (chance**group + (1 - chance) ** group).mean(axis=1)
    width, pays = setting.high - setting.low, policy.other_weight
    total = (1 - pays) * share
    columns: dict[str, Floats] = {}
    course: dict[str, Floats] = {}
    if policy.other is not None:
        formed = rng.binomial(group, np.broadcast_to(policy.other[:, None], (steps, prompts))) / group
        total = total + pays * formed
        within = (1 - pays) ** 2 * within + pays**2 * formed * (1 - formed) * group / max(group - 1, 1)
        same = same * ((formed == 0) | (formed == 1))
        alike = alike * (policy.other**group + (1 - policy.other) ** group)
        columns |= {"reward/correct": share.mean(axis=1), f"reward/{policy.other_name}": formed.mean(axis=1)}
        course |= {"reward/correct": mean, f"reward/{policy.other_name}": policy.other}
        mean = (1 - pays) * mean + pays * policy.other
    between = total.var(axis=1) if setting.batch_spread else 0.0
    spread = np.sqrt(within.mean(axis=1) + between) if setting.batch_spread else np.sqrt(within).mean(axis=1)
    columns |= {
        "reward": setting.low + width * total.mean(axis=1),
        "reward_std": width * spread,
        "zero_std_fraction": same.mean(axis=1),
    }
    course |= {"reward": setting.low + width * mean, "zero_std_fraction": alike}
    return columns, course


def _lengths(policy: Policy, setting: Setting, rng: np.random.Generator) -> tuple[dict[str, Floats], dict[str, Floats]]:
    steps, sd, limit = setting.steps, policy.spread, setting.limit
    wordy = ar1(steps, setting.rho, setting.wordiness, rng)
    median = policy.length * np.exp(wordy)
    drawn = min(setting.prompts * setting.group, ANSWERS_DRAWN)
    free = median[:, None] * np.exp(rng.normal(0.0, sd, (steps, drawn)))
    tokens = np.clip(np.rint(free), 1, limit)
    alive = (free < limit) & (not policy.second_stop)
    total = np.where(alive, tokens, 0.0).sum(axis=1)
    columns = {
        "mean_length": tokens.mean(axis=1),
        "min_length": tokens.min(axis=1),
        "max_length": tokens.max(axis=1),
        "clipped_ratio": 1 - alive.mean(axis=1),
        # TRL logs 0 where no answer ended by itself.
        "terminated_length": total / np.maximum(alive.sum(axis=1), 1),
    }
    return columns, _length_course(policy.length, np.hypot(sd, setting.wordiness), limit)


def _length_course(median: Floats, sd: float, limit: int) -> dict[str, Floats]:
    """Mean of a lognormal length under a limit, at least one token, and the share beyond the limit."""
    room = np.log(limit / median) / sd
    mean = median * np.exp(sd**2 / 2) * ndtr(room - sd) + limit * ndtr(-room)
    return {"mean_length": np.maximum(mean, 1.0), "clipped_ratio": ndtr(-room)}
