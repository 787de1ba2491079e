"""Score against the distance from the starting model."""

from __future__ import annotations

import numpy as np
import pytest

from rlchecks.signals.kl_curve import FEWEST, KlCurve, fit, kl_at


def gao(d: np.ndarray, alpha: float, beta: float) -> np.ndarray:
    return np.where(d > 0, d * (alpha - beta * np.log(np.where(d > 0, d, 1))), 0)


D = np.array([0.0, 0.3, 1.0, 2.0, 4.0, 6.0, 8.0])


@pytest.mark.parametrize(
    ("alpha", "beta", "peak", "best"),
    [(1.2, 0.45, 5.294490, 2.382521), (1.0, 0.25, 20.085537, 5.021384)],
)
def test_exact_curves_are_recovered_with_their_peaks(alpha: float, beta: float, peak: float, best: float) -> None:
    # d* = exp(alpha / beta - 1) and R* = beta d*, as the form of Gao et al. says.
    curve = fit(D**2, 0.1 + gao(D, alpha, beta))
    assert (curve.alpha, curve.beta, curve.start) == (
        pytest.approx(alpha), pytest.approx(beta), pytest.approx(0.1),
    )  # fmt: skip
    assert curve.peak_kl is not None
    assert np.sqrt(curve.peak_kl) == pytest.approx(peak, rel=1e-6)
    assert beta * np.sqrt(curve.peak_kl) == pytest.approx(best, rel=1e-6)
    assert curve.beyond is (peak > 8)


def test_the_unit_of_the_kl_moves_the_peak_with_it() -> None:
    noise = np.random.default_rng(1).normal(0, 0.01, len(D))
    one, other = fit(D**2, gao(D, 0.6, 0.5) + noise), fit(100 * D**2, gao(D, 0.6, 0.5) + noise)
    assert one.peak_kl is not None
    assert other.peak_kl == pytest.approx(100 * one.peak_kl)
    assert one.peak_kl_low is not None
    assert other.peak_kl_low == pytest.approx(100 * one.peak_kl_low)


@pytest.mark.parametrize(
    ("kl", "score", "reason"),
    [
        (D[:5] ** 2, gao(D[:5], 1.2, 0.45), "5 checkpoints with a score and a KL, fewer than 6"),
        (np.append(D[:5] ** 2, [np.nan, -1e-6]), gao(D, 1.2, 0.45), "5 checkpoints with a score and a KL"),
        (np.array([0, 0, 0, 1, 1, 1, 1.0]), np.linspace(0, 1, 7), "fewer than four different values"),
        (D**2, 0.4 + 0.1 * D, "no peak is shown"),
        (D**2, np.full(7, 0.5), "no peak is shown"),
        (D**2, np.full(7, 1.7e308) * np.tile([1, -1], 4)[:7], "too large"),
    ],
)
def test_what_cannot_be_fitted_has_a_reason(kl: np.ndarray, score: np.ndarray, reason: str) -> None:
    curve = fit(kl, score)
    assert curve.peak_kl is None
    assert curve.reason is not None
    assert reason in curve.reason


def test_noise_alone_has_no_peak() -> None:
    noise = np.random.default_rng(5)
    peaks = [fit(np.linspace(0, 2, 8), noise.normal(0.5, 0.02, 8)).peak_kl for _ in range(200)]
    assert sum(peak is not None for peak in peaks) <= 0.08 * 200


def test_a_peak_far_beyond_everything_is_none() -> None:
    d = np.linspace(0, 0.5, 12)
    curve = fit(d**2, gao(d, 1.0, 0.002))
    assert curve.peak_kl is None
    assert curve.reason is not None


def _answers(noise: np.random.Generator, questions: int, p: np.ndarray) -> np.ndarray:
    return (noise.random((questions, len(p))) < p).astype(float)


def test_the_limits_hold_the_peak() -> None:
    noise, d = np.random.default_rng(3), np.linspace(0, 1.2, 8)
    p = 0.3 + gao(d, 0.5 * (1 + np.log(0.6)), 0.5)  # peaks at d = 0.6
    curves = [fit(d**2, scores.mean(axis=0), scores) for scores in (_answers(noise, 300, p) for _ in range(200))]
    shown = [curve for curve in curves if curve.peak_kl is not None]
    assert len(shown) > 190
    assert np.mean([_holds(curve, 0.36) for curve in shown]) > 0.93


def _holds(curve: KlCurve, peak: float) -> bool:
    assert curve.peak_kl_low is not None
    return curve.peak_kl_low <= peak <= (np.inf if curve.peak_kl_high is None else curve.peak_kl_high)


def test_few_questions_widen_the_limits_of_a_smooth_curve() -> None:
    noise, d = np.random.default_rng(4), np.linspace(0, 1.2, 8)
    p = 0.3 + gao(d, 0.5 * (1 + np.log(0.6)), 0.5)
    scores = np.clip(p + noise.normal(0, 0.2, (100, 1)) * np.linspace(0, 1, 8), 0, 1)
    alone, asked = fit(d**2, scores.mean(axis=0)), fit(d**2, scores.mean(axis=0), scores)
    assert alone.peak_kl == asked.peak_kl
    assert alone.peak_kl_low is not None
    assert asked.peak_kl_low is not None
    assert asked.peak_kl_low < alone.peak_kl_low
    one = fit(d**2, scores.mean(axis=0), scores, np.zeros(100, dtype=np.int64))
    assert one.peak_kl is None  # one cluster says nothing of others
    twice = np.repeat(scores, 2, axis=0)
    pairs = fit(d**2, scores.mean(axis=0), twice, np.repeat(np.arange(100), 2))
    assert pairs.peak_kl_low == pytest.approx(asked.peak_kl_low)


STEP, KL = np.arange(1, 21), np.linspace(0.01, 0.2, 20)


def test_the_kl_of_a_checkpoint_is_the_median_of_the_last_rows() -> None:
    wild = KL.copy()
    wild[9] = 40.0
    assert kl_at(STEP, wild, 10) == pytest.approx(0.08)
    assert kl_at(STEP, KL, 0) == 0.0
    assert kl_at(STEP, KL, 1) == pytest.approx(0.01)


def test_what_was_not_measured_has_no_kl() -> None:
    assert kl_at(STEP, np.zeros(20), 0) is None
    assert kl_at(STEP, np.full(20, np.nan), 0) is None
    assert kl_at(STEP, KL, 21) is None
    assert kl_at(np.empty(0, dtype=np.int64), np.empty(0), 0) is None
    late = np.where(STEP > 10, KL, np.nan)
    assert kl_at(STEP, late, 5) is None


def test_enough_checkpoints_are_six() -> None:
    assert FEWEST == 6
