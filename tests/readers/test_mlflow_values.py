from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rlchecks.readers.mlflow_meta import parse_meta
from rlchecks.readers.mlflow_values import Arranged, Values, arrange


def arranged(logged: Sequence[tuple[str, int, float]]) -> Arranged:
    """Arrange (key, step, value) in the order of logging; a key that begins with r is the reward."""
    names = sorted({key for key, _, _ in logged})
    values = Values(
        names,
        np.array([names.index(key) for key, _, _ in logged], np.int64),
        np.array([step for _, step, _ in logged], np.int64),
        np.array([value for _, _, value in logged], np.float64),
    )
    return arrange(values, lambda key: key.startswith("r"))


def rows_of(*logged: tuple[str, int, float]) -> list[dict[str, Any]]:
    return [dict(row) for row in arranged(logged).rows]


def test_values_of_a_step_are_a_row() -> None:
    assert rows_of(("r", 1, 0.1), ("kl", 1, 0.2), ("r", 2, 0.3), ("kl", 2, 0.4)) == [
        {"step": 1, "r": 0.1, "kl": 0.2},
        {"step": 2, "r": 0.3, "kl": 0.4},
    ]


def test_a_step_that_is_logged_again_is_a_row_after_the_others() -> None:
    assert rows_of(("r", 1, 0.1), ("kl", 1, 0.1), ("r", 2, 0.2), ("r", 1, 0.3), ("kl", 1, 0.3), ("r", 2, 0.4)) == [
        {"step": 1, "r": 0.1, "kl": 0.1},
        {"step": 2, "r": 0.2},
        {"step": 1, "r": 0.3, "kl": 0.3},
        {"step": 2, "r": 0.4},
    ]


def test_what_only_the_later_attempt_logs_belongs_to_it() -> None:
    assert rows_of(("r", 1, 0.1), ("r", 2, 0.2), ("r", 1, 0.3), ("entropy", 1, 0.4)) == [
        {"step": 1, "r": 0.1},
        {"step": 2, "r": 0.2},
        {"step": 1, "r": 0.3, "entropy": 0.4},
    ]


def test_a_value_that_comes_late_belongs_to_its_step() -> None:
    assert rows_of(("r", 1, 0.1), ("r", 2, 0.2), ("val", 1, 0.3), ("r", 3, 0.4)) == [
        {"step": 1, "r": 0.1, "val": 0.3},
        {"step": 2, "r": 0.2},
        {"step": 3, "r": 0.4},
    ]


def test_of_what_is_logged_twice_at_once_the_last_counts() -> None:
    made = arranged([("r", 1, 0.1), ("kl", 1, 0.2), ("r", 1, 0.3), ("r", 2, 0.4)])
    assert [dict(row) for row in made.rows] == [{"step": 1, "r": 0.3, "kl": 0.2}, {"step": 2, "r": 0.4}]
    assert made.warnings == ("1 value logged again at once for the same step: the last is kept",)


def test_without_steps_a_row_ends_where_a_key_comes_again() -> None:
    made = arranged([("r", 0, 0.1), ("kl", 0, 0.2), ("r", 0, 0.3), ("kl", 0, 0.4), ("val", 0, 0.5), ("r", 0, 0.6)])
    assert [dict(row) for row in made.rows] == [
        {"step": 1, "r": 0.1, "kl": 0.2},
        {"step": 2, "r": 0.3, "kl": 0.4, "val": 0.5},
        {"step": 3, "r": 0.6},
    ]
    assert made.warnings == ("6 values logged without a step ('kl', 'r', 'val'): numbered in the order of logging",)


def test_values_without_steps_among_others_are_left_out() -> None:
    made = arranged([("r", 1, 0.1), ("probe", 0, 7.0), ("r", 2, 0.2), ("probe", 0, 8.0), ("size", 0, 9.0)])
    assert [dict(row) for row in made.rows] == [{"step": 1, "r": 0.1}, {"step": 2, "r": 0.2}, {"step": 0, "size": 9.0}]
    assert made.warnings == ("2 values logged without a step ('probe'): left out",)


def test_a_reward_without_steps_is_numbered_among_others() -> None:
    made = arranged([("r", 0, 0.1), ("val", 1, 0.5), ("r", 0, 0.2), ("val", 2, 0.6)])
    assert [dict(row) for row in made.rows] == [{"step": 1, "r": 0.1, "val": 0.5}, {"step": 2, "r": 0.2, "val": 0.6}]


def test_a_run_of_step_0_alone_is_one_row() -> None:
    assert rows_of(("r", 0, 0.1), ("kl", 0, 0.2)) == [{"step": 0, "r": 0.1, "kl": 0.2}]


def test_a_key_named_step_stays_what_it_is() -> None:
    assert rows_of(("r", 5, 0.1), ("step", 5, 50.0)) == [{"_step": 5, "r": 0.1, "step": 50.0}]
    assert rows_of(("r", 5, 0.1), ("step", 5, 50.0), ("_step", 5, 7.0)) == [
        {"step!": 5, "r": 0.1, "step": 50.0, "_step": 7.0}
    ]


def test_nothing_logged_is_no_row() -> None:
    assert rows_of() == []


@given(st.lists(st.tuples(st.sampled_from(["r", "kl", "val"]), st.integers(1, 6)), max_size=60))
def test_no_value_is_lost_but_those_that_are_told(logged: list[tuple[str, int]]) -> None:
    made = arranged([(key, step, float(place)) for place, (key, step) in enumerate(logged)])
    kept = [(key, row["step"], value) for row in made.rows for key, value in row.items() if key != "step"]
    assert all(logged[int(value)] == (key, step) for key, step, value in kept)  # type: ignore[call-overload]
    told = sum(int(warning.split()[0]) for warning in made.warnings)
    assert len(kept) == len({value for _, _, value in kept}) == len(logged) - told
    last = {pair: float(place) for place, pair in enumerate(logged)}
    final: dict[tuple[str, Any], Any] = {}
    for key, step, value in kept:
        final[key, step] = value
    assert final == last


def test_descriptions_as_pyyaml_writes_them() -> None:
    text = """\
artifact_uri: file:///data/mlruns/0/a
end_time: null
experiment_id: '0'
lifecycle_stage: active
name: 'it''s: a #name'
run_name: a name that is so long that it had to be broken
  at a space
source_name: "tab\\tand \\xE9 and \\u20AC and \\U0001F600 and \\
  \\ more"
status: 3
tags: []
user_id: user
lists:
- x: 1
  y: 2
"""
    fields = parse_meta(text)
    assert fields["end_time"] == fields["tags"] == ""
    assert fields["experiment_id"] == "0"
    assert fields["name"] == "it's: a #name"
    assert fields["run_name"] == "a name that is so long that it had to be broken at a space"
    assert fields["source_name"] == "tab\tand é and € and 😀 and  more"
    assert fields["status"] == "3"


@given(st.text(max_size=200))
def test_no_description_is_too_odd(text: str) -> None:
    assert all(isinstance(value, str) for value in parse_meta(text).values())
    for quoted in (f'name: "{text}"', f"name: '{text}'"):
        assert isinstance(parse_meta(quoted).get("name", ""), str)
