"""``rewards_missing``, and rewards that never change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rlchecks import suites
from rlchecks.diagnosis import Finding, Severity
from rlchecks.readers import read_run
from rlchecks.stages import examine

Findings = Callable[..., dict[str, Finding]]
N = 60


@pytest.fixture
def rewards(noise: np.random.Generator) -> list[float]:
    return list(np.linspace(0.3, 0.6, N) + noise.normal(0, 0.03, N))


@pytest.mark.parametrize("profile", ["chat", "reasoning", "hosted"])
@pytest.mark.parametrize("others", [("kl",), ("mean_length", "kl")])
def test_rewards_that_stop_halfway(
    findings_of: Findings, rewards: list[float], profile: str, others: tuple[str, ...]
) -> None:
    found = findings_of(profile, reward=[*rewards[:31], *[None] * 29], **{name: [0.1] * N for name in others})
    one = found["rewards_missing"]
    assert one.severity == Severity.WARNING
    assert one.title == ("29 of 60 rows that should have a reward have none: steps 32 to 60, the end of the run.")
    assert one.onset_step == 32


def test_rewards_that_are_missing_in_the_middle(findings_of: Findings, rewards: list[float]) -> None:
    found = findings_of(reward=[*rewards[:20], *[None] * 10, *rewards[30:]], kl=[0.01] * N)
    assert "the end" not in found["rewards_missing"].title
    # Four rows are no stretch, however short the run.
    few = [*rewards[:20], *[None] * 4, *rewards[24:30]]
    assert "rewards_missing" not in findings_of(reward=few, kl=[0.01] * 30)


def test_scattered_losses_alarm_from_the_limit_of_the_suite(findings_of: Findings, rewards: list[float]) -> None:
    def lost(each: int) -> dict[str, Finding]:
        kept = [None if row % each == 1 else value for row, value in enumerate(rewards)]
        return findings_of(reward=kept, mean_length=[200.0] * N)

    assert "rewards_missing" in lost(3)
    assert "rewards_missing" not in lost(5)


def test_rewards_in_every_tenth_row_are_not_missing(findings_of: Findings, noise: np.random.Generator) -> None:
    every_tenth = [0.4 + 0.001 * row + noise.normal(0, 0.01) if row % 10 == 9 else None for row in range(300)]
    found = findings_of(reward=every_tenth, grad_norm=[1.0] * 300, kl=[0.01] * 300)
    assert found.keys() == {"learning"}


def test_other_findings_say_it_where_nothing_is_finite_or_nothing_is_logged(
    findings_of: Findings, rewards: list[float]
) -> None:
    broken = [*rewards[:31], *[float("nan")] * 29]
    assert {"non_finite"} == {code for code, one in findings_of(reward=broken, kl=[0.01] * N).items() if one.severity}
    assert findings_of(kl=[0.01] * N).keys() == {"too_short"}


def test_real_runs_with_few_or_rare_rewards_are_calm(shared_data: Path) -> None:
    parameters = suites.load("chat").parameters
    budget = "public/trl_console/budget-router-len3500/grpo_probe_0.6b_n8_t12_len3500.log"
    for path, codes in (("trl/reward-none", {"learning"}), (budget, {"too_short"})):
        seen = examine(read_run(str(shared_data / path)), parameters)
        assert {one.code for one in seen.findings} == codes


@pytest.mark.parametrize("profile", ["chat", "reasoning", "hosted"])
@pytest.mark.parametrize(
    ("level", "code"),
    [(0.0, "starved_floor"), (0.5, "starved"), (1.0, "starved_ceiling"), (3.0, "starved"), (-5.0, "starved")],
)
def test_a_reward_that_never_changes_is_starved(findings_of: Findings, profile: str, level: float, code: str) -> None:
    found = findings_of(profile, reward=[level] * N)
    assert found.keys() == {code}
    assert found[code].severity >= Severity.WARNING
    assert found[code].title == f"The reward never changes: it is {level:g} in all 60 rows."


def test_a_constant_mean_is_no_constant_reward_where_answers_differ(findings_of: Findings) -> None:
    assert findings_of(reward=[0.5] * N, reward_std=[0.3] * N).keys() == {"no_trend"}
    assert findings_of(reward=[0.5] * 9).keys() == {"too_short"}
