"""Runs with validation checks on questions that are never trained on."""

from __future__ import annotations

import numpy as np

from benchmarks.detection.runs import Course, checked, draw_setting, learner, rise, scenario, time_of


@scenario(healthy=True)
def transfers(rng: np.random.Generator) -> Course:
    """Validation checks rise with the reward."""
    setting = draw_setting(rng, least=40)
    begin = rng.uniform(0.15, 0.4)
    policy = learner(setting, rng, begin, begin + rng.uniform(0.25, 0.4))
    checks = checked(
        setting, begin, begin + rng.uniform(0.15, 0.35), 1.0, int(rng.integers(50, 400)), int(rng.integers(8, 16))
    )
    return Course(policy, setting, checks=checks)


@scenario(healthy=True)
def transfers_with_few_questions(rng: np.random.Generator) -> Course:
    """Validation checks of a dozen questions: each jumps by the luck of a few answers."""
    setting = draw_setting(rng, least=40)
    begin, gain = rng.uniform(0.2, 0.4), rng.uniform(0.15, 0.35)
    policy = learner(setting, rng, begin, begin + gain)
    checks = checked(setting, begin, begin + gain, 1.0, int(rng.integers(8, 20)), int(rng.integers(5, 12)))
    return Course(policy, setting, checks=checks)


@scenario(healthy=True)
def is_at_the_top_of_its_checks(rng: np.random.Generator) -> Course:
    """The validation questions are all solved from the start: they cannot show improvement."""
    setting = draw_setting(rng, least=40)
    begin = rng.uniform(0.15, 0.4)
    policy = learner(setting, rng, begin, begin + rng.uniform(0.25, 0.4))
    return Course(policy, setting, checks=checked(setting, 0.995, 0.999, 1.0, 200, int(rng.integers(6, 16))))


@scenario()
def does_not_transfer(rng: np.random.Generator) -> Course:
    """The reward rises, the validation checks stand still."""
    setting = draw_setting(rng, least=40)
    begin, level = rng.uniform(0.15, 0.4), rng.uniform(0.3, 0.6)
    policy = learner(setting, rng, begin, begin + rng.uniform(0.25, 0.4))
    checks = checked(setting, level, level, 1.0, int(rng.integers(100, 800)), int(rng.integers(8, 16)))
    return Course(policy, setting, checks=checks)


@scenario()
def was_as_good_before(rng: np.random.Generator) -> Course:
    """Validation checks rise until half the run at most, and then stand still."""
    setting = draw_setting(rng, least=40)
    begin, until = rng.uniform(0.15, 0.35), rng.uniform(0.3, 0.5)
    policy = learner(setting, rng, begin, begin + rng.uniform(0.3, 0.4), rise(time_of(setting), until / 2, until))
    end = begin + rng.uniform(0.25, 0.4)
    checks = checked(setting, begin, end, until, int(rng.integers(200, 3000)), int(rng.integers(8, 16)))
    return Course(policy, setting, checks=checks, begins={"earlier_checkpoint_as_good": until})
