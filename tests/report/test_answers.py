from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from rlchecks.report.answers import best_scored
from rlchecks.run import RunLog
from rlchecks.schema import COMPLETIONS


def with_answers(make_run: Callable[..., RunLog], *rows: dict[str, Any]) -> RunLog:
    complete = [
        {"run_id": "toy-1", "split": "train", "step": 1, "prompt": "p", "completion": "c", **row} for row in rows
    ]
    return make_run([], completions=pa.Table.from_pylist(complete, COMPLETIONS))


def test_the_best_answers_of_the_last_logged_step_are_shown(run: RunLog) -> None:
    best = best_scored(run, 2)
    assert [(one.step, one.answer, one.score) for one in best] == [(40, "answer 5", "0.500"), (40, "answer 4", "0.400")]


def test_a_prompt_is_shown_once_and_unscored_answers_not_at_all(make_run: Callable[..., RunLog]) -> None:
    run = with_answers(
        make_run,
        {"prompt": "a", "completion": "worse", "rewards": [("f", 0.1)]},
        {"prompt": "a", "completion": "better", "rewards": [("f", 0.2), ("g", 0.5)]},
        {"prompt": "b", "completion": "broken", "rewards": [("f", math.nan)]},
        {"prompt": "c", "completion": "unscored", "rewards": []},
        {"prompt": "d", "completion": "of the evaluation", "rewards": [("f", 9.0)], "split": "eval", "step": 2},
    )
    assert [(one.answer, one.score) for one in best_scored(run)] == [("better", "0.700")]


def test_without_answers_there_are_none(make_run: Callable[..., RunLog]) -> None:
    assert best_scored(make_run([])) == []


def test_long_answers_are_cut_and_keep_their_lines(make_run: Callable[..., RunLog]) -> None:
    (one,) = best_scored(with_answers(make_run, {"completion": "a\nb" + "x" * 100_000, "rewards": [("f", 1.0)]}))
    assert one.answer.startswith("a\nb")
    assert len(one.answer) < 2000
