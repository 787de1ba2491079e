"""Runs whose grader gives more than right and wrong, or pays by other means."""

from __future__ import annotations

import numpy as np

from benchmarks.detection.runs import Course, calm, draw_setting, rise, scenario, some_learner, time_of


@scenario(healthy=True)
def learns_graded_scores(rng: np.random.Generator) -> Course:
    """Continuous scores: no group ever has exactly the same."""
    setting = draw_setting(rng, graded=rng.uniform(0.1, 0.35))
    return Course(some_learner(setting, rng), setting)


@scenario(healthy=True)
def stands_still_on_graded_scores(rng: np.random.Generator) -> Course:
    """Continuous scores that do not move, with little spread."""
    setting = draw_setting(rng, graded=rng.uniform(0.01, 0.1), difficulty=rng.uniform(0.3, 1.0))
    return Course(calm(setting, rng, rng.uniform(0.3, 0.9)), setting)


@scenario()
def is_flat_in_one_batch_after_another(rng: np.random.Generator) -> Course:
    """An old log without the zero-std fraction, of a grader that gives every answer the same score."""
    missing = ("entropy", "zero_std_fraction", "clipped_ratio", "min_length", "max_length", "terminated_length")
    setting = draw_setting(rng, missing=missing, difficulty=0.3, wander=0.0, graded=0.0, low=0.0, high=1.0)
    policy = calm(setting, rng, 0.5)
    policy.skill = np.full(setting.steps, -30.0 if rng.random() < 0.5 else 30.0)
    return Course(policy, setting)


@scenario()
def pays_for_length_by_a_function(rng: np.random.Generator) -> Course:
    """One of two reward functions pays for long answers, and brings the whole gain."""
    setting = draw_setting(rng, least=40, missing=())
    policy = calm(setting, rng, rng.uniform(0.2, 0.5))
    at = rng.uniform(0.0, 0.4)
    progress = np.clip((time_of(setting) - at) / (1 - at), 0, 1)
    policy.other = rng.uniform(0.05, 0.2) + rng.uniform(0.5, 0.75) * progress
    policy.other_name, policy.other_weight = "thoroughness", rng.uniform(0.3, 0.6)
    policy.length = setting.limit * 0.12 * (1 + rng.uniform(0.8, 3.0) * progress)
    policy.kl = rng.uniform(0.01, 0.3) * (0.05 + rise(time_of(setting), 0.5, 1.0))
    return Course(policy, setting, begins={"length_with_reward": at})
