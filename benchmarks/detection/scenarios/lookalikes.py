"""Healthy runs that look like sick ones in one metric: any warning about them is a false alarm."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.detection.runs import (
    Course,
    calm,
    draw_setting,
    learner,
    rise,
    scenario,
    some_learner,
    time_of,
)


@scenario(healthy=True)
def has_high_kl_from_the_start(rng: np.random.Generator) -> Course:
    """KL is high at the first step and stays."""
    setting = draw_setting(rng, missing=())
    policy = calm(setting, rng, rng.uniform(0.3, 0.7))
    policy.kl = np.full(setting.steps, rng.uniform(0.5, 2.0))
    return Course(policy, setting)


@scenario(healthy=True)
def has_a_kl_spike_that_heals(rng: np.random.Generator) -> Course:
    """KL jumps for a few steps and comes back."""
    setting = draw_setting(rng, least=40, missing=())
    policy = some_learner(setting, rng, 0.1, 0.3)
    at = rng.integers(int(0.2 * setting.steps), int(0.9 * setting.steps))
    policy.kl[at : at + max(1, setting.steps // 50)] *= rng.uniform(10, 200)
    return Course(policy, setting)


@scenario(healthy=True)
def has_one_group_a_step(rng: np.random.Generator) -> Course:
    """One prompt a step: the share of prompts without a signal is 0 or 1."""
    setting = draw_setting(rng, least=60, prompts=1, group=8, difficulty=rng.uniform(0.3, 1.2))
    return Course(calm(setting, rng, rng.uniform(0.35, 0.65)), setting)


@scenario(healthy=True)
def learns_with_one_group_a_step(rng: np.random.Generator) -> Course:
    """One prompt a step, and the reward rises, jumping with every prompt."""
    setting = draw_setting(rng, least=100, prompts=1, group=8, difficulty=rng.uniform(0.5, 1.5))
    return Course(some_learner(setting, rng, 0.15, 0.4), setting)


@scenario(healthy=True)
def ends_with_another_token(rng: np.random.Generator) -> Course:
    """Every answer counts as cut since it ends with a token that the tokenizer does not know as an end."""
    setting = draw_setting(rng, least=30, missing=())
    policy = some_learner(setting, rng)
    policy.second_stop = True
    return Course(policy, setting)


@scenario(healthy=True)
def skips_rewards(rng: np.random.Generator) -> Course:
    """The grader returns nothing for some steps: missing rewards, and TRL's 0 in place of the zero-std fraction."""
    setting = draw_setting(rng, least=40, every=1, missing=())
    setting = replace(setting, steps=min(setting.steps, 1000))
    policy = some_learner(setting, rng, 0.15, 0.35)
    policy.lost = rng.random(setting.rows) < rng.uniform(0.05, 0.2)
    return Course(policy, setting)


@scenario(healthy=True)
def logs_rewards_now_and_then(rng: np.random.Generator) -> Course:
    """Rewards and their spread stand in every few rows only, other metrics in each."""
    setting = draw_setting(rng, least=150, every=1, missing=())
    policy = some_learner(setting, rng, 0.25, 0.35)
    policy.logged_each = dict.fromkeys(("reward", "reward_std", "zero_std_fraction"), int(rng.integers(2, 11)))
    return Course(policy, setting)


@scenario(healthy=True)
def is_measured_now_and_then(rng: np.random.Generator) -> Course:
    """Some metrics are logged only every few rows, as an evaluation's are; between them stands nothing."""
    setting = draw_setting(rng, least=60, missing=())
    policy = some_learner(setting, rng)
    cadence = int(rng.integers(2, 11))
    policy.logged_each = dict.fromkeys(("kl", "entropy", "clipped_ratio"), cadence)
    return Course(policy, setting)


@scenario(healthy=True)
def restarts_with_another_rate(rng: np.random.Generator) -> Course:
    """Resumed once or twice with another learning rate, each time a little behind where it stopped."""
    setting = draw_setting(rng, least=40)
    time = time_of(setting)
    progress = rise(time, rng.uniform(0.4, 0.6), rng.uniform(0.6, 1.2))
    for at in np.sort(rng.uniform(0.2, 0.8, int(rng.integers(1, 3)))):
        behind = rng.uniform(0.02, 0.1) * np.exp(-np.clip(time - at, 0, None) / 0.05) * (time >= at)
        progress = np.clip(progress - behind, 0, 1)
    begin = rng.uniform(0.2, 0.45)
    policy = learner(setting, rng, begin, begin + rng.uniform(0.15, 0.4), progress)
    policy.learning_rate = np.where(time < 0.5, 1e-6, rng.choice([1e-7, 1e-5]))
    policy.grad_norm = policy.grad_norm * np.where(time < 0.5, 1.0, rng.uniform(0.3, 4.0))
    return Course(policy, setting)


@scenario(healthy=True)
def has_one_dominant_function(rng: np.random.Generator) -> Course:
    """One of two reward functions brings nearly all of the gain, and it pays for being right."""
    setting = draw_setting(rng, least=40, missing=())
    policy = some_learner(setting, rng, 0.2, 0.4)
    policy.other = np.full(setting.steps, rng.uniform(0.3, 0.97))
    policy.other_name = str(rng.choice(["format", "tone", "brevity"]))
    policy.other_weight = rng.uniform(0.1, 0.5)
    return Course(policy, setting)


@scenario(healthy=True)
def agrees_within_groups(rng: np.random.Generator) -> Course:
    """Answers to one prompt come to agree while prompts still differ: the batch's spread stays as it was."""
    setting = draw_setting(rng, least=40, missing=(), low=0.0, high=1.0, batch_spread=True, graded=0.0, wander=0.1)
    setting = replace(setting, difficulty=rng.uniform(2.0, 3.0), prompts=32, group=8)
    begin = rng.uniform(0.3, 0.45)
    return Course(learner(setting, rng, begin, begin + rng.uniform(0.15, 0.25)), setting)


@scenario(healthy=True)
def grows_a_little(rng: np.random.Generator) -> Course:
    """Answers become up to a tenth longer as the reward rises."""
    setting = draw_setting(rng)
    progress = rise(time_of(setting), rng.uniform(0.3, 0.6), rng.uniform(0.4, 1.2))
    begin = rng.uniform(0.2, 0.45)
    policy = learner(setting, rng, begin, begin + rng.uniform(0.15, 0.4), progress)
    policy.length = policy.length * (1 + rng.uniform(0.0, 0.12) * progress)
    return Course(policy, setting)


@scenario(healthy=True)
def rises_fast_from_low(rng: np.random.Generator) -> Course:
    """A steep rise in the first quarter that ends at a middling level: fast, and no jump to the top."""
    setting = draw_setting(rng, least=60)
    progress = rise(time_of(setting), rng.uniform(0.1, 0.3), rng.uniform(0.2, 0.35))
    policy = learner(setting, rng, rng.uniform(0.05, 0.2), rng.uniform(0.45, 0.7), progress)
    return Course(policy, setting)


@scenario(healthy=True)
def has_gradient_spikes(rng: np.random.Generator) -> Course:
    """The gradient norm spikes a few times, finite, and the run goes on."""
    setting = draw_setting(rng, least=40, every=1, missing=())
    setting = replace(setting, steps=min(setting.steps, 1000))
    policy = some_learner(setting, rng)
    spikes = rng.integers(0, setting.steps, int(rng.integers(2, 8)))
    policy.grad_norm[spikes] *= rng.uniform(20, 500)
    return Course(policy, setting)
