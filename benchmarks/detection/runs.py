"""A simulated run, and the building blocks of scenarios: settings and courses drawn from the ranges of real runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.detection.world import ERAS, Floats, Log, Policy, Setting, log_of

SCALES = (
    (0.0, 1.0),
    (0.0, 1.0),
    (0.0, 1.0),
    (-1.0, 1.0),
    (0.0, 10.0),
    (-0.5, 1.5),
    (0.0, 2.5),
    (-20.0, 20.0),
    (-10.0, 0.0),
)
"""Ranges of rewards: mostly 0 to 1, and others that graders use."""


@dataclass(frozen=True)
class Checks:
    """Validation checks: their steps, mean scores, the scores' course, and the standard error of one."""

    step: NDArray[np.int64]
    score: Floats
    course: Floats
    error: float


@dataclass(frozen=True)
class Run:
    """A simulated run.

    Attributes:
        scenario: name of the scenario.
        healthy: whether any warning would be a false alarm.
        policy: what it did.
        setting: how it was made.
        log: the logged rows.
        planned: steps it was configured for.
        checks: validation checks.
        begins: finding to the share of the run at which what it speaks of begins.
    """

    scenario: str
    healthy: bool
    policy: Policy
    setting: Setting
    log: Log
    planned: int | None = None
    checks: Checks | None = None
    begins: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Course:
    """What a scenario makes: a policy under a setting, and what else is known of the run."""

    policy: Policy
    setting: Setting
    planned: int | None = None
    checks: Callable[[np.random.Generator], Checks] | None = None
    begins: dict[str, float] = field(default_factory=dict)


Scenario = Callable[[np.random.Generator], Course]
SCENARIOS: dict[str, Scenario] = {}
HEALTHY: set[str] = set()


def scenario(*, healthy: bool = False) -> Callable[[Scenario], Scenario]:
    """Register a scenario under its function's name."""

    def register(make: Scenario) -> Scenario:
        SCENARIOS[make.__name__] = make
        if healthy:
            HEALTHY.add(make.__name__)
        return make

    return register


def draw(name: str, seed: int, index: int) -> Run:
    """Draw a run of a scenario; the same seed gives the same run, whatever else is drawn."""
    rng = np.random.default_rng([seed, *name.encode(), index])
    made = SCENARIOS[name](rng)
    log = log_of(made.policy, made.setting, rng)
    checks = made.checks(rng) if made.checks else None
    return Run(name, name in HEALTHY, made.policy, made.setting, log, made.planned, checks, made.begins)


def draw_setting(rng: np.random.Generator, *, least: int = 12, **given: Any) -> Setting:
    """Draw how a run is made: 20 to 2,000 steps, logged every 1 to 50, at least ``least`` rows."""
    every = int(rng.choice([1, 1, 1, 2, 5, 10, 25, 50]))
    fewest = max(least, -(-20 // every))
    most = max(fewest, 2000 // every)
    rows = int(np.exp(rng.uniform(np.log(fewest), np.log(min(most, 1000)))))
    low, high = SCALES[rng.integers(len(SCALES))]
    rho = rng.uniform(0, 0.8)
    drawn = Setting(
        steps=rows * every,
        every=every,
        prompts=int(rng.choice([4, 8, 16, 32])),
        group=int(rng.choice([4, 8, 16])),
        limit=int(rng.choice([256, 512, 1024, 4096])),
        low=low,
        high=high,
        declared=bool(rng.random() < 0.2),
        difficulty=rng.uniform(0.8, 2.0),
        graded=float(rng.choice([0.0, 0.0, rng.uniform(0.05, 0.3)])),
        batch_spread=bool(rng.random() < 0.6),
        # Correlated so that logged rows, not steps, have the drawn autocorrelation.
        rho=rho ** (1 / every),
        wander=rng.uniform(0, 0.3),
        wordiness=rng.uniform(0, 0.08),
        kl_noise=log_uniform(rng, 0.05, 0.4),
        entropy_noise=log_uniform(rng, 0.02, 0.12),
        missing=ERAS[str(rng.choice(list(ERAS), p=[0.6, 0.1, 0.1, 0.1, 0.1]))],
    )
    return replace(drawn, **given)


def time_of(setting: Setting) -> Floats:
    """The steps as shares of the run."""
    return np.linspace(0, 1, setting.steps)


def rise(time: Floats, middle: float, width: float) -> Floats:
    """A logistic course from 0 to 1: the middle of the rise and its width as shares of the run."""
    shape = 1 / (1 + np.exp(-np.clip((time - middle) / (width / 4), -50, 50)))
    first, last = shape[0], shape[-1]
    return (shape - first) / max(last - first, 1e-9)


def logit(chance: float | Floats, setting: Setting) -> Any:
    """The skill at which the mean chance over prompts of all difficulties is ``chance``."""
    return np.log(chance / (1 - chance)) * np.sqrt(1 + 0.346 * (setting.difficulty**2 + setting.wander**2))


def skill(setting: Setting, begin: float, end: float, progress: Floats) -> Floats:
    """The skill of a policy whose chance goes from ``begin`` to ``end`` as ``progress`` goes from 0 to 1."""
    first, last = logit(begin, setting), logit(end, setting)
    return np.asarray(first + (last - first) * progress)


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    """Draw from a log-uniform distribution."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def calm(setting: Setting, rng: np.random.Generator, chance: float = 0.5) -> Policy:
    """A policy that stands still."""
    steps = setting.steps
    return Policy(
        skill=np.full(steps, logit(chance, setting)),
        length=np.full(steps, setting.limit * rng.uniform(0.1, 0.3)),
        kl=rng.uniform(0.0005, 0.02) * (0.2 + time_of(setting)),
        entropy=np.full(steps, rng.uniform(0.3, 1.5)),
        grad_norm=np.full(steps, log_uniform(rng, 0.05, 2.0)),
        learning_rate=np.full(steps, 1e-6),
    )


def learner(
    setting: Setting, rng: np.random.Generator, begin: float, end: float, progress: Floats | None = None
) -> Policy:
    """A policy whose chance goes from ``begin`` to ``end``, with KL that grows with what it learns."""
    policy = calm(setting, rng)
    if progress is None:
        progress = rise(time_of(setting), rng.uniform(0.25, 0.6), rng.uniform(0.3, 1.2))
    policy.skill = skill(setting, begin, end, progress)
    policy.kl = log_uniform(rng, 0.005, 0.5) * (0.02 + progress)
    policy.entropy = policy.entropy * (1 - rng.uniform(0, 0.5) * progress)
    return policy


def some_learner(setting: Setting, rng: np.random.Generator, least: float = 0.1, most: float = 0.4) -> Policy:
    """A learner from some low start with a gain between the given shares of the range."""
    begin = rng.uniform(0.15, 0.5)
    return learner(setting, rng, begin, begin + rng.uniform(least, most))


def checked(
    setting: Setting, begin: float, end: float, until: float, questions: int, count: int
) -> Callable[[np.random.Generator], Checks]:
    """Make validation checks: a rise of the chance from ``begin`` to ``end``, over by ``until`` of the run."""

    def make(rng: np.random.Generator) -> Checks:
        at = np.linspace(0, 1, count)
        chance = begin + (end - begin) * np.clip(at / max(until, 1e-9), 0, 1)
        width = setting.high - setting.low
        score = setting.low + width * rng.binomial(questions, chance) / questions
        step = np.rint(at * setting.steps).astype(np.int64)
        error = width * float(np.sqrt((chance * (1 - chance)).mean() / questions))
        return Checks(step, score, setting.low + width * chance, error)

    return make
