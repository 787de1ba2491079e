"""Runs that are short, or ended before their time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.detection.runs import Course, calm, draw_setting, scenario, some_learner


@scenario()
def is_short(rng: np.random.Generator) -> Course:
    """Under ten logged rows."""
    every = int(rng.choice([1, 5, 10]))
    setting = replace(draw_setting(rng), steps=int(rng.integers(2, 10)) * every, every=every)
    return Course(calm(setting, rng, rng.uniform(0.3, 0.6)), setting)


@scenario()
def is_short_and_starved(rng: np.random.Generator) -> Course:
    """Under ten logged rows, which are enough to see that nearly no answer is right."""
    setting = draw_setting(rng, missing=(), difficulty=1.0, wander=0.0, graded=0.0)
    setting = replace(setting, steps=int(rng.integers(6, 10)) * 10, every=10)
    return Course(calm(setting, rng, rng.uniform(0.0005, 0.005)), setting)


@scenario()
def ends_early(rng: np.random.Generator) -> Course:
    """The run learns and ends before its planned steps."""
    setting = draw_setting(rng, least=30)
    return Course(some_learner(setting, rng), setting, planned=int(setting.steps / rng.uniform(0.2, 0.9)))


@scenario(healthy=True)
def ends_as_planned(rng: np.random.Generator) -> Course:
    """The run learns, and its last row lies at or shortly before its planned end."""
    setting = draw_setting(rng, least=60)
    short = int(rng.integers(0, max(1, min(setting.every, setting.steps // 100))))
    return Course(some_learner(setting, rng), setting, planned=setting.steps + short)
