"""Where the model was best, by its validation checks: what must be said, and what noise must not make anybody say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlchecks import suites
from rlchecks.diagnosis import Finding, Severity, diagnose, earlier_checkpoint
from rlchecks.schema import STEPS, VALIDATION
from rlchecks.signals import RunFacts, compute

Find = Callable[..., dict[str, Finding]]
N = 100
LEARNING = 0.2 + 0.6 / (1 + np.exp(-(np.linspace(0, 1, N) - 0.4) / 0.1))
OF_CHECKS = {"validation_flat", "validation_rising", "earlier_checkpoint_as_good"}


def means(scores: Sequence[float]) -> pa.Table:
    rows = [
        {"run_id": "run", "step": round(at * N / (len(scores) - 1)), "score": float(score)}
        for at, score in enumerate(scores)
    ]
    return pa.Table.from_pylist(rows, schema=VALIDATION)


def questions(answers: np.ndarray) -> pa.Table:
    rows = [
        {"run_id": "run", "step": 10 * at, "question_id": f"q{who}", "score": float(answers[who, at])}
        for who in range(len(answers))
        for at in range(answers.shape[1])
    ]
    return pa.Table.from_pylist(rows, schema=VALIDATION)


def alone(checks: pa.Table, profile: str = "hosted") -> dict[str, Finding]:
    """Findings of a run of which nothing but checks is logged."""
    row = compute(STEPS.empty_table(), [RunFacts("run")], checks).to_pylist()[0]
    return {one.code: one for one in diagnose(row, suites.load(profile).parameters)}


def alarms(found: Mapping[str, Finding]) -> set[str]:
    return {code for code, one in found.items() if one.severity > Severity.INFORMATION}


@pytest.mark.parametrize("count", range(6, 14))
def test_one_dip_at_one_check_raises_nothing(findings_of: Find, count: int) -> None:
    noise = np.random.default_rng(count)
    for at in range(count):
        for depth in (0.1, 0.25, 0.5):
            scores = np.linspace(0.2, 0.75, count) + noise.normal(0, 0.01, count)
            scores[at] = max(scores[at] - depth, 0)
            found = findings_of(reward=LEARNING, checks=means(scores))
            assert not alarms(found), (at, depth)
            assert "earlier_checkpoint_as_good" not in found, (at, depth)
            assert "learning" in found


@pytest.mark.parametrize("count", range(8, 14))
def test_one_dip_does_not_hide_a_rise(findings_of: Find, count: int) -> None:
    for at in range(1, count):
        scores = np.linspace(0.2, 0.75, count)
        scores[at] -= 0.15
        assert "validation_rising" in findings_of(reward=LEARNING, checks=means(scores)), at


def test_a_plateau_is_dated_with_its_uncertainty(findings_of: Find) -> None:
    noise = np.random.default_rng(1)
    scores = np.minimum(0.2 + np.arange(12) * 0.12, 0.7) + noise.normal(0, 0.01, 12)
    one = findings_of(reward=LEARNING, checks=means(scores))["earlier_checkpoint_as_good"]
    assert one.severity == Severity.INFORMATION
    assert one.onset_step in (36, 45)
    assert f"Step {one.onset_step} is as good as any later one: at most " in one.title
    assert one.evidence["validation_missing_high"] <= 0.05
    assert one.evidence["validation_stop_low"] <= 38 <= one.evidence["validation_stop_high"]


def test_checks_too_noisy_to_leave_no_room_for_a_rise_say_nothing(findings_of: Find) -> None:
    noise = np.random.default_rng(2)
    scores = np.minimum(0.2 + np.arange(12) * 0.12, 0.7) + noise.normal(0, 0.12, 12)
    assert "earlier_checkpoint_as_good" not in findings_of(reward=LEARNING, checks=means(scores))


def test_a_peak_and_a_fall_are_worse_at_the_end(findings_of: Find) -> None:
    noise = np.random.default_rng(3)
    rise = np.concatenate([np.linspace(0.3, 0.7, 6), np.linspace(0.65, 0.4, 6)]) + noise.normal(0, 0.01, 12)
    peak = findings_of(reward=LEARNING, checks=means(rise))["earlier_checkpoint_as_good"]
    assert peak.title.startswith(f"Step {peak.onset_step} is better than the last: validation fell by ")
    assert 36 <= (peak.onset_step or 0) <= 54
    fall = alone(means(np.linspace(0.8, 0.3, 9) + noise.normal(0, 0.01, 9)))["earlier_checkpoint_as_good"]
    assert fall.onset_step == 0


@pytest.mark.parametrize("seed", range(40))
def test_flat_checks_of_a_sound_run_are_no_peak(findings_of: Find, seed: int) -> None:
    noise = np.random.default_rng(seed)
    found = findings_of(reward=np.full(N, 0.5), checks=means(0.5 + noise.normal(0, 0.02, 10)))
    assert not found.keys() & OF_CHECKS


def test_few_checks_of_many_questions_can_rise(findings_of: Find) -> None:
    noise = np.random.default_rng(4)
    answers = (noise.random((60, 3)) < [0.2, 0.45, 0.7]).astype(float)
    found = findings_of(reward=LEARNING, checks=questions(answers))
    assert "validation_gain_p" in found["validation_rising"].evidence
    assert "validation_rising" not in findings_of(reward=LEARNING, checks=means(answers.mean(axis=0)))


def test_a_handful_of_questions_that_stand_still_is_information(findings_of: Find) -> None:
    still = np.tile([[1.0], [0.0], [0.0], [1.0], [0.0], [0.0], [0.0], [0.0]], 9)
    assert findings_of(reward=LEARNING, checks=questions(still))["validation_flat"].severity == Severity.INFORMATION
    many = np.repeat(still, 3, axis=0)
    assert findings_of(reward=LEARNING, checks=questions(many))["validation_flat"].severity == Severity.WARNING


def test_flat_checks_too_noisy_to_exclude_the_training_gain_say_nothing(findings_of: Find) -> None:
    noise = np.random.default_rng(5)
    found = findings_of(reward=LEARNING, checks=means(0.3 + noise.normal(0, 0.25, 7)))
    assert "validation_flat" not in found


def test_checks_without_a_training_reward_say_what_they_can() -> None:
    rising = alone(means([0.1, 0.25, 0.4, 0.5, 0.62, 0.7, 0.8]))
    assert set(rising) == {"validation_rising", "too_short"}
    assert rising["too_short"].title == (
        "No training reward is logged: 7 validation checks, 0.10 to 0.80, are all that is known."
    )
    standing = alone(means([0.4, 0.41, 0.39, 0.4, 0.42, 0.4]))
    assert set(standing) == {"too_short"}


def test_nothing_at_all_is_too_short_as_before() -> None:
    found = alone(VALIDATION.empty_table())
    assert found["too_short"].title.startswith("Too short: 0 logged rows")


COURSES = {
    "validation_rising": [0.1, 0.2, 0.3, 0.38, 0.47, 0.55, 0.63, 0.7],
    "validation_flat": [0.3, 0.31, 0.29, 0.3, 0.31, 0.3, 0.29, 0.3],
    "earlier_checkpoint_as_good": [0.2, 0.5, 0.7, 0.71, 0.7, 0.705, 0.71, 0.7],
}


@pytest.mark.parametrize("code", COURSES)
@given(factor=st.floats(1e-3, 1e3), shift=st.floats(-50, 50), seed=st.integers(0, 1000))
@settings(deadline=None, max_examples=20)
def test_unit_of_the_scores_and_order_of_the_checks_do_not_matter(
    findings_of: Find, code: str, factor: float, shift: float, seed: int
) -> None:
    def found(unit: float, origin: float, order: np.ndarray) -> dict[str, Finding]:
        return findings_of(
            facts=RunFacts("run", reward_range=(origin, origin + unit)),
            reward=origin + unit * LEARNING,
            checks=means(origin + unit * np.array(COURSES[code])).take(pa.array(order)),
        )

    size = len(COURSES[code])
    plain, order = found(1.0, 0.0, np.arange(size)), np.random.default_rng(seed).permutation(size)
    assert code in plain
    assert found(factor, shift, np.arange(size)).keys() == plain.keys()
    assert repr(found(1.0, 0.0, order)) == repr(plain)


def document(**candidate: object) -> dict[str, object]:
    rows = [
        {"checkpoint": name, "step": step, "mean": mean, "n_questions": 200, "ci_lower": lower, "may_be_best": possible}
        for name, step, mean, lower, possible in (
            ("base", 0, 0.4, -0.5, False),
            ("checkpoint-40", 40, 0.79, -0.04, True),
            ("checkpoint-80", 80, 0.8, -0.03, True),
        )
    ]
    rows[2] |= candidate
    return {"rows": rows, "as_good": "checkpoint-40", "confidence": 0.95}


def test_a_held_out_checkpoint_that_is_as_good_is_named() -> None:
    one = earlier_checkpoint.from_checkpoints(document(), "checkpoint-80", "base")
    assert one is not None
    assert one.title == (
        "checkpoint-40 is as good as the candidate: on 200 held-out questions it is at most 0.040 below the best."
    )
    assert one.onset_step == 40
    worse = earlier_checkpoint.from_checkpoints(document(may_be_best=False), "checkpoint-80", "base")
    assert worse is not None
    assert worse.title.startswith("checkpoint-40 is better than the candidate")


@pytest.mark.parametrize(
    ("as_good", "candidate", "baseline"),
    [("base", "checkpoint-80", "base"), ("checkpoint-80", "checkpoint-40", "base"), (None, "checkpoint-80", "base"),
     ("checkpoint-40", "checkpoint-40", "base"), ("checkpoint-40", "gone", "base")],
)  # fmt: skip
def test_no_other_checkpoint_is(as_good: str | None, candidate: str, baseline: str) -> None:
    found = {**document(), "as_good": as_good}
    assert earlier_checkpoint.from_checkpoints(found, candidate, baseline) is None
