"""Shards: nothing lost, nothing doubled, the order kept."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlchecks.runner import SINGLE_THREADED, LocalRunner, shards_of, single_threaded, worker_count


@given(st.lists(st.integers(), max_size=500), st.integers(1, 8), st.integers(1, 64))
def test_shards_hold_every_item_once_in_order(items: list[int], workers: int, largest: int) -> None:
    shards = shards_of(items, workers, largest)
    assert [item for shard in shards for item in shard] == items
    assert all(0 < len(shard) <= largest for shard in shards)


def test_many_items_keep_every_worker_busy_and_few_are_not_torn() -> None:
    assert len(shards_of(range(1000), 2, 250)) == 4
    assert len(shards_of(range(6), 8, 250)) == 1


def double(value: int) -> int:
    return 2 * value


def threads(_: int) -> str | None:
    return os.environ.get("OMP_NUM_THREADS")


def fail(_: int) -> int:
    raise ValueError("no")


@pytest.mark.parametrize("workers", [1, 2])
def test_map_keeps_the_order_and_tells_what_is_done(workers: int) -> None:
    done: list[int] = []
    assert LocalRunner().map(double, [3, 1, 2], workers, done.append) == [6, 2, 4]
    assert done == [3, 1, 2]


def test_workers_use_one_thread_each() -> None:
    assert LocalRunner().map(threads, [1, 2], 2) == ["1", "1"]


def test_a_failing_shard_is_not_lost() -> None:
    with pytest.raises(ValueError, match="no"):
        LocalRunner().map(fail, [1, 2], 2)


def test_the_environment_is_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    with single_threaded():
        assert {os.environ[name] for name in SINGLE_THREADED} == {"1"}
    assert os.environ["OMP_NUM_THREADS"] == "4"
    assert "MKL_NUM_THREADS" not in os.environ


def test_there_is_always_a_worker() -> None:
    assert worker_count(None) >= 1
    assert worker_count(3) == 3
