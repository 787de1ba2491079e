"""What can happen in a run, drawn from the ranges that real runs show, and what is true of it.

Each scenario draws a setting and a policy's course and says which findings must come out, which may, and how large the
effect is against what its rows and noise can show. Everything that is a warning and neither must nor may come out is
a false alarm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.detection.world import ERAS, Floats, Log, Policy, Setting, log_of

LEARNED = frozenset({"learning", "no_trend", "inconclusive", "saturated", "length_growth", "ended_early"})
"""Findings that describe and never alarm; a run that is meant to be healthy may have any of them."""

RISE = 0.05
"""Smallest rise of the reward, as a share of its scale, that is taken for one; the floor of what must be found."""

SLIGHT = 0.02
"""True gain, as a share of the scale, under which saying that the run learned is wrong."""

SCORE = 4.0
"""Standard errors by which the late fifth of the rows must lie above the early fifth before a rise must be found: at
a two-sided 5 % and a power of 95 % a plain comparison of two means needs 3.6."""


@dataclass(frozen=True)
class Truth:
    """What is true of a simulated run.

    Attributes:
        must: findings that must come out where the effect can be shown.
        may: findings that may come out.
        shown: whether the effect exceeds the size that the number of rows and their noise can show.
        onset: finding to the step at which it began.
        effect: size of the effect, in the unit of the scenario.
        least: size that could be shown.
    """

    must: frozenset[str] = frozenset()
    may: frozenset[str] = frozenset()
    shown: bool = True
    onset: dict[str, int] | None = None
    effect: float = 0.0
    least: float = 0.0


@dataclass(frozen=True)
class Run:
    """A simulated run: its log, what is true of it, and what its configuration says.

    Attributes:
        scenario: name of the scenario.
        log: the logged rows.
        setting: how it was made.
        truth: what is true of it.
        planned: steps it was configured for.
        checks: validation checks: step and mean score.
    """

    scenario: str
    log: Log
    setting: Setting
    truth: Truth
    planned: int | None = None
    checks: tuple[NDArray[np.int64], Floats] | None = None


Scenario = Callable[[np.random.Generator], Run]
SCENARIOS: dict[str, Scenario] = {}
HEALTHY: list[str] = []


def scenario(*, healthy: bool = False) -> Callable[[Scenario], Scenario]:
    """Register a scenario under its function's name."""

    def register(make: Scenario) -> Scenario:
        SCENARIOS[make.__name__] = make
        if healthy:
            HEALTHY.append(make.__name__)
        return make

    return register


# ---------------------------------------------------------------- building blocks


