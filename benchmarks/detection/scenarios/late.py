"""Runs that break, or lose what they gained, late; and healthy ones whose reward drops, since their prompts change."""

from __future__ import annotations

import numpy as np

from benchmarks.detection.runs import (
    Course,
    calm,
    draw_setting,
    learner,
    rise,
    scenario,
    skill,
    some_learner,
    time_of,
)


@scenario()
def collapses_at_the_end(rng: np.random.Generator) -> Course:
    """A sound run whose reward falls to the floor in its last seventh."""
    setting = draw_setting(rng, least=60)
    time, at, level = time_of(setting), rng.uniform(0.85, 0.91), rng.uniform(0.5, 0.75)
    policy = learner(setting, rng, rng.uniform(0.3, 0.45), level, rise(time, rng.uniform(0.2, 0.5), 0.5))
    fallen = np.clip((time - at) / 0.02, 0, 1)
    policy.skill = policy.skill + (skill(setting, 0.01, 0.01, time) - policy.skill) * fallen
    return Course(policy, setting, begins={"reward_falling": at})


@scenario()
def falls_silent_at_the_end(rng: np.random.Generator) -> Course:
    """A sound run whose answers vanish in its last seventh."""
    setting = draw_setting(rng, least=60)
    time, at = time_of(setting), rng.uniform(0.85, 0.91)
    policy = some_learner(setting, rng)
    policy.length = policy.length * np.exp(np.log(rng.uniform(0.02, 0.08)) * np.clip((time - at) / 0.02, 0, 1))
    return Course(policy, setting, begins={"length_collapse": at})


@scenario()
def loses_what_it_gained(rng: np.random.Generator) -> Course:
    """The reward rises until half the run, and then falls back."""
    setting = draw_setting(rng, least=60)
    time, begin, top = time_of(setting), rng.uniform(0.2, 0.4), rng.uniform(0.65, 0.85)
    policy = calm(setting, rng)
    progress = np.where(time < 0.5, time / 0.5, 1 - (time - 0.5) / 0.5 * rng.uniform(0.5, 1.1))
    policy.skill = skill(setting, begin, top, progress)
    return Course(policy, setting)


@scenario(healthy=True)
def meets_harder_prompts(rng: np.random.Generator) -> Course:
    """A curriculum of two stages: the reward drops at once where the harder prompts begin, and rises again."""
    setting = draw_setting(rng, least=60)
    time, change = time_of(setting), rng.uniform(0.3, 0.6)
    low, top = rng.uniform(0.3, 0.4), rng.uniform(0.6, 0.75)
    chance = np.where(time < change, low + (top - low) * time / change, low + 0.7 * (top - low) * (time - change))
    policy = learner(setting, rng, low, top, time)
    policy.skill = skill(setting, 0.01, 0.99, (np.log(chance / (1 - chance)) / np.log(99) + 1) / 2)
    return Course(policy, setting)


@scenario(healthy=True)
def climbs_one_stage_after_another(rng: np.random.Generator) -> Course:
    """A curriculum of several stages: each begins at the same low reward and ends at the same high one."""
    setting = draw_setting(rng, least=60)
    time, stages = time_of(setting), int(rng.integers(3, 6))
    low = rng.uniform(0.3, 0.4)
    policy = learner(setting, rng, low, low + rng.uniform(0.15, 0.3), time)
    policy.skill = skill(setting, low, low + rng.uniform(0.15, 0.3), (time * stages) % 1)
    return Course(policy, setting)
