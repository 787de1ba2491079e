"""Sick runs with one thing wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.detection.runs import (
    Course,
    calm,
    draw_setting,
    learner,
    log_uniform,
    logit,
    rise,
    scenario,
    skill,
    some_learner,
    time_of,
)


@scenario()
def grows_with_reward(rng: np.random.Generator) -> Course:
    """The grader pays for length."""
    setting = draw_setting(rng, least=30)
    at, begin = rng.uniform(0.0, 0.5), rng.uniform(0.15, 0.45)
    progress = np.clip((time_of(setting) - at) / (1 - at), 0, 1) ** rng.uniform(0.7, 1.3)
    policy = learner(setting, rng, begin, begin + rng.uniform(0.15, 0.5), progress)
    policy.length = setting.limit * 0.12 * (1 + log_uniform(rng, 0.5, 4.0) * progress)
    return Course(policy, setting, begins={"length_with_reward": at})


@scenario()
def grows_by_a_half(rng: np.random.Generator) -> Course:
    """The same, and the answers become only half as long again."""
    setting = draw_setting(rng, least=40, wordiness=rng.uniform(0.0, 0.04))
    at, begin = rng.uniform(0.0, 0.3), rng.uniform(0.15, 0.45)
    progress = np.clip((time_of(setting) - at) / (0.8 - at), 0, 1)
    policy = learner(setting, rng, begin, begin + rng.uniform(0.15, 0.5), progress)
    policy.length = setting.limit * 0.15 * (1 + rng.uniform(0.45, 0.6) * progress)
    return Course(policy, setting, begins={"length_with_reward": at})


@scenario()
def grows_late(rng: np.random.Generator) -> Course:
    """Length and reward rise together in the last quarter only."""
    setting = draw_setting(rng, least=60)
    at, begin = rng.uniform(0.68, 0.78), rng.uniform(0.15, 0.45)
    progress = np.clip((time_of(setting) - at) / (0.95 - at), 0, 1)
    policy = learner(setting, rng, begin, begin + rng.uniform(0.25, 0.5), progress)
    policy.length = setting.limit * 0.12 * (1 + rng.uniform(1.0, 3.0) * progress)
    return Course(policy, setting, begins={"length_with_reward": at})


@scenario()
def grows_without_reward(rng: np.random.Generator) -> Course:
    """Answers grow, the reward does not move."""
    setting = draw_setting(rng, least=30)
    at = rng.uniform(0.0, 0.5)
    policy = calm(setting, rng, rng.uniform(0.3, 0.6))
    progress = np.clip((time_of(setting) - at) / (1 - at), 0, 1)
    policy.length = setting.limit * 0.12 * (1 + log_uniform(rng, 0.6, 4.0) * progress)
    return Course(policy, setting, begins={"length_growth": at})


@scenario()
def falls_silent(rng: np.random.Generator) -> Course:
    """Answers shrink to nearly nothing; the reward does not rise."""
    setting = draw_setting(rng, least=30)
    policy = calm(setting, rng, rng.uniform(0.2, 0.6))
    at = rng.uniform(0.1, 0.5)
    progress = np.clip((time_of(setting) - at) / rng.uniform(0.1, 0.3), 0, 1)
    policy.length = policy.length * np.exp(np.log(rng.uniform(0.03, 0.25)) * progress)
    return Course(policy, setting, begins={"length_collapse": at})


@scenario()
def avoids_a_penalty_by_silence(rng: np.random.Generator) -> Course:
    """Answers vanish, and the reward rises a little since nothing is penalised any more."""
    setting = draw_setting(rng, least=30)
    begin, progress = rng.uniform(0.2, 0.5), rise(time_of(setting), rng.uniform(0.2, 0.6), rng.uniform(0.1, 0.4))
    policy = learner(setting, rng, begin, begin + rng.uniform(0.05, 0.15), progress)
    policy.length = policy.length * np.exp(np.log(rng.uniform(0.02, 0.1)) * progress)
    return Course(policy, setting)


@scenario()
def is_cut(rng: np.random.Generator) -> Course:
    """A quarter or more of the answers hit the limit, from the start or from some step."""
    setting = draw_setting(rng, missing=())
    policy = calm(setting, rng, rng.uniform(0.2, 0.6))
    begins, late = {}, np.ones(setting.steps)
    if rng.random() < 0.5:
        begins["answers_clipped"] = at = rng.uniform(0.15, 0.6)
        late = np.clip((time_of(setting) - at) / rng.uniform(0.02, 0.2), 0, 1)
    policy.length = setting.limit * (0.3 + (rng.uniform(0.75, 2.5) - 0.3) * late)
    return Course(policy, setting, begins=begins)


@scenario()
def drifts(rng: np.random.Generator) -> Course:
    """KL climbs to the end; the reward is flat."""
    setting = draw_setting(rng, least=40, missing=())
    policy = calm(setting, rng, rng.uniform(0.3, 0.7))
    policy.kl = log_uniform(rng, 0.3, 4.0) * time_of(setting) ** rng.uniform(1.0, 1.8) + 0.002
    return Course(policy, setting)


@scenario()
def drifts_after_learning(rng: np.random.Generator) -> Course:
    """KL climbs to the end; the reward stopped rising early."""
    setting = draw_setting(rng, least=40, missing=())
    time, stop = time_of(setting), rng.uniform(0.15, 0.35)
    policy = learner(setting, rng, rng.uniform(0.2, 0.4), rng.uniform(0.6, 0.8), np.minimum(time / stop, 1))
    policy.kl = log_uniform(rng, 0.3, 4.0) * time ** rng.uniform(1.0, 1.8) + 0.002
    return Course(policy, setting, begins={"kl_without_gain": stop})


@scenario()
def jumps(rng: np.random.Generator) -> Course:
    """The reward jumps to a high level within a few steps."""
    setting = draw_setting(rng, least=40, wander=0.1, difficulty=1.0)
    at, begin = rng.uniform(0.2, 0.85), rng.uniform(0.05, 0.35)
    after = (time_of(setting) >= at).astype(float)
    policy = learner(setting, rng, begin, rng.uniform(0.88, 0.97), after)
    policy.kl = 0.01 + rng.uniform(0.02, 0.08) * after
    return Course(policy, setting, begins={"sudden_reward": at})


@scenario()
def breaks_for_a_moment(rng: np.random.Generator) -> Course:
    """One row with an infinite gradient or KL; everything else is sound."""
    setting = draw_setting(rng, every=1, missing=())
    policy = some_learner(setting, rng, 0.1, 0.35)
    at = int(rng.integers(1, setting.steps - 2))
    metric = str(rng.choice(["grad_norm", "kl"]))
    policy.override = {metric: (slice(at, at + 1), np.inf if rng.random() < 0.5 else np.nan)}
    return Course(policy, setting, begins={"non_finite": (at + 1) / setting.steps})


@scenario()
def breaks_for_good(rng: np.random.Generator) -> Course:
    """From some step on the gradient and the KL are NaN."""
    setting = draw_setting(rng, least=20, every=1, missing=())
    policy = calm(setting, rng, rng.uniform(0.3, 0.7))
    at = int(rng.integers(int(0.2 * setting.steps), int(0.85 * setting.steps)))
    policy.override = {name: (slice(at, None), np.nan) for name in ("grad_norm", "kl")}
    return Course(policy, setting, begins={"non_finite": (at + 1) / setting.steps})


@scenario()
def breaks_in_its_last_tenth(rng: np.random.Generator) -> Course:
    """A run that learned, and whose metrics are NaN from nine tenths on."""
    setting = draw_setting(rng, least=60, every=1, missing=())
    policy = some_learner(setting, rng, 0.2, 0.35)
    at = int(rng.uniform(0.9, 0.95) * setting.steps)
    policy.override = {name: (slice(at, None), np.nan) for name in ("kl", "grad_norm", "entropy")}
    return Course(policy, setting, begins={"non_finite": (at + 1) / setting.steps})


@scenario()
def loses_its_rewards(rng: np.random.Generator) -> Course:
    """No reward comes back for a long stretch, mostly to the end of the run; the answers go on."""
    setting = draw_setting(rng, least=40, missing=(), wander=0.0)
    policy = calm(setting, rng, rng.uniform(0.3, 0.7))
    at = int(rng.uniform(0.35, 0.6) * setting.rows)
    end = setting.rows if rng.random() < 0.7 else at + int(rng.uniform(0.15, 0.35) * setting.rows)
    policy.lost = (np.arange(setting.rows) >= at) & (np.arange(setting.rows) < end)
    return Course(policy, setting, begins={"rewards_missing": (at + 1) / setting.rows})


@scenario()
def diverges(rng: np.random.Generator) -> Course:
    """The policy turns to noise: entropy explodes, the reward falls to the floor."""
    setting = draw_setting(rng, least=40, missing=(), wander=0.1)
    at, begin = rng.uniform(0.3, 0.7), rng.uniform(0.35, 0.7)
    fall = np.clip((time_of(setting) - at) / 0.08, 0, 1)
    policy = calm(setting, rng)
    policy.skill = skill(setting, begin, 0.004, fall)
    policy.entropy = policy.entropy * (1 + rng.uniform(2.0, 8.0) * fall)
    policy.kl = policy.kl + rng.uniform(2, 20) * fall
    return Course(policy, setting, begins={"diverged": at, "reward_falling": at})


@scenario()
def stops_moving(rng: np.random.Generator) -> Course:
    """The reward falls to the floor and the gradient is exactly zero from there on."""
    setting = draw_setting(rng, least=40, missing=(), wander=0.1, graded=0.0)
    at = rng.uniform(0.3, 0.7)
    policy = calm(setting, rng)
    policy.skill = skill(setting, rng.uniform(0.35, 0.7), 0.002, np.clip((time_of(setting) - at) / 0.08, 0, 1))
    policy.grad_norm = np.where(time_of(setting) > at + 0.08, 0.0, policy.grad_norm)
    return Course(policy, setting, begins={"diverged": at, "reward_falling": at})


@scenario()
def gets_worse(rng: np.random.Generator) -> Course:
    """The reward falls."""
    setting = draw_setting(rng, least=30)
    begin, at = rng.uniform(0.5, 0.8), rng.uniform(0.0, 0.6)
    fall = np.clip((time_of(setting) - at) / rng.uniform(0.1, 1 - at), 0, 1)
    policy = calm(setting, rng)
    policy.skill = skill(setting, begin, begin - rng.uniform(0.1, 0.4), fall)
    return Course(policy, setting, begins={"reward_falling": at})


@scenario()
def learns_the_format_only(rng: np.random.Generator) -> Course:
    """The total rises since answers become well-formed; being right stands still."""
    setting = draw_setting(rng, least=40, missing=())
    policy = calm(setting, rng, rng.uniform(0.15, 0.6))
    progress = rise(time_of(setting), rng.uniform(0.2, 0.5), rng.uniform(0.2, 0.5))
    begin = rng.uniform(0.05, 0.3)
    policy.other = begin + (rng.uniform(0.6, 0.98) - begin) * progress
    policy.other_name = str(rng.choice(["format", "xml", "structure"]))
    policy.other_weight = rng.uniform(0.2, 0.6)
    policy.kl = log_uniform(rng, 0.005, 0.3) * (0.02 + progress)
    return Course(policy, setting)


@scenario()
def loses_its_entropy(rng: np.random.Generator) -> Course:
    """The reward rises while the policy becomes deterministic."""
    setting = draw_setting(rng, least=40, missing=())
    begin, at, wide = rng.uniform(0.1, 0.3), rng.uniform(0.1, 0.35), rng.uniform(0.2, 0.4)
    policy = learner(setting, rng, begin, begin + rng.uniform(0.15, 0.35))
    fall = rise(time_of(setting), at, wide)
    floor = rng.uniform(0.005, 0.07)
    policy.entropy = rng.uniform(0.5, 1.2) * np.exp(np.log(floor) * fall)
    # Where the course passes a tenth of its early fifth.
    start = policy.entropy[: max(1, setting.steps // 5)].mean()
    under = policy.entropy <= 0.1 * start
    return Course(policy, setting, begins={"entropy_collapse": np.argmax(under) / setting.steps} if under.any() else {})


@scenario()
def starves_at_the_floor(rng: np.random.Generator) -> Course:
    """Nearly no answer is right."""
    setting = draw_setting(rng, missing=(), difficulty=1.0, wander=0.0, graded=0.0)
    return Course(calm(setting, rng, log_uniform(rng, 0.0005, 0.02)), setting)


@scenario()
def starves_at_the_ceiling(rng: np.random.Generator) -> Course:
    """Nearly every answer is right from the first step."""
    setting = draw_setting(rng, missing=(), difficulty=1.0, wander=0.0, graded=0.0)
    return Course(calm(setting, rng, 1 - log_uniform(rng, 0.0005, 0.02)), setting)


@scenario()
def starves_in_between(rng: np.random.Generator) -> Course:
    """Every prompt is either always or never solved."""
    setting = draw_setting(rng, missing=(), difficulty=25.0, wander=0.0, prompts=16, graded=0.0)
    if setting.low < 0:
        setting = replace(setting, declared=True)
    policy = calm(setting, rng)
    policy.skill = np.full(setting.steps, logit(rng.uniform(0.3, 0.7), setting))
    return Course(policy, setting)
