"""One run that was logged twice."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rlchecks.ingest.twins import Sketch, Twin, agree, find_twins, sketch

Series = NDArray[np.float64]


def steps(rewards: Sequence[float | None]) -> pa.Table:
    return pa.table({"split": ["train"] * len(rewards), "reward": pa.array(rewards, pa.float64())})


def twins(**series: Sequence[float]) -> dict[str, str]:
    known = {name: np.asarray(values, dtype=float) for name, values in series.items()}
    sketches = {name: sketch(steps(list(values))) for name, values in series.items()}
    return {
        late: twin.original
        for late, twin in find_twins(sketches, {name: name for name in series}, lambda _: known).items()
    }


def random(seed: int, length: int = 100, scale: float = 1.0) -> Series:
    return np.random.default_rng(seed).normal(0.3, 0.2, length) * scale


@pytest.mark.parametrize("scale", [1e-3, 1.0, 20.0, 1e4])
def test_rounding_does_not_hide_a_twin(scale: float) -> None:
    exact = random(1, scale=scale)
    written = [exact.astype(np.float32).tolist(), [float(f"{one:.4g}") for one in exact]]
    if scale >= 1:
        written.append([round(one, 4) for one in exact])
    for printed in written:
        other = random(2, scale=scale).tolist()
        assert twins(exact=exact.tolist(), other=other, printed=printed) == {"printed": "exact"}


def test_a_log_that_ends_earlier_is_a_twin_and_one_that_differs_at_all_is_none() -> None:
    whole = random(1)
    differs = whole.copy()
    differs[60] += 0.01
    assert twins(a=whole.tolist(), b=whole[:70].tolist(), c=differs.tolist(), d=differs[:60].tolist()) == {
        "b": "a",
        "d": "a",
    }


def test_the_first_of_many_is_named() -> None:
    one = random(3).tolist()
    assert twins(a=one, b=one, c=one) == {"b": "a", "c": "a"}


def test_the_longest_of_many_is_named() -> None:
    one = random(3).tolist()
    assert twins(a=one[:40], b=one, c=one) == {"a": "b", "c": "b"}


@pytest.mark.parametrize(
    "rewards",
    [
        [],
        [0.5] * 100,
        [0.0] * 99 + [1.0],
        [0.1, 0.2, 0.3, 0.4],
        [0.0, 1.0] * 50,
        [0.1, 0.10001, 0.10002, 0.10003, 0.10004, 0.10005],
        [float("nan")] * 20,
        [float("inf"), 0.1, 0.2, 0.3, 0.4],
    ],
)
def test_rewards_that_say_too_little_make_no_twins(rewards: list[float]) -> None:
    assert twins(a=rewards, b=rewards) == {}


def test_five_different_rewards_are_enough() -> None:
    assert twins(a=[0.1, 0.2, 0.3, 0.4, 0.5], b=[0.1, 0.2, 0.3, 0.4, 0.5]) == {"b": "a"}


def test_a_run_that_starts_at_the_floor_is_told_by_its_end() -> None:
    late = [*[0.0] * 50, *random(1, 50).tolist()]
    other = [*[0.0] * 50, *random(2, 50).tolist()]
    assert twins(a=late, b=late, c=other) == {"b": "a"}


def test_missing_and_infinite_rewards_agree_with_themselves_only() -> None:
    for at in (3, 40):
        for value in (np.inf, -np.inf, np.nan):
            odd = random(1)
            odd[at] = value
            assert twins(a=odd.tolist(), b=odd.tolist(), c=random(1).tolist()) == {"b": "a"}
    assert sketch(steps([0.1, None, 0.2])) == Sketch(2, (0.1, 0.2), (0.1, 0.2))


@given(st.lists(st.floats(-10, 10), min_size=5, max_size=40), st.lists(st.floats(-10, 10), min_size=5, max_size=40))
def test_agreement_is_mutual(one: list[float], other: list[float]) -> None:
    assert agree(np.array(one), np.array(other)) == agree(np.array(other), np.array(one))


def test_no_runs_and_one_run_have_no_twins() -> None:
    assert twins() == {}
    assert twins(a=random(1).tolist()) == {}


def test_what_the_archive_cannot_give_is_no_twin() -> None:
    told = sketch(steps(random(1).tolist()))
    assert find_twins({"a": told, "b": told}, {"a": 1, "b": 2}, lambda ids: {}) == {}


def test_runs_of_one_place_are_different_runs_whatever_they_log() -> None:
    rewards = random(1)
    told = sketch(steps(rewards.tolist()))
    known = dict.fromkeys("abc", rewards)
    assert find_twins(dict.fromkeys("abc", told), {"a": 1, "b": 1, "c": 2}, lambda ids: known) == {
        "c": Twin("a", 100, 100)
    }


def test_the_remark_says_how_far_they_agree() -> None:
    assert Twin("a", 9, 9).remark == "the same rewards as a: probably one run logged twice"
    assert Twin("a", 7, 9).remark == (
        "the same rewards as a in the 7 steps that both have (of 9): probably one run logged twice, or begun again"
    )
