"""What must not change the findings: the unit of the reward, how often was logged, the order of rows, names of keys."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from rlchecks import suites
from rlchecks.diagnosis import Finding, diagnose
from rlchecks.readers import read_run
from rlchecks.schema import STEPS
from rlchecks.signals import RunFacts, compute, facts_of, rows

N = 400
TIME = np.linspace(0, 1, N)
PARAMETERS = suites.load("chat").parameters
LOW, HIGH = 0.0, 1.0


@dataclass(frozen=True)
class Log:
    """Series by canonical name, reward functions by ``reward/<name>``, and the step of each row."""

    step: np.ndarray
    series: dict[str, np.ndarray]
    range: tuple[float, float] = (LOW, HIGH)

    def findings(self, order: np.ndarray | None = None) -> tuple[Finding, ...]:
        table = self.table() if order is None else self.table().take(pa.array(order))
        signals = compute(table, [RunFacts("run", reward_range=self.range)])
        return diagnose(rows(signals)[0], PARAMETERS)

    def codes(self) -> set[str]:
        return {finding.code for finding in self.findings()}

    def table(self) -> pa.Table:
        size = len(self.step)
        columns: dict[str, object] = {"run_id": ["run"] * size, "split": ["train"] * size, "step": self.step}
        columns |= {name: values for name, values in self.series.items() if "/" not in name}
        functions = {name: values for name, values in self.series.items() if "/" in name}
        if functions:
            columns["extra"] = [
                list(zip(functions, cells, strict=True)) for cells in zip(*functions.values(), strict=True)
            ]
        arrays = [pa.array(columns.get(field.name, [None] * size), field.type, from_pandas=False) for field in STEPS]
        return pa.Table.from_arrays(arrays, schema=STEPS)

    def map(self, change: Callable[[str, np.ndarray], np.ndarray]) -> Log:
        return replace(self, series={name: change(name, values) for name, values in self.series.items()})


def ramp(begin: float, end: float) -> np.ndarray:
    return np.clip((TIME - begin) / (end - begin), 0, 1)


def clear(code: str, seed: int) -> Log:
    """A run in which a finding is clear, with the noise of a small batch."""
    noise = np.random.default_rng(seed)
    still = np.zeros(N)
    reward, kl, length = 0.45 + still, 0.01 + still, 200 + still
    more: dict[str, np.ndarray] = {}
    alike = 0.2 + still
    cut = 0.02 + still
    entropy, gradient = 0.6 + still, 0.5 + still
    if code == "learning":
        reward = 0.3 + 0.35 * ramp(0.1, 0.8)
    elif code == "reward_falling":
        reward = 0.65 - 0.3 * ramp(0.1, 0.8)
    elif code == "length_with_reward":
        reward, length = 0.3 + 0.35 * ramp(0.2, 0.9), 150 * (1 + 1.2 * ramp(0.2, 0.9))
    elif code == "length_growth":
        length = 150 * (1 + 1.2 * ramp(0.2, 0.9))
    elif code == "length_collapse":
        length = 200 * (1 - 0.95 * ramp(0.2, 0.5))
    elif code == "answers_clipped":
        cut = 0.02 + 0.6 * ramp(0.3, 0.5)
    elif code == "kl_without_gain":
        kl = 0.01 + 2.0 * TIME
    elif code == "sudden_reward":
        reward = 0.2 + 0.72 * (TIME >= 0.5)
    elif code == "entropy_collapse":
        reward, entropy = 0.2 + 0.3 * ramp(0.1, 0.8), 0.8 * np.exp(-5 * ramp(0.1, 0.7))
    elif code == "diverged":
        reward, entropy = 0.6 - 0.58 * ramp(0.4, 0.5), 0.4 * (1 + 5 * ramp(0.4, 0.5))
    elif code == "format_only":
        correct, form = 0.3 + still, 0.2 + 0.7 * ramp(0.1, 0.5)
        more = {"reward/correct": correct + noise.normal(0, 0.02, N), "reward/format": form}
        reward = (more["reward/correct"] + form) / 2
    elif code == "non_finite":
        gradient = np.where(TIME < 0.7, 0.5, np.nan)
    elif code.startswith("starved"):
        level = {"starved_floor": 0.01, "starved_ceiling": 0.99, "starved": 0.5}[code]
        reward, alike = level + still, 0.95 + still
    elif code == "saturated":
        reward, alike = 0.4 + 0.59 * ramp(0.1, 0.4), 0.1 + 0.85 * ramp(0.1, 0.4)
    spread = 0.3 * np.sqrt(np.clip(reward * (1 - reward), 1e-4, 1))
    if not more:
        reward = np.clip(reward + noise.normal(0, 0.1, N) * spread, 0, 1)
    series = {
        "reward": reward,
        "reward_std": spread,
        "kl": kl * np.exp(noise.normal(0, 0.1, N)),
        "mean_length": length * np.exp(noise.normal(0, 0.03, N)),
        "clipped_ratio": np.clip(cut + noise.normal(0, 0.01, N), 0, 1),
        "zero_std_fraction": np.clip(alike + noise.normal(0, 0.02, N), 0, 1),
        "entropy": entropy * np.exp(noise.normal(0, 0.05, N)),
        "grad_norm": gradient * np.exp(noise.normal(0, 0.2, N)),
    }
    return Log(np.arange(1, N + 1), series | more)


CODES = (
    *("learning", "no_trend", "reward_falling", "length_with_reward", "length_growth", "length_collapse"),
    *("answers_clipped", "kl_without_gain", "sudden_reward", "entropy_collapse", "diverged", "format_only"),
    *("non_finite", "starved_floor", "starved_ceiling", "starved", "saturated"),
)
SEEDS = st.integers(0, 2**31)
CASES = st.sampled_from(CODES)
often = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("code", CODES)
def test_the_cases_are_clear(code: str) -> None:
    for seed in range(5):
        assert code in clear(code, seed).codes()


@given(CASES, SEEDS, st.floats(1e-3, 1e3), st.floats(-50, 50))
@often
def test_stretching_the_reward_with_its_declared_range(code: str, seed: int, factor: float, shift: float) -> None:
    log = clear(code, seed)

    def stretch(name: str, values: np.ndarray) -> np.ndarray:
        return values * factor + shift if name == "reward" else values * factor if name == "reward_std" else values

    stretched = replace(log.map(stretch), range=(shift + factor * LOW, shift + factor * HIGH))
    assert stretched.codes() == log.codes()


@given(CASES, SEEDS, st.sampled_from([2, 5, 20]))
@often
def test_logging_the_mean_of_every_few_rows_with_twenty_left(code: str, seed: int, every: int) -> None:
    log = clear(code, seed)
    thinned = log.map(lambda _, values: values.reshape(-1, every).mean(axis=1))
    assert replace(thinned, step=log.step[every - 1 :: every]).codes() == log.codes()


@given(CASES, SEEDS)
@often
def test_cutting_the_last_twentieth_of_what_began_before(code: str, seed: int) -> None:
    log = clear(code, seed)
    kept = N - N // 20
    cut = replace(log.map(lambda _, values: values[:kept]), step=log.step[:kept])
    assert cut.codes() == log.codes()


@given(CASES, SEEDS, SEEDS)
@often
def test_the_order_of_the_rows(code: str, seed: int, shuffled: int) -> None:
    log = clear(code, seed)
    order = np.random.default_rng(shuffled).permutation(N)
    assert repr(log.findings(order)) == repr(log.findings())


GENERATIONS = {
    "0.15": {"mean_length": "completion_length", "reward/": "rewards/{}"},
    "0.21": {"mean_length": "completions/mean_length", "reward/": "rewards/{}/mean"},
}
"""Keys that TRL renamed (trl/trainer/grpo_trainer.py, versions 0.15 and 0.21); the others are the same in both."""
KEPT = ("reward", "reward_std", "kl", "grad_norm", "mean_length")


def trainer_state(log: Log, generation: str) -> str:
    names = GENERATIONS[generation]
    keys = {name: names.get(name, name) for name in KEPT}
    keys |= {name: names["reward/"].format(name[7:]) for name in log.series if name.startswith("reward/")}
    history = [
        {"step": int(step), **{key: float(log.series[name][at]) for name, key in keys.items()}}
        for at, step in enumerate(log.step)
    ]
    return json.dumps({"log_history": history, "global_step": N, "max_steps": N})


@given(CASES, SEEDS)
@example("format_only", 1)
@example("length_with_reward", 1)
@settings(often, max_examples=15)
def test_the_names_of_the_keys_in_each_generation_of_trl(
    tmp_path_factory: pytest.TempPathFactory, code: str, seed: int
) -> None:
    log, found = clear(code, seed), []
    for generation in GENERATIONS:
        path = tmp_path_factory.mktemp(generation) / "trainer_state.json"
        path.write_text(trainer_state(log, generation), encoding="utf-8")
        run = read_run(path)
        assert run.steps["mean_length"].null_count == 0
        signals = compute(run.steps, [facts_of(run)], run.validation)
        found.append({finding.code for finding in diagnose(rows(signals)[0], PARAMETERS)})
    assert found[0] == found[1]
    if code in ("learning", "format_only", "length_with_reward", "length_collapse", "kl_without_gain"):
        assert code in found[0]


PROGRAM = """
import sys
from tests.diagnosis.test_metamorphic import CODES, N, clear
import numpy as np
order = np.random.default_rng(int(sys.argv[1])).permutation(N)
for code in CODES:
    print(clear(code, 7).findings(order))
"""


def test_the_same_bytes_in_any_process(request: pytest.FixtureRequest) -> None:
    said = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(request.config.rootpath)}
        result = subprocess.run(
            [sys.executable, "-c", PROGRAM, seed], capture_output=True, env=environment, cwd=Path.cwd(), check=True
        )
        said.add(result.stdout)
    assert len(said) == 1
    assert b"format_only" in said.pop()
