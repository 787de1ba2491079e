from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import pytest

from rlchecks.health import Suite, thresholds

Build = Callable[..., dict[str, Any]]


@pytest.mark.parametrize(
    ("kwargs", "expected"),
    [
        ({"max_value": 0.25}, "<= 0.25"),
        ({"max_value": 0.25, "strict_max": True}, "< 0.25"),
        ({"min_value": 10}, ">= 10"),
        ({"min_value": 0, "strict_min": True}, "> 0"),
        ({"min_value": -1, "max_value": 2}, "between -1 and 2"),
        ({"min_value": -1, "max_value": 2, "strict_max": True}, ">= -1 and < 2"),
    ],
)
def test_a_range_is_said_in_words(
    load: Callable[..., Suite], between: Build, kwargs: dict[str, Any], expected: str
) -> None:
    assert load(between("kl_end", **kwargs)).expectations[0].expected == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [([False], "false"), ([True], "true"), ([1, 2.5], "one of 1, 2.5"), (["a", "b"], "one of a, b")],
)
def test_a_set_is_said_in_words(load: Callable[..., Suite], in_set: Build, values: list[Any], expected: str) -> None:
    assert load(in_set("kl_end", values)).expectations[0].expected == expected


def test_presence_is_said_in_words(load: Callable[..., Suite], present: Build) -> None:
    assert load(present("kl_end")).expectations[0].expected == "present"


def test_thresholds_are_the_tightest_range_of_each_column(
    load: Callable[..., Suite], between: Build, in_set: Build, present: Build
) -> None:
    suite = load(
        between("kl_end", max_value=2),
        between("kl_end", max_value=1, on_failure="warn"),
        between("kl_end", min_value=-1),
        between("reward_end", min_value=0),
        present("reward_end"),
        in_set("flag", [False]),
    )
    assert thresholds(suite) == {"kl_end": (-1.0, 1.0), "reward_end": (0.0, inf)}


def test_thresholds_can_be_asked_for_by_effect(load: Callable[..., Suite], between: Build) -> None:
    suite = load(between("kl_end", max_value=2), between("kl_end", max_value=1, on_failure="warn"))
    assert thresholds(suite, "warn") == {"kl_end": (-inf, 1.0)}
    assert thresholds(suite, "hold", "reject") == {"kl_end": (-inf, 2.0)}
    assert thresholds(suite, "reject") == {}
