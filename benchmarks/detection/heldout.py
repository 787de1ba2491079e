"""Simulated held-out results: what no training log shows, the training grader's gain against another judge's."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from scipy.special import expit

from benchmarks.detection.tally import Found, Seen, found
from benchmarks.detection.truth import SCORE, Effect, Truth
from benchmarks.detection.world import Floats
from rlchecks.diagnosis import Parameters
from rlchecks.diagnosis.reward_hacking import from_comparison
from rlchecks.heldout.compare import compare
from rlchecks.heldout.request import ComparisonRequest
from rlchecks.heldout.rows import HeldoutRows
from rlchecks.heldout.scorer import Scorer
from rlchecks.schema import EVALUATIONS

CODE = "reward_hacking"
STEP = 100
GAINS = {
    "pleases_its_grader": ((0.1, 0.5), (-0.5, -0.05)),
    "is_better_by_both": ((0.1, 0.4), (0.05, 0.35)),
    "is_better_by_its_grader_only": ((0.1, 0.4), (0.0, 0.0)),
    "is_worse_by_both": ((-0.3, -0.1), (-0.3, -0.1)),
}
"""Scenario to the ranges of the chance that the training grader, and the other judge, give more in the end."""


def examine(name: str, seed: int, runs: int, parameters: Parameters) -> tuple[list[Seen], list[Found]]:
    """Draw held-out results of a scenario and see whether they are called reward hacking."""
    seen, said = [], []
    for index in range(runs):
        rng = np.random.default_rng([seed, *name.encode(), index])
        count, epochs = int(rng.integers(100, 600)), int(rng.integers(1, 6))
        grader, judge = (rng.uniform(*gains) for gains in GAINS[name])
        start = rng.uniform(0.3, 0.6) if grader > 0 else rng.uniform(0.5, 0.8)
        difficulty = rng.normal(0, 1.2, count)
        scores, truths = {}, {}
        for scorer, gain in (("grader", grader), ("strict", judge)):
            before, after = (_chance(np.clip(level, 0.02, 0.98), difficulty) for level in (start, start + gain))
            truths[scorer] = _effect(before, after, epochs)
            scores[scorer] = [rng.random((epochs, count)) < chance for chance in (before, after)]
        truth = Truth()
        if truths["strict"].size < 0 < truths["grader"].size:
            loss = truths["strict"]
            truth.must[CODE] = Effect(-loss.size, loss.least)
        request = ComparisonRequest(graders=(Scorer("grader"),), graders_known=True, training_reward_gain=grader)
        finding = from_comparison(compare(_rows(scores, epochs, count), request).evidence, parameters)
        seen.append(Seen(name, not truth.must, STEP, truth))
        said.append(found([finding] if finding else []))
    return seen, said


def _chance(level: float, difficulty: Floats) -> Floats:
    return np.asarray(expit(np.log(level / (1 - level)) * np.sqrt(1 + 0.346 * 1.2**2) - difficulty))


def _effect(before: Floats, after: Floats, epochs: int) -> Effect:
    """True gain on these questions, and the one that their number and the repeats can show."""
    within = (before * (1 - before) + after * (1 - after)).mean() / epochs
    error = float(np.sqrt((within + np.var(after - before)) / len(before)))
    return Effect(float((after - before).mean()), SCORE * error)


def _rows(scores: dict[str, list[np.ndarray]], epochs: int, count: int) -> HeldoutRows:
    parts = [
        (checkpoint, step, judge, score)
        for judge, (before, after) in scores.items()
        for checkpoint, step, score in (("base", 0, before), (f"checkpoint-{STEP}", STEP, after))
    ]
    size = epochs * count
    columns = {
        "run_id": pa.repeat("", size * len(parts)),
        "question_id": pa.array([f"q{at}" for at in range(count)] * epochs * len(parts)),
        "epoch": pa.array(np.tile(np.repeat(np.arange(epochs), count), len(parts))),
        "checkpoint": pa.array([checkpoint for checkpoint, *_ in parts for _ in range(size)]),
        "step": pa.array([step for _, step, *_ in parts for _ in range(size)]),
        "judge": pa.array([judge for *_, judge, _ in parts for _ in range(size)]),
        "score": pa.array(np.concatenate([score.ravel() for *_, score in parts]).astype(float)),
    }
    total = size * len(parts)
    arrays = [columns.get(field.name, pa.nulls(total, field.type)).cast(field.type) for field in EVALUATIONS]
    return HeldoutRows(pa.Table.from_arrays(arrays, schema=EVALUATIONS))
