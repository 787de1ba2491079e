from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlchecks.report import series, tables
from rlchecks.report.series import Series
from rlchecks.run import RunLog
from rlchecks.schema import VALIDATION

MakeRun = Callable[..., RunLog]
VALUES = st.lists(st.one_of(st.none(), st.floats()), max_size=300)


def of(values: list[float]) -> Series:
    return Series(np.arange(len(values), dtype=float), np.array(values), np.empty(0))


def test_absent_and_non_finite_values_are_gaps_and_only_the_logged_ones_are_flaws(make_run: MakeRun) -> None:
    run = make_run([{"step": s, "reward": v} for s, v in enumerate([0.5, None, math.nan, math.inf, 0.7])])
    reward = series.metric(run, "reward")
    assert np.isnan(reward.values).tolist() == [False, True, True, True, False]
    assert reward.flawed.tolist() == [2.0, 3.0]


def test_evaluation_rows_are_no_training_rows(make_run: MakeRun) -> None:
    run = make_run([{"step": 1, "reward": 0.1}, {"step": 1, "reward": 0.9, "split": "eval"}])
    assert series.metric(run, "reward").values.tolist() == [0.1]
    assert series.validation(run).values.tolist() == [0.9]


def test_reward_functions_come_from_the_extra_keys_and_are_limited(make_run: MakeRun) -> None:
    extra = [(f"reward/f{n}", n / 10) for n in range(9)] + [("reward_std/f0", 1.0), ("lr", 1.0)]
    found, more = series.reward_functions(make_run([{"step": 1, "extra": extra}, {"step": 2}]), 6)
    assert list(found) == [f"f{n}" for n in range(6)]
    assert more == 3
    assert found["f2"].values.tolist() == pytest.approx([0.2, math.nan], nan_ok=True)


def test_a_logged_validation_mean_wins_over_its_questions(make_run: MakeRun) -> None:
    def checks(*rows: dict[str, Any]) -> RunLog:
        table = pa.Table.from_pylist([{"run_id": "toy-1", "step": 5, **row} for row in rows], VALIDATION)
        return make_run([{"step": 1}], validation=table)

    questions = [{"question_id": "a", "score": 0.2}, {"question_id": "b", "score": 0.6}]
    assert series.validation(checks(*questions)).values.tolist() == pytest.approx([0.4])
    assert series.validation(checks(*questions, {"score": 0.9})).values.tolist() == [0.9]
    by_grader = [{"question_id": "a", "grader": "g", "score": 0.1}, *questions]
    assert series.validation(checks(*by_grader)).values.tolist() == pytest.approx([0.4])


def test_thinning_keeps_the_range_of_each_block() -> None:
    values = [0.0] * 100_000
    values[50_000] = 7.0
    thinned = series.thin(of(values), 500)
    assert len(thinned.mean) == 500
    assert thinned.reduced
    assert thinned.high.max() == 7.0
    assert thinned.mean.max() == pytest.approx(7.0 / 200)


@given(VALUES, st.integers(1, 50))
def test_thinned_means_lie_within_their_block_and_are_all_finite(values: list[float | None], most: int) -> None:
    numbers = np.array([math.nan if v is None or not math.isfinite(v) else v for v in values], dtype=float)
    thinned = series.thin(
        Series(np.arange(len(numbers), dtype=float), np.clip(numbers, -1e300, 1e300), np.empty(0)), most
    )
    assert len(thinned.mean) <= most
    assert np.isfinite(thinned.mean).all()
    slack = 1e-9 * np.maximum(np.abs(thinned.low), np.abs(thinned.high))
    assert (thinned.mean >= thinned.low - slack).all()
    assert (thinned.mean <= thinned.high + slack).all()
    assert len(thinned.mean) >= (1 if np.isfinite(numbers).any() else 0)


@given(st.lists(st.floats(-1e300, 1e300), min_size=20, max_size=200))
def test_a_trend_stays_within_the_data(values: list[float]) -> None:
    smooth = series.trend(np.array(values))
    assert smooth is not None
    assert min(values) <= smooth.min() <= smooth.max() <= max(values)


def test_the_trend_of_a_line_is_the_line_and_few_points_have_none() -> None:
    line = np.arange(60, dtype=float)
    smooth = series.trend(line)
    assert smooth is not None
    assert smooth[5:-5] == pytest.approx(line[5:-5])
    assert series.trend(np.arange(19, dtype=float)) is None


def test_lines_break_at_missing_steps_and_not_at_regular_spacing() -> None:
    assert [(p.start, p.stop) for p in series.segments(np.array([1.0, 2, 3, 5, 6]))] == [(0, 3), (3, 5)]
    assert len(series.segments(np.arange(10.0) * 10)) == 1
    assert series.segments(np.empty(0)) == []
    assert len(series.segments(np.array([4.0, 4.0, 4.0, 5.0]))) == 1


def test_a_table_has_at_most_thirty_rows_and_names_the_stretches() -> None:
    table = tables.of({"reward": of([0.5] * 100), "share": of([0.25] * 99 + [math.nan])}, {"share"})
    assert len(table.rows) <= 30
    assert table.header == ["steps", "reward", "share"]
    assert table.rows[0] == ["0 to 3", "0.500", "25%"]
    assert tables.of({"x": of([math.nan])}).rows == [["0", "–"]]
    assert tables.of({"x": of([])}).rows == []
