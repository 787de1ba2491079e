from __future__ import annotations

import numpy as np
import pytest

from rlchecks.heldout.corrected import MIN_LABELLED, prediction_powered, rogan_gladen

REPETITIONS = 600
# Three Monte Carlo errors of a coverage of .95 below it.
LEAST = 0.95 - 3 * (0.95 * 0.05 / REPETITIONS) ** 0.5


def test_prediction_powered_is_the_judges_mean_and_what_people_say_beyond_it() -> None:
    labels, judged = np.arange(20) / 20, np.arange(20) / 40
    alone = np.linspace(0.2, 0.6, 30)
    found = prediction_powered(labels, judged, alone)
    assert found.estimate == pytest.approx(alone.mean() + (labels - judged).mean())
    # Large samples: the normal interval of Angelopoulos et al. 2023, algorithm 1.
    many = prediction_powered(np.tile(labels, 500), np.tile(judged, 500), np.tile(alone, 500))
    error = ((np.tile(labels - judged, 500)).var() / 1e4 + np.tile(alone, 500).var() / 1.5e4) ** 0.5
    assert many.upper - many.estimate == pytest.approx(1.959964 * error, rel=1e-3)


def test_prediction_powered_covers_however_biased_the_judge_is() -> None:
    drawn = np.random.default_rng(5)
    hits = 0
    for _ in range(REPETITIONS):
        truth = drawn.normal(0.3, 1.0, 200)
        judge = 0.6 * truth + 0.5 + drawn.normal(0, 0.4, 200)
        found = prediction_powered(truth[:25], judge[:25], judge[25:])
        hits += found.lower <= 0.3 <= found.upper
    assert hits / REPETITIONS >= LEAST


@pytest.mark.parametrize(("share", "sensitivity", "specificity"), [(0.4, 0.85, 0.75), (0.9, 0.7, 0.9)])
def test_rogan_gladen_covers(share: float, sensitivity: float, specificity: float) -> None:
    drawn = np.random.default_rng(6)
    hits = 0
    for _ in range(REPETITIONS):
        truth = drawn.random(400) < share
        judge = np.where(truth, drawn.random(400) < sensitivity, drawn.random(400) > specificity)
        found = rogan_gladen(truth[:100], judge[:100], judge[100:])
        hits += found.lower <= share <= found.upper
    assert hits / REPETITIONS >= LEAST


def test_rogan_gladen_is_exact_for_known_rates() -> None:
    # 80 of 100 right ones called right, 90 of 100 wrong ones called wrong, 45 of 100 others called right.
    labels = np.repeat([1, 0], 100)
    judged = np.concatenate([np.repeat([1, 0], [80, 20]), np.repeat([0, 1], [90, 10])])
    found = rogan_gladen(labels, judged, np.repeat([1, 0], [45, 55]))
    assert found.estimate == pytest.approx((0.45 + 0.9 - 1) / (0.8 + 0.9 - 1))
    assert 0 <= found.lower < found.estimate < found.upper <= 1


def test_what_is_undefined_has_a_reason() -> None:
    few, many = np.zeros(MIN_LABELLED - 1), np.arange(40) % 2
    assert prediction_powered(few, few, many).reason == "fewer than 10 questions are labelled"
    assert prediction_powered(many, many, few).reason == "fewer than 10 questions are unlabelled"
    same = prediction_powered(many, many, many)
    assert (same.estimate, same.lower) == (pytest.approx(0.5), None)
    assert "no variance" in (same.reason or "")
    assert rogan_gladen(np.ones(40), many, many).reason == "people call no answer wrong"
    assert rogan_gladen(np.zeros(40), many, many).reason == "people call no answer right"
    assert "cannot tell right from wrong" in (rogan_gladen(many, 1 - many, many).reason or "")
    assert rogan_gladen(many, many, few).estimate is None
    assert rogan_gladen([], [], []).estimate is None
