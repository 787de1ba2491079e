"""Signals of the validation checks, with and without single questions, with and without a training reward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from rlchecks.schema import STEPS, VALIDATION
from rlchecks.signals import RunFacts, compute, questions
from rlchecks.signals.checks import MOST_CHECKS
from rlchecks.signals.validation import gather

Signals = Callable[..., dict[str, Any]]
Rows = Sequence[tuple[int, str | None, float | None]]


def table(rows: Rows, grader: str | None = None) -> pa.Table:
    dicts = [
        {"run_id": "run", "step": at, "question_id": who, "grader": grader, "score": score} for at, who, score in rows
    ]
    return pa.Table.from_pylist(dicts, schema=VALIDATION)


def means(scores: Sequence[float], every: int = 10) -> pa.Table:
    return table([(at * every, None, float(score)) for at, score in enumerate(scores)])


def asked(answers: np.ndarray, every: int = 10) -> pa.Table:
    """Answers of shape (questions, checks)."""
    return table(
        [
            (at * every, f"q{who}", float(answers[who, at]))
            for who in range(len(answers))
            for at in range(answers.shape[1])
        ]
    )


def alone(checks: pa.Table, facts: RunFacts | None = None) -> dict[str, Any]:
    """Signals of a run without a single training row."""
    row: dict[str, Any] = compute(STEPS.empty_table(), [facts or RunFacts("run")], checks).to_pylist()[0]
    return row


def test_a_run_without_training_rewards_stands_on_the_scale_of_its_checks() -> None:
    row = alone(means([0.2, 0.4, 0.6]))
    assert (row["scale_low"], row["scale_high"], row["scale_basis"]) == (0.0, 1.0, "unit")
    assert row["validation_gain_fraction"] == pytest.approx(0.4)
    assert row["n_reward_rows"] == 0
    assert row["reward_end"] is None
    row = alone(means([2.0, 4.0, 6.0]))
    assert row["scale_basis"] == "inferred"
    assert row["scale_low"] == 0.0
    assert row["scale_high"] == pytest.approx(6 + np.std([2, 4, 6]))
    row = alone(means([2.0, 4.0, 6.0]), RunFacts("run", reward_range=(0.0, 10.0)))
    assert (row["scale_low"], row["scale_high"], row["scale_basis"]) == (0.0, 10.0, "declared")
    assert row["validation_position_start"] == pytest.approx(0.2)


def test_the_training_reward_sets_the_scale_where_there_is_one(signals_of: Signals) -> None:
    row = signals_of(reward=[4.0, 5.0, 6.0, 5.0] * 5, checks=means([0.2, 0.4, 0.6]))
    assert row["scale_high"] > 5
    assert row["validation_gain_fraction"] < 0.1


def test_no_checks_leave_the_scale_unknown() -> None:
    row = alone(VALIDATION.empty_table())
    assert row["scale_basis"] is None
    assert row["validation_checks"] == 0
    assert row["validation_gain"] is None


def test_two_checks_of_enough_questions_can_show_a_gain() -> None:
    answers = np.zeros((12, 2))
    answers[:9, 1] = 1.0
    row = alone(asked(answers))
    assert row["validation_gain"] == pytest.approx(0.75)
    assert row["validation_gain_p"] < 0.001
    assert row["validation_p"] is None
    assert alone(asked(answers[:9]))["validation_gain_p"] is None  # fewer than ten
    assert alone(asked(np.repeat([[0.0, 1.0]], 10, axis=0)))["validation_gain_p"] == pytest.approx(2**-9)
    assert alone(asked(np.zeros((10, 2))))["validation_gain_p"] == 1.0


def test_questions_that_are_not_those_of_the_logged_mean_say_nothing_of_its_noise() -> None:
    noise = np.random.default_rng(1)
    answers = (noise.random((40, 8)) < 0.5).astype(float)
    own = [(at * 10, None, float(answers[:, at].mean())) for at in range(8)]
    other = [(at, who, score + 0.01) for at, who, score in own if score is not None]
    questions_only, same, different = (
        gather(pa.concat_tables([asked(answers), table(rows)]), ["run"])[0] for rows in ([], own, other)
    )
    assert questions_only is not None
    assert same is not None
    assert different is not None
    assert questions_only.whole
    assert same.whole
    assert not different.whole
    assert different.score[0] == pytest.approx(answers[:, 0].mean() + 0.01)


def test_a_logged_mean_alone_has_no_questions() -> None:
    found = gather(means([0.1, 0.2]), ["run", "other"])
    assert found[0] is not None
    assert found[0].answers is None
    assert not found[0].whole
    assert found[1] is None


def test_scores_that_are_missing_or_of_one_grader_do_not_count() -> None:
    rows = table([(0, "a", 0.5), (0, "b", None), (0, "c", float("nan")), (10, "a", float("inf"))])
    found = gather(pa.concat_tables([rows, table([(20, "a", 0.9)], grader="style")]), ["run"])[0]
    assert found is not None
    assert found.step.tolist() == [0]
    assert found.score.tolist() == [0.5]


def test_the_noise_of_a_check_is_what_its_answers_explain() -> None:
    noise = np.random.default_rng(2)
    hard = noise.normal(0, 1.5, (200, 1))
    chance = 1 / (1 + np.exp(-(hard + np.linspace(-1, 1, 12))))
    seen = [questions.noise((noise.random(chance.shape) < chance).astype(float)) for _ in range(50)]
    truth = float(np.sqrt((chance * (1 - chance)).mean(axis=0).mean() / 200))
    assert np.mean([value for value in seen if value is not None]) == pytest.approx(truth, rel=0.05)
    assert questions.noise(np.zeros((9, 5))) is None
    assert questions.noise(np.zeros((10, 2))) is None


def test_the_error_of_a_gain_counts_questions_as_if_they_were_drawn_again() -> None:
    # Half of the questions gain by 1, half by 0: the mean is far less sure than the smooth checks look.
    answers = np.repeat([[0.0] * 3 + [1.0] * 3, [0.0] * 6], 10, axis=0)
    row = alone(asked(answers))
    assert row["validation_gain"] == pytest.approx(0.5)
    assert row["validation_gain_error"] >= np.sqrt(0.25 / 19)
    assert row["validation_gain_high"] > row["validation_gain_fraction"]


def test_the_upper_limit_of_a_gain_holds() -> None:
    noise = np.random.default_rng(3)
    names = [f"run-{number}" for number in range(300)]
    rows = [
        {"run_id": name, "step": 10 * at, "score": score}
        for name in names
        for at, score in enumerate(noise.normal(0.5, 0.05, 7).tolist())
    ]
    checks = pa.Table.from_pylist(rows, schema=VALIDATION)
    table = compute(STEPS.empty_table(), [RunFacts(name) for name in names], checks)
    assert np.mean(table["validation_gain_high"].to_numpy() >= 0) > 0.95


def test_many_checks_are_averaged_to_stretches() -> None:
    noise = np.random.default_rng(4)
    series = np.minimum(0.2 + np.arange(3000) / 3000, 0.6) + noise.normal(0, 0.05, 3000)
    row = alone(means(series, every=1))
    assert row["validation_checks"] == 3000
    assert row["validation_best"] == pytest.approx(series.max())
    assert 1099 <= row["validation_as_good_step"] <= 1500
    assert row["validation_stop_low"] <= 1200 <= row["validation_stop_high"]
    assert row["validation_as_good_step"] % (3000 // MOST_CHECKS) == 49


def test_scores_near_the_largest_number_are_undefined_and_no_error() -> None:
    row = alone(means([1.7e308, -1.7e308] * 5))
    assert row["validation_gain"] is None or np.isfinite(row["validation_gain"])
    assert row["validation_as_good_step"] is None
    assert row["validation_checks"] == 10


def test_the_peak_against_kl_needs_a_measured_kl(signals_of: Signals) -> None:
    d = np.linspace(0, 1.2, 13)
    score = 0.3 + np.where(d > 0, d * (0.25 - 0.5 * np.log(np.where(d > 0, d, 1))), 0)
    kl = np.interp(np.arange(1, 121), np.arange(13) * 10, d**2)
    row = signals_of(reward=[0.5] * 120, kl=kl, checks=means(score))
    assert row["validation_peak_kl_low"] <= row["validation_peak_kl"] <= row["validation_peak_kl_high"]
    assert row["validation_peak_kl"] == pytest.approx(np.exp(0.5 - 1) ** 2, rel=0.1)
    assert signals_of(reward=[0.5] * 120, kl=[0.0] * 120, checks=means(score))["validation_peak_kl"] is None
    assert signals_of(reward=[0.5] * 120, checks=means(score))["validation_peak_kl"] is None
    rising = signals_of(reward=[0.5] * 120, kl=kl, checks=means(score[:7].tolist() + [0.9] * 6))
    assert rising["validation_peak_kl"] is None


def test_a_fall_at_the_last_check_alone_is_none() -> None:
    rise = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert alone(means([*rise, 0.3]))["validation_fall_low"] == 0
    assert alone(means([*rise, 0.8, 0.6, 0.4, 0.2]))["validation_fall_low"] > 0.3
