from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from rlchecks.health import Suite, validate

Build = Callable[..., dict[str, Any]]


@pytest.mark.parametrize(
    ("value", "on_failure", "on_missing", "effect"),
    [
        (0.5, "reject", "hold", "pass"),
        (2.0, "reject", "hold", "reject"),
        (2.0, "hold", "ignore", "hold"),
        (2.0, "warn", "hold", "warn"),
        (None, "reject", "hold", "hold"),
        (None, "reject", "warn", "warn"),
        (None, "reject", "ignore", "ignore"),
    ],
)
def test_the_suite_alone_says_what_an_outcome_means(
    load: Callable[..., Suite], between: Build, value: float | None, on_failure: str, on_missing: str, effect: str
) -> None:
    suite = load(between("kl_end", max_value=1, on_failure=on_failure, on_missing=on_missing))
    table = pa.table({"kl_end": pa.array([value], pa.float64())})
    assert validate(suite, table).checks(0)[0].effect == effect


def test_a_check_carries_all_that_a_report_needs(load: Callable[..., Suite], between: Build) -> None:
    expectation = between("margin", min_value=0, strict_min=True)
    expectation["meta"] |= {"code": "gain_not_confirmed", "code_passed": "gain_confirmed"}
    result = validate(load(expectation), pa.table({"margin": [-0.25, 0.5]}))
    failed, passed = result.checks(0)[0], result.checks(1)[0]
    assert (failed.suite, failed.column, failed.code) == ("a suite", "margin", "gain_not_confirmed")
    assert (failed.observed, failed.expected, failed.note) == (-0.25, "> 0", "")
    assert (failed.title, failed.why, failed.advice) == ("What is looked at.", "Why that is the limit.", "What to do.")
    assert (passed.code, passed.observed) == ("gain_confirmed", 0.5)


def test_the_observed_value_keeps_its_kind(load: Callable[..., Suite], between: Build, in_set: Build) -> None:
    suite = load(
        between("count", min_value=1), in_set("flag", [False]), in_set("text", ["a"]), between("gone", min_value=1)
    )
    checks = validate(suite, pa.table({"count": [3], "flag": [True], "text": ["b"]})).checks(0)
    assert [check.observed for check in checks] == [3, True, "b", None]
    assert isinstance(checks[0].observed, int)


def test_a_result_survives_the_way_to_another_process(load: Callable[..., Suite], between: Build) -> None:
    result = validate(load(between("kl_end", max_value=1)), pa.table({"kl_end": [0.5, 2.0]}))
    assert pickle.loads(pickle.dumps(result)).checks(1) == result.checks(1)
