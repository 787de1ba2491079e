"""Sick runs with several things wrong at once."""

from __future__ import annotations

import numpy as np

from benchmarks.detection.runs import (
    Course,
    calm,
    draw_setting,
    learner,
    log_uniform,
    rise,
    scenario,
    skill,
    time_of,
)


@scenario()
def grows_until_it_is_cut(rng: np.random.Generator) -> Course:
    """Length and reward rise together until most answers hit the limit."""
    setting = draw_setting(rng, least=40, missing=())
    at, begin = rng.uniform(0.0, 0.4), rng.uniform(0.15, 0.4)
    progress = np.clip((time_of(setting) - at) / (1 - at), 0, 1)
    policy = learner(setting, rng, begin, begin + rng.uniform(0.2, 0.5), progress)
    policy.length = setting.limit * np.exp(np.log(0.2) + np.log(rng.uniform(1.1, 2.0) / 0.2) * progress)
    return Course(policy, setting, begins={"length_with_reward": at})


@scenario()
def drifts_into_silence(rng: np.random.Generator) -> Course:
    """KL climbs, answers vanish, the reward is flat."""
    setting = draw_setting(rng, least=40, missing=())
    policy, time = calm(setting, rng, rng.uniform(0.3, 0.6)), time_of(setting)
    policy.kl = log_uniform(rng, 0.4, 3.0) * time ** rng.uniform(1.0, 1.5) + 0.002
    policy.length = policy.length * np.exp(np.log(rng.uniform(0.03, 0.15)) * rise(time, rng.uniform(0.3, 0.6), 0.4))
    return Course(policy, setting)


@scenario()
def drifts_while_it_grows(rng: np.random.Generator) -> Course:
    """KL climbs and answers grow to the end, and the reward rose with them in the first third only."""
    setting = draw_setting(rng, least=60, missing=())
    time, stop = time_of(setting), rng.uniform(0.25, 0.35)
    policy = learner(setting, rng, rng.uniform(0.2, 0.4), rng.uniform(0.6, 0.8), np.minimum(time / stop, 1))
    policy.kl = log_uniform(rng, 0.4, 4.0) * time ** rng.uniform(1.0, 1.5) + 0.002
    policy.length = setting.limit * 0.1 * (1 + rng.uniform(1.0, 3.0) * time)
    return Course(policy, setting, begins={"kl_without_gain": stop, "length_with_reward": 0.0})


@scenario()
def starves_while_it_is_cut(rng: np.random.Generator) -> Course:
    """Most answers are cut, and none of them is right."""
    setting = draw_setting(rng, missing=(), difficulty=1.0, wander=0.0, graded=0.0)
    policy = calm(setting, rng, log_uniform(rng, 0.0005, 0.01))
    policy.length = np.full(setting.steps, setting.limit * rng.uniform(1.2, 3.0))
    return Course(policy, setting)


@scenario()
def diverges_and_breaks(rng: np.random.Generator) -> Course:
    """The reward falls to the floor, entropy explodes, and at last the gradients are NaN for a few rows."""
    setting = draw_setting(rng, least=60, every=1, missing=(), wander=0.1)
    fall = rise(time_of(setting), rng.uniform(0.3, 0.5), 0.08)
    policy = calm(setting, rng)
    policy.skill = skill(setting, rng.uniform(0.35, 0.7), 0.004, fall)
    policy.entropy = policy.entropy * (1 + rng.uniform(3.0, 8.0) * fall)
    at = int(rng.uniform(0.8, 0.9) * setting.steps)
    policy.override = {"grad_norm": (slice(at, at + 2), np.nan)}
    return Course(policy, setting, begins={"non_finite": (at + 1) / setting.steps})


@scenario()
def jumps_in_its_format(rng: np.random.Generator) -> Course:
    """The format function is found at one step and brings the whole gain, while entropy collapses."""
    setting = draw_setting(rng, least=60, missing=(), wander=0.1)
    time, at = time_of(setting), rng.uniform(0.2, 0.6)
    policy = calm(setting, rng, rng.uniform(0.1, 0.3))
    policy.other = np.where(time < at, rng.uniform(0.02, 0.1), rng.uniform(0.9, 0.99))
    policy.other_name, policy.other_weight = "format", rng.uniform(0.3, 0.5)
    policy.entropy = rng.uniform(0.5, 1.0) * np.exp(np.log(rng.uniform(0.01, 0.06)) * rise(time, 0.35, 0.2))
    return Course(policy, setting)
