"""The answers that the grader liked best: to be read before a reward near the top is believed."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow.compute as pc

from rlchecks.report.format import finite, number
from rlchecks.report.inert import block
from rlchecks.run import RunLog

_LONGEST = 1200


class Answer(NamedTuple):
    """One logged answer: its step, prompt and text, and its score in words."""

    step: int
    prompt: str
    answer: str
    score: str


def best_scored(run: RunLog, most: int = 4) -> list[Answer]:
    """The best-scored answers of the last step with logged answers, at most one per prompt.

    The score is the sum of the reward functions' raw scores. Answers without a finite score are left out; ties keep
    the order of the log.
    """
    table = run.completions.filter(pc.equal(run.completions["split"], "train"))
    if table.num_rows == 0:
        return []
    last = table.filter(pc.equal(table["step"], pc.max(table["step"])))
    scored = []
    for row in last.select(["step", "prompt", "completion", "rewards"]).to_pylist():
        scores = [score for _, value in row["rewards"] or () if (score := finite(value)) is not None]
        if scores:
            scored.append((sum(scores), row))
    scored.sort(key=lambda pair: -pair[0])
    chosen: dict[str | None, Answer] = {}
    for score, row in scored:
        if len(chosen) < most and row["prompt"] not in chosen:
            chosen[row["prompt"]] = Answer(
                row["step"], block(row["prompt"], _LONGEST), block(row["completion"], _LONGEST), number(score)
            )
    return list(chosen.values())
