from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rlchecks.readers.attempts import Attempt, interval_of, join

KEYS = frozenset({"reward"})


def attempt(first: int, last: int, keys: frozenset[str] = KEYS) -> Attempt:
    return Attempt(first, last, keys)


def test_a_resumed_log_continues_the_one_before() -> None:
    assert join([attempt(1, 57), attempt(41, 100)]) == [[0, 1]]
    assert join([attempt(1, 57), attempt(58, 80), attempt(71, 100)]) == [[0, 1, 2]]


def test_the_interval_of_logging_is_no_gap() -> None:
    assert join([attempt(10, 50), attempt(60, 100)]) == [[0, 1]]
    assert join([attempt(1, 50), attempt(60, 100)]) == [[0], [1]]


def test_what_begins_where_the_others_began_is_a_run_of_its_own() -> None:
    assert join([attempt(1, 35), attempt(1, 60)]) == [[0], [1]]
    assert join([attempt(1, 35), attempt(1, 60), attempt(41, 80)]) == [[0], [1, 2]]


def test_logs_of_other_things_are_not_joined() -> None:
    assert join([attempt(1, 57), attempt(41, 100, frozenset({"loss"}))]) == [[0], [1]]


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), max_size=8))
def test_every_attempt_is_in_one_run(spans: list[tuple[int, int]]) -> None:
    runs = join([attempt(first, first + length) for first, length in spans])
    assert sorted(place for run in runs for place in run) == list(range(len(spans)))
    assert [run[0] for run in runs] == sorted(run[0] for run in runs)


def test_a_log_that_begins_at_its_own_interval_was_begun_afresh() -> None:
    assert join([attempt(1, 100), Attempt(10, 300, KEYS, 10)]) == [[0], [1]]
    assert join([attempt(1, 100), Attempt(50, 300, KEYS, 10)]) == [[0, 1]]
    assert interval_of([30, 10, 20, 10]) == 10
    assert interval_of([7]) == 1
