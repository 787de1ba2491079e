"""Healthy runs: any warning about them is a false alarm."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.detection.runs import (
    Course,
    calm,
    draw_setting,
    learner,
    log_uniform,
    rise,
    scenario,
    some_learner,
    time_of,
)


@scenario(healthy=True)
def learns(rng: np.random.Generator) -> Course:
    """Reward rises; length stays; KL rises with the gain."""
    setting = draw_setting(rng)
    policy = some_learner(setting, rng, 0.08, 0.4)
    policy.length = policy.length * (1 + (rng.uniform(0.7, 1.15) - 1) * rise(time_of(setting), 0.5, 0.8))
    return Course(policy, setting)


@scenario(healthy=True)
def learns_in_twelve_rows(rng: np.random.Generator) -> Course:
    """A short run that learns."""
    every = int(rng.choice([2, 5, 10]))
    setting = draw_setting(rng, steps=12 * every, every=every, rho=0.0)
    return Course(some_learner(setting, rng, 0.2, 0.45), setting)


@scenario(healthy=True)
def learns_fast_then_holds(rng: np.random.Generator) -> Course:
    """An early fast rise and then a plateau; KL stops rising with it."""
    setting = draw_setting(rng, least=40)
    progress = rise(time_of(setting), rng.uniform(0.12, 0.25), rng.uniform(0.15, 0.3))
    policy = learner(setting, rng, rng.uniform(0.1, 0.4), rng.uniform(0.55, 0.8), progress)
    policy.kl = rng.uniform(0.05, 0.6) * (0.02 + progress)
    return Course(policy, setting)


@scenario(healthy=True)
def learns_while_kl_climbs(rng: np.random.Generator) -> Course:
    """KL climbs to the end under a gain that slows down and does not end."""
    setting = draw_setting(rng, least=40, missing=())
    time = time_of(setting)
    policy = learner(setting, rng, rng.uniform(0.15, 0.3), rng.uniform(0.6, 0.8), time ** rng.uniform(0.6, 0.9))
    policy.kl = rng.uniform(0.2, 1.5) * time ** rng.uniform(0.8, 1.2) + 0.002
    return Course(policy, setting)


@scenario(healthy=True)
def learns_little_by_little(rng: np.random.Generator) -> Course:
    """A small gain that goes on to the end, at a constant price in KL."""
    setting = draw_setting(rng, least=40, missing=())
    begin, time = rng.uniform(0.2, 0.6), time_of(setting)
    policy = learner(setting, rng, begin, begin + rng.uniform(0.08, 0.2), time)
    policy.kl = log_uniform(rng, 0.05, 0.5) * (0.02 + time)
    return Course(policy, setting)


@scenario(healthy=True)
def learns_to_the_ceiling(rng: np.random.Generator) -> Course:
    """Reward rises to where nearly all prompts are solved: saturated, after learning."""
    setting = draw_setting(
        rng, least=40, missing=(), low=0.0, high=1.0, difficulty=rng.uniform(0.5, 1.0), wander=0.0, graded=0.0
    )
    progress = rise(time_of(setting), rng.uniform(0.2, 0.4), rng.uniform(0.2, 0.4))
    policy = learner(setting, rng, rng.uniform(0.3, 0.6), rng.uniform(0.992, 0.998), progress)
    policy.kl = rng.uniform(0.01, 0.5) * (0.02 + progress)
    return Course(policy, setting)


@scenario()
def solves_all_within_a_few_steps(rng: np.random.Generator) -> Course:
    """Easy prompts that are learned in the first few rows: saturated, after a jump that wants to be looked at."""
    setting = draw_setting(
        rng, least=40, every=1, missing=(), low=0.0, high=1.0, difficulty=rng.uniform(0.5, 1.0), wander=0.0, graded=0.0
    )
    progress = np.clip(np.arange(setting.steps) / rng.uniform(4, 8), 0, 1)
    return Course(learner(setting, rng, rng.uniform(0.3, 0.6), rng.uniform(0.992, 0.998), progress), setting)


@scenario(healthy=True)
def stands_still(rng: np.random.Generator) -> Course:
    """Nothing moves."""
    setting = draw_setting(rng)
    return Course(calm(setting, rng, rng.uniform(0.2, 0.75)), setting)


@scenario(healthy=True)
def wanders(rng: np.random.Generator) -> Course:
    """Reward and length wander with an autocorrelation of .5 to .8 between rows."""
    setting = draw_setting(rng)
    rho = rng.uniform(0.5, 0.8) ** (1 / setting.every)
    setting = replace(setting, rho=rho, wander=rng.uniform(0.2, 0.6), wordiness=rng.uniform(0.02, 0.15))
    return Course(calm(setting, rng, rng.uniform(0.3, 0.7)), setting)


@scenario(healthy=True)
def walks_at_random(rng: np.random.Generator) -> Course:
    """The reward is a random walk within the scale, and so is the length, a little."""
    setting = draw_setting(rng, least=30)
    policy = calm(setting, rng, rng.uniform(0.3, 0.7))
    walk = rng.normal(0, 1, (2, setting.steps)).cumsum(axis=1) / np.sqrt(setting.steps)
    policy.skill = policy.skill + rng.uniform(0.1, 0.8) * walk[0]
    policy.length = policy.length * np.exp(rng.uniform(0.02, 0.12) * walk[1])
    return Course(policy, setting)


@scenario(healthy=True)
def goes_in_cycles(rng: np.random.Generator) -> Course:
    """The reward follows the order of the data, pass after pass."""
    setting = draw_setting(rng, least=40)
    policy = calm(setting, rng, rng.uniform(0.35, 0.65))
    wave = np.sin(2 * np.pi * (rng.uniform(2.5, 6.0) * time_of(setting) + rng.uniform()))
    policy.skill = policy.skill + rng.uniform(0.2, 0.8) * wave
    policy.length = policy.length * np.exp(rng.uniform(0.0, 0.15) * wave)
    return Course(policy, setting)


@scenario(healthy=True)
def writes_shorter_and_better(rng: np.random.Generator) -> Course:
    """Answers lose padding while the reward rises."""
    setting = draw_setting(rng)
    progress = rise(time_of(setting), rng.uniform(0.25, 0.6), rng.uniform(0.3, 1.2))
    begin = rng.uniform(0.2, 0.5)
    policy = learner(setting, rng, begin, begin + rng.uniform(0.15, 0.4), progress)
    policy.length = policy.length * (1 - rng.uniform(0.2, 0.55) * progress)
    return Course(policy, setting)


@scenario(healthy=True)
def stops_being_cut(rng: np.random.Generator) -> Course:
    """Many answers are cut at first; the model learns to end them."""
    setting = draw_setting(rng, least=40, missing=())
    policy = some_learner(setting, rng, 0.15, 0.4)
    healed = rise(time_of(setting), rng.uniform(0.2, 0.4), 0.3)
    policy.length = setting.limit * (rng.uniform(0.7, 1.1) * (1 - healed) + rng.uniform(0.35, 0.5) * healed)
    policy.spread = 0.3
    return Course(policy, setting)


@scenario(healthy=True)
def explores_less(rng: np.random.Generator) -> Course:
    """Entropy falls with learning to a fifth or more of its start, as it does in sound runs."""
    setting = draw_setting(rng, least=40, missing=())
    progress = rise(time_of(setting), rng.uniform(0.25, 0.6), rng.uniform(0.3, 1.2))
    policy = learner(setting, rng, rng.uniform(0.2, 0.4), rng.uniform(0.5, 0.85), progress)
    policy.entropy = rng.uniform(0.3, 1.5) * (1 - rng.uniform(0.5, 0.8) * progress)
    return Course(policy, setting)


@scenario(healthy=True)
def is_hard_and_improves(rng: np.random.Generator) -> Course:
    """Few prompts have a signal at first; it improves from a floor of a few per cent."""
    setting = draw_setting(rng, least=40, missing=(), wander=0.1)
    return Course(learner(setting, rng, rng.uniform(0.03, 0.08), rng.uniform(0.3, 0.5)), setting)


@scenario(healthy=True)
def learns_both_of_two(rng: np.random.Generator) -> Course:
    """Two reward functions, format and correctness, and both rise."""
    setting = draw_setting(rng, least=40, missing=())
    progress = rise(time_of(setting), rng.uniform(0.3, 0.6), rng.uniform(0.4, 1.0))
    begin = rng.uniform(0.2, 0.4)
    policy = learner(setting, rng, begin, begin + rng.uniform(0.15, 0.4), progress)
    policy.other = rng.uniform(0.05, 0.4) + rng.uniform(0.4, 0.55) * rise(time_of(setting), 0.2, 0.3)
    policy.other_weight = rng.uniform(0.1, 0.5)
    return Course(policy, setting)