def draw_setting(rng: np.random.Generator, *, least: int = 20, **given: Any) -> Setting:
    """Draw how a run is made: 20 to 2,000 steps, logged every 1 to 50."""
    every = int(rng.choice([1, 1, 1, 2, 5, 10, 25, 50]))
    most = max(least, 2000 // every)
    rows = int(np.exp(rng.uniform(np.log(least), np.log(min(most, 1000)))))
    low, high = [(0.0, 1.0), (0.0, 1.0), (0.0, 1.0), (-1.0, 1.0), (0.0, 10.0), (-0.5, 1.5), (0.0, 2.5)][rng.integers(7)]
    rho = rng.uniform(0, 0.8)
    drawn = Setting(
        steps=rows * every,
        every=every,
        prompts=int(rng.choice([4, 8, 16, 32])),
        group=int(rng.choice([4, 8, 16])),
        limit=int(rng.choice([256, 512, 1024, 4096])),
        low=low,
        high=high,
        difficulty=rng.uniform(0.8, 2.0),
        # Correlated so that logged rows, not steps, have the drawn autocorrelation.
        rho=rho ** (1 / every),
        wander=rng.uniform(0, 0.3),
        missing=ERAS[str(rng.choice(list(ERAS), p=[0.6, 0.1, 0.1, 0.1, 0.1]))],
    )
    return replace(drawn, **given)


def time_of(setting: Setting) -> Floats:
    """The steps as shares of the run."""
    return np.linspace(0, 1, setting.steps)


def rise(time: Floats, begin: float, end: float, middle: float, width: float) -> Floats:
    """A logistic course from ``begin`` to ``end``, the middle of the rise and its width as shares of the run."""
    shape = 1 / (1 + np.exp(-np.clip((time - middle) / (width / 4), -50, 50)))
    first, last = shape[0], shape[-1]
    return begin + (end - begin) * (shape - first) / max(last - first, 1e-9)


def logit(chance: float, setting: Setting) -> float:
    """The skill at which the mean chance over prompts of all difficulties is ``chance`` (Zeger et al. 1988)."""
    return float(np.log(chance / (1 - chance)) * np.sqrt(1 + 0.346 * setting.difficulty**2))


def calm(setting: Setting, rng: np.random.Generator, chance: float = 0.5) -> Policy:
    """A policy that stands still."""
    steps = setting.steps
    return Policy(
        skill=np.full(steps, logit(chance, setting)),
        length=np.full(steps, setting.limit * rng.uniform(0.1, 0.3)),
        kl=rng.uniform(0.0005, 0.02) * (0.2 + time_of(setting)),
        entropy=np.full(steps, rng.uniform(0.3, 1.5)),
        grad_norm=np.full(steps, np.exp(rng.uniform(np.log(0.05), np.log(2)))),
    )


def learn(setting: Setting, rng: np.random.Generator, begin: float, end: float) -> tuple[Policy, Floats]:
    """A policy that learns, with KL that grows with what it learns; and the share of it that is learned."""
    policy = calm(setting, rng)
    time = time_of(setting)
    progress = rise(time, 0.0, 1.0, rng.uniform(0.25, 0.6), rng.uniform(0.3, 1.2))
    policy.skill = logit(begin, setting) + (logit(end, setting) - logit(begin, setting)) * progress
    policy.kl = np.exp(rng.uniform(np.log(0.005), np.log(0.5))) * (0.02 + progress)
    policy.entropy = policy.entropy * (1 - rng.uniform(0, 0.5) * progress)
    return policy, progress


def scale_width(log: Log, setting: Setting) -> float:
    """Width of the range that a log without a declared range lets one infer, at most."""
    reward = log.columns["reward"]
    finite = reward[np.isfinite(reward)]
    if len(finite) and finite.min() >= 0 and finite.max() <= 1:
        return 1.0
    spread = float(np.nanmean(log.columns["reward_std"])) if "reward_std" in log.columns else 0.0
    return float(max(finite.max() + spread, 0) - min(finite.min(), 0)) if len(finite) else setting.high - setting.low


def gain_shown(log: Log, setting: Setting) -> tuple[float, float]:
    """True gain of the reward, and the gain that its rows and noise can show, both as shares of the scale."""
    width = scale_width(log, setting)
    n = max(1, round(0.2 * len(log.step)))
    gain = float(log.expected[-n:].mean() - log.expected[:n].mean()) / width
    row_rho = setting.rho**setting.every if setting.wander else 0.0
    error = log.noise / width * np.sqrt((1 + row_rho) / (1 - row_rho) * 2 / n)
    effect = 0.2 * float(np.nanmean(log.columns["reward_std"])) / width if "reward_std" in log.columns else 0.0
    return gain, max(1.3 * RISE, effect, SCORE * error)


def stall_shown(log: Log, setting: Setting) -> bool:
    """Whether the rows of the second half can show that the reward rose by less than .15 of its scale there.

    A line through ``n`` rows tells the change over them with a standard error of ``noise * sqrt(12 / n)``; the bound
    must hold at 95 %, with a power of 95 %.
    """
    rho = setting.rho**setting.every if setting.wander else 0.0
    error = log.noise / scale_width(log, setting) * np.sqrt(12 / (len(log.step) / 2) * (1 + rho) / (1 - rho))
    return bool(2 * 1.645 * error <= 0.15)


def finish(
    name: str,
    policy: Policy,
    setting: Setting,
    rng: np.random.Generator,
    *,
    must: tuple[str, ...] = (),
    may: tuple[str, ...] = (),
    by_gain: bool = False,
    onset: dict[str, float] | None = None,
    **rest: Any,
) -> Run:
    """Log the run; ``by_gain``: what must be found needs a rise of the reward that can be shown."""
    log = log_of(policy, setting, rng)
    gain, least = gain_shown(log, setting)
    described = LEARNED if gain >= SLIGHT else LEARNED - {"learning"}
    steps = {code: max(1, round(share * setting.steps)) for code, share in (onset or {}).items()}
    truth = Truth(frozenset(must), described | set(may), not by_gain or gain >= least, steps, gain, least)
    return Run(name, log, setting, truth, **rest)


# ---------------------------------------------------------------- healthy runs


@scenario(healthy=True)
def learns(rng: np.random.Generator) -> Run:
    """Reward rises; length stays; KL rises with the gain."""
    setting = draw_setting(rng)
    begin = rng.uniform(0.1, 0.55)
    policy, progress = learn(setting, rng, begin, begin + rng.uniform(0.08, 0.4))
    policy.length = policy.length * (1 + (rng.uniform(0.7, 1.15) - 1) * progress)
    return finish("learns", policy, setting, rng, must=("learning",), by_gain=True)


@scenario(healthy=True)
def learns_fast_then_holds(rng: np.random.Generator) -> Run:
    """An early fast rise and then a plateau; KL stops rising with it."""
    setting = draw_setting(rng, least=40)
    policy, _ = learn(setting, rng, rng.uniform(0.1, 0.4), rng.uniform(0.55, 0.8))
    progress = rise(time_of(setting), 0, 1, rng.uniform(0.12, 0.25), rng.uniform(0.15, 0.3))
    begin, end = policy.skill[0], policy.skill[-1]
    policy.skill = begin + (end - begin) * progress
    policy.kl = rng.uniform(0.05, 0.6) * (0.02 + progress)
    return finish("learns_fast_then_holds", policy, setting, rng, must=("learning",), by_gain=True)


@scenario(healthy=True)
def learns_while_kl_climbs(rng: np.random.Generator) -> Run:
    """KL climbs to the end under a gain that slows down and does not end."""
    setting = draw_setting(rng, least=40, missing=())
    policy, _ = learn(setting, rng, rng.uniform(0.15, 0.3), rng.uniform(0.6, 0.8))
    time = time_of(setting)
    progress = time ** rng.uniform(0.6, 0.9)
    policy.skill = policy.skill[0] + (policy.skill[-1] - policy.skill[0]) * progress
    policy.kl = rng.uniform(0.2, 1.5) * time ** rng.uniform(0.8, 1.2) + 0.002
    return finish("learns_while_kl_climbs", policy, setting, rng, must=("learning",), by_gain=True)


@scenario(healthy=True)
def learns_to_the_ceiling(rng: np.random.Generator) -> Run:
    """Reward rises to where nearly all prompts are solved: saturated, after learning."""
    setting = draw_setting(rng, least=40, missing=(), low=0.0, high=1.0, difficulty=rng.uniform(0.5, 1.0), wander=0.0)
    policy, _ = learn(setting, rng, rng.uniform(0.3, 0.6), 0.7)
    early = rise(time_of(setting), 0, 1, rng.uniform(0.2, 0.4), rng.uniform(0.2, 0.4))
    policy.skill = policy.skill[0] + (logit(rng.uniform(0.992, 0.998), setting) - policy.skill[0]) * early
    policy.kl = rng.uniform(0.01, 0.5) * (0.02 + early)
    return finish("learns_to_the_ceiling", policy, setting, rng, must=("learning", "saturated"))


@scenario(healthy=True)
def stands_still(rng: np.random.Generator) -> Run:
    """Nothing moves."""
    setting = draw_setting(rng)
    return finish("stands_still", calm(setting, rng, rng.uniform(0.2, 0.75)), setting, rng)


@scenario(healthy=True)
def wanders(rng: np.random.Generator) -> Run:
    """The reward wanders with an autocorrelation of .5 to .8 between rows."""
    setting = draw_setting(rng)
    row_rho = rng.uniform(0.5, 0.8)
    setting = replace(setting, rho=row_rho ** (1 / setting.every), wander=rng.uniform(0.2, 0.6))
    return finish("wanders", calm(setting, rng, rng.uniform(0.3, 0.7)), setting, rng)


@scenario(healthy=True)
def goes_in_cycles(rng: np.random.Generator) -> Run:
    """The reward follows the order of the data, pass after pass."""
    setting = draw_setting(rng, least=40)
    policy = calm(setting, rng, rng.uniform(0.35, 0.65))
    waves = rng.uniform(2.5, 6.0)
    policy.skill = policy.skill + rng.uniform(0.2, 0.8) * np.sin(2 * np.pi * (waves * time_of(setting) + rng.uniform()))
    return finish("goes_in_cycles", policy, setting, rng)


@scenario(healthy=True)
def has_high_kl_from_the_start(rng: np.random.Generator) -> Run:
    """KL is high at the first step and stays."""
    setting = draw_setting(rng, missing=())
    policy = calm(setting, rng, rng.uniform(0.3, 0.7))
    policy.kl = np.full(setting.steps, rng.uniform(0.5, 2.0))
    return finish("has_high_kl_from_the_start", policy, setting, rng)


@scenario(healthy=True)
def has_a_kl_spike_that_heals(rng: np.random.Generator) -> Run:
    """KL jumps for a few steps and comes back."""
    setting = draw_setting(rng, least=40, missing=())
    begin = rng.uniform(0.2, 0.5)
    policy, _ = learn(setting, rng, begin, begin + rng.uniform(0.1, 0.3))
    at = rng.integers(int(0.2 * setting.steps), int(0.9 * setting.steps))
    policy.kl[at : at + max(1, setting.steps // 50)] *= rng.uniform(10, 200)
    return finish("has_a_kl_spike_that_heals", policy, setting, rng, must=("learning",), by_gain=True)


@scenario(healthy=True)
def stops_being_cut(rng: np.random.Generator) -> Run:
    """Many answers are cut at first; the model learns to end them."""
    setting = draw_setting(rng, least=40, missing=())
    begin = rng.uniform(0.2, 0.4)
    policy, _ = learn(setting, rng, begin, begin + rng.uniform(0.15, 0.4))
    healed = rise(time_of(setting), 0, 1, rng.uniform(0.2, 0.4), 0.3)
    policy.length = setting.limit * (rng.uniform(0.7, 1.1) * (1 - healed) + rng.uniform(0.35, 0.5) * healed)
    policy.spread = 0.3
    return finish("stops_being_cut", policy, setting, rng, must=("learning",), by_gain=True)


@scenario(healthy=True)
def has_one_group_a_step(rng: np.random.Generator) -> Run:
    """One prompt a step: the share of prompts without a signal is 0 or 1."""
    setting = draw_setting(rng, least=60, prompts=1, group=8, difficulty=rng.uniform(0.3, 1.2))
    return finish("has_one_group_a_step", calm(setting, rng, rng.uniform(0.35, 0.65)), setting, rng)


@scenario(healthy=True)
def ends_with_another_token(rng: np.random.Generator) -> Run:
    """Every answer counts as cut since it ends with a token that the tokenizer does not know as an end."""
    setting = draw_setting(rng, least=30, missing=())
    begin = rng.uniform(0.2, 0.5)
    policy, _ = learn(setting, rng, begin, begin + rng.uniform(0.1, 0.35))
    policy.second_stop = True
    return finish("ends_with_another_token", policy, setting, rng, must=("learning",), by_gain=True)


@scenario(healthy=True)
def writes_shorter_and_better(rng: np.random.Generator) -> Run:
    """Answers lose padding while the reward rises."""
    setting = draw_setting(rng)
    begin = rng.uniform(0.2, 0.5)
    policy, progress = learn(setting, rng, begin, begin + rng.uniform(0.15, 0.4))
    policy.length = policy.length * (1 - rng.uniform(0.2, 0.55) * progress)
    return finish("writes_shorter_and_better", policy, setting, rng, must=("learning",), by_gain=True)


@scenario(healthy=True)
def skips_rewards(rng: np.random.Generator) -> Run:
    """The grader returns nothing for some steps: missing rewards, and TRL's 0 in place of the zero-std fraction."""
    setting = draw_setting(rng, least=40, every=1, missing=())
    setting = replace(setting, steps=min(setting.steps, 1000))
    begin = rng.uniform(0.2, 0.5)
    policy, _ = learn(setting, rng, begin, begin + rng.uniform(0.15, 0.35))
    run = finish("skips_rewards", policy, setting, rng, must=("learning",), by_gain=True)
    lost = rng.random(setting.rows) < rng.uniform(0.05, 0.2)
    run.log.columns["reward"] = np.where(lost, -np.inf, run.log.columns["reward"])  # -inf stands for null here
    run.log.columns["zero_std_fraction"] = np.where(lost, 0.0, run.log.columns["zero_std_fraction"])
    return run


# ---------------------------------------------------------------- sick runs


@scenario()
def grows_with_reward(rng: np.random.Generator) -> Run:
    """The grader pays for length."""
    setting = draw_setting(rng, least=30)
    policy, _ = learn(setting, rng, 0.3, 0.5)
    begin, gain, at = rng.uniform(0.15, 0.45), rng.uniform(0.15, 0.5), rng.uniform(0.05, 0.5)
    time = time_of(setting)
    progress = np.clip((time - at) / (1 - at), 0, 1) ** rng.uniform(0.7, 1.3)
    policy.length = setting.limit * 0.12 * (1 + rng.uniform(0.8, 3.0) * progress)
    policy.skill = logit(begin, setting) + (logit(begin + gain, setting) - logit(begin, setting)) * progress
    policy.kl = rng.uniform(0.01, 0.3) * (0.05 + progress)
    return finish(
        "grows_with_reward",
        policy,
        setting,
        rng,
        must=("length_with_reward",),
        by_gain=True,
        onset={"length_with_reward": at},
    )


@scenario()
def grows_without_reward(rng: np.random.Generator) -> Run:
    """Answers grow, the reward does not move."""
    setting = draw_setting(rng, least=30)
    policy = calm(setting, rng, rng.uniform(0.3, 0.6))
    policy.length = setting.limit * 0.12 * (1 + rng.uniform(0.8, 3.0) * time_of(setting))
    return finish("grows_without_reward", policy, setting, rng, must=("length_growth",))


@scenario()
def falls_silent(rng: np.random.Generator) -> Run:
    """Answers shrink to nearly nothing; the reward does not rise."""
    setting = draw_setting(rng, least=30)
    policy = calm(setting, rng, rng.uniform(0.2, 0.6))
    at = rng.uniform(0.2, 0.6)
    progress = rise(time_of(setting), 0, 1, at, rng.uniform(0.1, 0.4))
    policy.length = policy.length * np.exp(np.log(rng.uniform(0.03, 0.2)) * progress)
    return finish("falls_silent", policy, setting, rng, must=("length_collapse",))


@scenario()
def is_cut(rng: np.random.Generator) -> Run:
    """A third or more of the answers hit the limit, from the start or from some step."""
    setting = draw_setting(rng, least=10, missing=())
    policy = calm(setting, rng, rng.uniform(0.2, 0.6))
    policy.length = np.full(setting.steps, setting.limit * rng.uniform(0.9, 2.5))
    return finish("is_cut", policy, setting, rng, must=("answers_clipped",))


@scenario()
def starves_at_the_floor(rng: np.random.Generator) -> Run:
    """Nearly no answer is right."""
    setting = draw_setting(rng, least=10, missing=(), difficulty=1.0, wander=0.0)
    policy = calm(setting, rng, rng.uniform(0.001, 0.008))
    return finish("starves_at_the_floor", policy, setting, rng, must=("starved_floor",))


@scenario()
def starves_at_the_ceiling(rng: np.random.Generator) -> Run:
    """Nearly every answer is right from the first step."""
    setting = draw_setting(rng, least=10, missing=(), difficulty=1.0, wander=0.0, low=0.0, high=1.0)
    policy = calm(setting, rng, rng.uniform(0.992, 0.999))
    return finish("starves_at_the_ceiling", policy, setting, rng, must=("starved_ceiling",))


@scenario()
def starves_in_between(rng: np.random.Generator) -> Run:
    """Every prompt is either always or never solved."""
    setting = draw_setting(rng, least=10, missing=(), difficulty=25.0, wander=0.0, low=0.0, high=1.0, prompts=16)
    policy = calm(setting, rng)
    policy.skill = np.full(setting.steps, rng.uniform(-8, 8))
    return finish("starves_in_between", policy, setting, rng, must=("starved",))


@scenario()
def drifts(rng: np.random.Generator) -> Run:
    """KL climbs to the end; the reward is flat, or stopped rising early."""
    setting = draw_setting(rng, least=40, missing=())
    time = time_of(setting)
    early = rng.random() < 0.5
    if early:
        policy, _ = learn(setting, rng, rng.uniform(0.2, 0.4), rng.uniform(0.6, 0.8))
        progress = rise(time, 0, 1, rng.uniform(0.1, 0.2), 0.2)
        policy.skill = policy.skill[0] + (policy.skill[-1] - policy.skill[0]) * progress
    else:
        policy = calm(setting, rng, rng.uniform(0.3, 0.7))
    policy.kl = rng.uniform(0.3, 3.0) * time ** rng.uniform(1.0, 1.8) + 0.002
    run = finish("drifts", policy, setting, rng, must=("kl_without_gain",))
    return replace(run, truth=replace(run.truth, shown=stall_shown(run.log, setting)))


@scenario()
def jumps(rng: np.random.Generator) -> Run:
    """The reward jumps to a high level within a few steps."""
    setting = draw_setting(rng, least=40, wander=0.1, difficulty=1.0)
    policy, _ = learn(setting, rng, 0.2, 0.5)
    at = rng.uniform(0.2, 0.85)
    time = time_of(setting)
    begin = rng.uniform(0.05, 0.35)
    policy.skill = np.where(time < at, logit(begin, setting), logit(rng.uniform(0.88, 0.97), setting))
    policy.kl = np.where(time < at, 0.01, rng.uniform(0.03, 0.09))
    return finish(
        "jumps", policy, setting, rng, must=("sudden_reward",), onset={"sudden_reward": at}, may=("starved_ceiling",)
    )


@scenario()
def breaks_for_a_moment(rng: np.random.Generator) -> Run:
    """One row with an infinite gradient or KL; everything else is sound."""
    setting = draw_setting(rng, every=1, missing=())
    begin = rng.uniform(0.2, 0.5)
    policy, _ = learn(setting, rng, begin, begin + rng.uniform(0.1, 0.35))
    at = int(rng.integers(1, setting.steps - 2))
    metric = str(rng.choice(["grad_norm", "kl"]))
    policy.override = {metric: (slice(at, at + 1), np.inf if rng.random() < 0.5 else np.nan)}
    share = (at + 1) / setting.steps
    return finish("breaks_for_a_moment", policy, setting, rng, must=("non_finite",), onset={"non_finite": share})


@scenario()
def breaks_for_good(rng: np.random.Generator) -> Run:
    """From some step on the gradient and the KL are NaN."""
    setting = draw_setting(rng, every=1, missing=())
    policy = calm(setting, rng, rng.uniform(0.3, 0.7))
    at = int(rng.integers(int(0.2 * setting.steps), int(0.95 * setting.steps)))
    policy.override = {name: (slice(at, None), np.nan) for name in ("grad_norm", "kl")}
    share = (at + 1) / setting.steps
    return finish("breaks_for_good", policy, setting, rng, must=("non_finite",), onset={"non_finite": share})


@scenario()
def diverges(rng: np.random.Generator) -> Run:
    """The policy turns to noise: entropy explodes, the reward falls to the floor."""
    setting = draw_setting(rng, least=40, missing=(), wander=0.1, low=0.0, high=1.0)
    policy = calm(setting, rng, rng.uniform(0.35, 0.7))
    at = rng.uniform(0.3, 0.75)
    fall = rise(time_of(setting), 0, 1, at, 0.08)
    policy.skill = policy.skill + (logit(0.004, setting) - policy.skill) * fall
    policy.entropy = policy.entropy * (1 + rng.uniform(2.0, 8.0) * fall)
    policy.kl = policy.kl + rng.uniform(2, 20) * fall
    may = ("starved_floor", "kl_without_gain", "reward_falling")
    return finish("diverges", policy, setting, rng, must=("diverged",), may=may)


@scenario()
def gets_worse(rng: np.random.Generator) -> Run:
    """The reward falls."""
    setting = draw_setting(rng, least=30)
    policy = calm(setting, rng)
    begin = rng.uniform(0.5, 0.8)
    fall = rise(time_of(setting), 0, 1, rng.uniform(0.3, 0.7), rng.uniform(0.3, 1.0))
    end = begin - rng.uniform(0.15, 0.4)
    policy.skill = logit(begin, setting) + (logit(end, setting) - logit(begin, setting)) * fall
    run = finish("gets_worse", policy, setting, rng, must=("reward_falling",), by_gain=True)
    shown = -run.truth.effect >= run.truth.least
    return replace(run, truth=replace(run.truth, shown=shown, effect=-run.truth.effect))


@scenario()
def learns_the_format_only(rng: np.random.Generator) -> Run:
    """The total rises since answers become well-formed; being right stands still."""
    setting = draw_setting(rng, least=40, missing=())
    policy, _ = learn(setting, rng, 0.3, 0.5)
    chance = rng.uniform(0.15, 0.6)
    policy.skill = np.full(setting.steps, logit(chance, setting))
    progress = rise(time_of(setting), 0, 1, rng.uniform(0.2, 0.5), 0.3)
    policy.format = rng.uniform(0.05, 0.3) + (rng.uniform(0.8, 0.98) - 0.3) * progress
    policy.kl = rng.uniform(0.005, 0.3) * (0.02 + progress)
    policy.format_weight = rng.uniform(0.3, 0.6)
    return finish("learns_the_format_only", policy, setting, rng, must=("format_only",), by_gain=True)


@scenario()
def loses_its_entropy(rng: np.random.Generator) -> Run:
    """The reward rises while the policy becomes deterministic."""
    setting = draw_setting(rng, least=40, missing=())
    begin = rng.uniform(0.2, 0.45)
    policy, _ = learn(setting, rng, begin, begin + rng.uniform(0.15, 0.4))
    at = rng.uniform(0.1, 0.4)
    fall = rise(time_of(setting), 0, 1, at, rng.uniform(0.2, 0.4))
    policy.entropy = rng.uniform(0.5, 1.5) * np.exp(np.log(rng.uniform(0.005, 0.06)) * fall)
    return finish("loses_its_entropy", policy, setting, rng, must=("entropy_collapse",), may=("learning",))


# ---------------------------------------------------------------- length of the run


@scenario()
def is_short(rng: np.random.Generator) -> Run:
    """Under ten logged rows."""
    rows = int(rng.integers(2, 10))
    every = int(rng.choice([1, 5, 10]))
    setting = replace(draw_setting(rng), steps=rows * every, every=every)
    return finish("is_short", calm(setting, rng, rng.uniform(0.3, 0.6)), setting, rng, must=("too_short",))


@scenario()
def ends_early(rng: np.random.Generator) -> Run:
    """The run learns and ends before its planned steps."""
    setting = draw_setting(rng, least=30)
    begin = rng.uniform(0.2, 0.5)
    policy, _ = learn(setting, rng, begin, begin + rng.uniform(0.1, 0.35))
    planned = int(setting.steps / rng.uniform(0.2, 0.9))
    return finish("ends_early", policy, setting, rng, must=("ended_early",), planned=planned)


# ---------------------------------------------------------------- validation checks


def checked(run: Run, rng: np.random.Generator, courses: tuple[float, float, float], questions: int) -> Run:
    """Add validation checks: a rise from the first to the second chance until the given share of the run."""
    begin, end, until = courses
    count = int(rng.integers(8, 16))
    at = np.linspace(0, 1, count)
    chance = begin + (end - begin) * np.clip(at / max(until, 1e-9), 0, 1)
    width = run.setting.high - run.setting.low
    score = run.setting.low + width * rng.binomial(questions, chance) / questions
    return replace(run, checks=(np.rint(at * run.setting.steps).astype(np.int64), score))


@scenario()
def transfers(rng: np.random.Generator) -> Run:
    """Validation checks rise with the reward."""
    setting = draw_setting(rng, least=40)
    begin = rng.uniform(0.15, 0.4)
    policy, _ = learn(setting, rng, begin, begin + rng.uniform(0.25, 0.4))
    run = finish("transfers", policy, setting, rng, must=("validation_rising",), may=("earlier_checkpoint_as_good",))
    return checked(run, rng, (begin, begin + rng.uniform(0.2, 0.35), 1.0), int(rng.integers(100, 400)))


@scenario()
def does_not_transfer(rng: np.random.Generator) -> Run:
    """The reward rises, the validation checks stand still."""
    setting = draw_setting(rng, least=40)
    begin = rng.uniform(0.15, 0.4)
    policy, _ = learn(setting, rng, begin, begin + rng.uniform(0.25, 0.4))
    run = finish(
        "does_not_transfer",
        policy,
        setting,
        rng,
        must=("validation_flat",),
        may=("earlier_checkpoint_as_good",),
        by_gain=True,
    )
    level = rng.uniform(0.3, 0.6)
    return checked(run, rng, (level, level, 1.0), int(rng.integers(200, 800)))


@scenario()
def was_as_good_before(rng: np.random.Generator) -> Run:
    """Validation checks rise until half the run and then stand still."""
    setting = draw_setting(rng, least=40)
    begin = rng.uniform(0.15, 0.35)
    policy, _ = learn(setting, rng, begin, begin + rng.uniform(0.3, 0.4))
    run = finish(
        "was_as_good_before",
        policy,
        setting,
        rng,
        must=("earlier_checkpoint_as_good",),
        may=("validation_rising", "validation_flat"),
    )
    return checked(
        run, rng, (begin, begin + rng.uniform(0.25, 0.4), rng.uniform(0.3, 0.5)), int(rng.integers(200, 600))
    )


# ---------------------------------------------------------------- several at once


@scenario()
def grows_until_it_is_cut(rng: np.random.Generator) -> Run:
    """Length and reward rise together until most answers hit the limit."""
    setting = draw_setting(rng, least=40, missing=())
    policy, _ = learn(setting, rng, 0.3, 0.5)
    begin, at = rng.uniform(0.15, 0.4), rng.uniform(0.05, 0.4)
    progress = np.clip((time_of(setting) - at) / (1 - at), 0, 1)
    policy.length = setting.limit * np.exp(np.log(0.2) + (np.log(rng.uniform(1.1, 2.0)) - np.log(0.2)) * progress)
    gain = rng.uniform(0.2, 0.5)
    policy.skill = logit(begin, setting) + (logit(begin + gain, setting) - logit(begin, setting)) * progress
    return finish(
        "grows_until_it_is_cut",
        policy,
        setting,
        rng,
        must=("length_with_reward", "answers_clipped"),
        by_gain=True,
        onset={"length_with_reward": at},
    )


@scenario()
def drifts_into_silence(rng: np.random.Generator) -> Run:
    """KL climbs, answers vanish, the reward is flat."""
    setting = draw_setting(rng, least=40, missing=())
    policy = calm(setting, rng, rng.uniform(0.3, 0.6))
    time = time_of(setting)
    policy.kl = rng.uniform(0.4, 3.0) * time ** rng.uniform(1.0, 1.5) + 0.002
    policy.length = policy.length * np.exp(
        np.log(rng.uniform(0.03, 0.15)) * rise(time, 0, 1, rng.uniform(0.3, 0.6), 0.4)
    )
    must = ("kl_without_gain", "length_collapse")
    run = finish("drifts_into_silence", policy, setting, rng, must=must)
    return replace(run, truth=replace(run.truth, shown=stall_shown(run.log, setting)))


@scenario()
def breaks_in_its_last_tenth(rng: np.random.Generator) -> Run:
    """A run that learned, and whose metrics are NaN from nine tenths on."""
    setting = draw_setting(rng, least=60, every=1, missing=())
    begin = rng.uniform(0.2, 0.45)
    policy, _ = learn(setting, rng, begin, begin + rng.uniform(0.2, 0.35))
    at = rng.uniform(0.9, 0.96)
    first = int(at * setting.steps)
    policy.override = {name: (slice(first, None), np.nan) for name in ("kl", "grad_norm", "entropy")}
    share = (first + 1) / setting.steps
    return finish("breaks_in_its_last_tenth", policy, setting, rng, must=("non_finite",), onset={"non_finite": share})
