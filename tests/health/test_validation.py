"""Every way in which Great Expectations passes what it did not check, and what comes of it here."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from math import inf, nan
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import great_expectations as gx
import numpy as np
import pyarrow as pa
import pytest
from great_expectations.data_context.data_context.context_factory import project_manager
from great_expectations.datasource.fluent.interfaces import Batch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlchecks.health import Suite, validate

Build = Callable[..., dict[str, Any]]
Load = Callable[..., Suite]


def outcomes(suite: Suite, table: pa.Table, expectation: int = 0) -> list[str]:
    result = validate(suite, table)
    return [result.outcome(row, expectation) for row in range(table.num_rows)]


def test_only_a_value_inside_the_range_passes(load: Load, between: Build) -> None:
    table = pa.table({"kl_end": [0.5, 1.0, 1.5, None, nan, inf, -inf]})
    assert outcomes(load(between("kl_end", max_value=1)), table) == ["passed", "passed", "failed", *["missing"] * 4]


def test_infinity_passes_no_minimum(load: Load, between: Build) -> None:
    assert outcomes(load(between("kl_end", min_value=0)), pa.table({"kl_end": [inf, 1.0]})) == ["missing", "passed"]


@pytest.mark.parametrize("kind", [pa.null(), pa.float64(), pa.int64(), pa.bool_(), pa.string()])
def test_a_column_of_nulls_passes_nothing(load: Load, between: Build, in_set: Build, present: Build, kind: Any) -> None:
    suite = load(between("c", max_value=1), in_set("c", [False]), present("c"))
    result = validate(suite, pa.table({"c": pa.nulls(2, kind)}))
    assert {result.outcome(row, index) for row in range(2) for index in range(3)} == {"missing"}


def test_an_absent_column_passes_nothing(load: Load, between: Build) -> None:
    assert outcomes(load(between("kl_end", max_value=1)), pa.table({"other": [0.0, 0.0]})) == ["missing"] * 2


def test_one_sick_row_among_many_is_found(load: Load, between: Build) -> None:
    values = np.zeros(1000)
    values[617] = 2.0
    found = outcomes(load(between("kl_end", max_value=1)), pa.table({"kl_end": values}))
    assert [row for row, outcome in enumerate(found) if outcome != "passed"] == [617]


def test_missing_is_told_from_failed_and_from_not_applicable(load: Load, between: Build) -> None:
    suite = load(between("kl_end", max_value=1, on_missing="ignore"))
    table = pa.table({"kl_end": [None, nan, 2.0, 0.0]})
    assert outcomes(suite, table) == ["not_applicable", "not_applicable", "failed", "passed"]


def test_an_infinity_is_never_ignored(load: Load, between: Build) -> None:
    result = validate(load(between("kl_end", max_value=1, on_missing="ignore")), pa.table({"kl_end": [inf]}))
    check = result.checks(0)[0]
    assert (check.outcome, check.effect, check.observed) == ("missing", "hold", "inf")


def test_flags_are_checked_as_flags(load: Load, in_set: Build) -> None:
    table = pa.table({"finding": [False, True, None]})
    assert outcomes(load(in_set("finding", [False])), table) == ["passed", "failed", "missing"]


def test_texts_and_numbers_are_checked_against_a_set(load: Load, in_set: Build) -> None:
    table = pa.table({"basis": ["unit", "inferred", None], "count": [1, 2, None]})
    suite = load(in_set("basis", ["unit", "declared"]), in_set("count", [1, 3]))
    assert outcomes(suite, table, 0) == ["passed", "failed", "missing"]
    assert outcomes(suite, table, 1) == ["passed", "failed", "missing"]


def test_presence_is_missing_or_passed(load: Load, present: Build) -> None:
    assert outcomes(load(present("kl_end")), pa.table({"kl_end": [0.0, None, nan]})) == ["passed", "missing", "missing"]


def test_a_column_of_another_kind_is_an_error_that_holds(load: Load, between: Build) -> None:
    result = validate(load(between("kl_end", max_value=1, on_failure="warn")), pa.table({"kl_end": ["0.5"]}))
    check = result.checks(0)[0]
    assert (check.outcome, check.effect) == ("errored", "hold")
    assert check.note == "the column kl_end holds texts, but the suite expects numbers"


def test_an_error_of_one_expectation_leaves_the_others_alone(load: Load, between: Build) -> None:
    suite = load(between("text", max_value=1), between("kl_end", max_value=1))
    table = pa.table({"text": ["x", "y"], "kl_end": [0.0, 2.0]})
    assert outcomes(suite, table, 0) == ["errored", "errored"]
    assert outcomes(suite, table, 1) == ["passed", "failed"]


def test_results_belong_to_their_expectations_in_the_order_of_the_file(load: Load, between: Build) -> None:
    # Great Expectations returns the results of one column together, not in the order of the suite.
    suite = load(
        between("a", max_value=1), between("b", max_value=1), between("a", min_value=3), between("b", min_value=3)
    )
    result = validate(suite, pa.table({"a": [0.0], "b": [4.0]}))
    assert [result.outcome(0, index) for index in range(4)] == ["passed", "failed", "failed", "passed"]


def test_an_empty_table_has_no_outcomes(load: Load, between: Build) -> None:
    result = validate(load(between("kl_end", max_value=1)), pa.table({"kl_end": pa.array([], pa.float64())}))
    assert result.outcomes.shape == (0, 1)


# Great Expectations' answer, spoilt in ways that an error or a later release could spoil it.


@pytest.fixture
def spoil(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[list[Any]], list[Any]]], None]:
    original = Batch.validate

    def install(change: Callable[[list[Any]], list[Any]]) -> None:
        def spoilt(self: Batch, *args: Any, **kwargs: Any) -> SimpleNamespace:
            return SimpleNamespace(results=change(list(original(self, *args, **kwargs).results)))

        monkeypatch.setattr(Batch, "validate", spoilt)

    return install


def altered(**change: Any) -> Callable[[list[Any]], list[Any]]:
    def change_all(results: list[Any]) -> list[Any]:
        for result in results:
            for key, value in change.items():
                if key == "success":
                    result.success = value
                else:
                    result.result[key] = value
        return results

    return change_all


def without(key: str) -> Callable[[list[Any]], list[Any]]:
    def remove(results: list[Any]) -> list[Any]:
        for result in results:
            del result.result[key]
        return results

    return remove


def relabelled(results: list[Any]) -> list[Any]:
    for result in results:
        result.expectation_config.meta = {"index_in_file": 0}
    return results


SPOILT: dict[str, tuple[Callable[[list[Any]], list[Any]], str]] = {
    "no result": (lambda _: [], "no result"),
    "success that does not follow": (altered(success=True), "contradicts itself"),
    "a failing row not reported": (altered(unexpected_index_list=[], unexpected_count=0, success=True), "disagree"),
    "a failing row too many": (
        altered(unexpected_index_list=[0, 1], unexpected_count=2, success=False),
        "disagree",
    ),
    "another number of rows": (altered(element_count=1), "could not check"),
    "a truncated list": (altered(unexpected_count=7), "could not check"),
    "no list": (without("unexpected_index_list"), "could not check"),
    "results of one expectation": (relabelled, "belongs to another expectation"),
}


@pytest.mark.parametrize(("change", "note"), SPOILT.values(), ids=SPOILT.keys())
def test_an_answer_that_cannot_be_believed_is_an_error(
    load: Load, between: Build, spoil: Callable[..., None], change: Callable[[list[Any]], list[Any]], note: str
) -> None:
    suite = load(between("kl_end", max_value=1), between("reward_end", max_value=1))
    table = pa.table({"kl_end": [0.0, 2.0], "reward_end": [0.0, 0.0]})
    spoil(change)
    result = validate(suite, table)
    assert [result.outcome(row, 0) for row in range(2)] == ["errored", "errored"]
    assert note in result.notes[0]
    assert {check.effect for check in result.checks(0)} >= {"hold"}


def test_a_dropped_expectation_is_an_error_and_the_others_stand(
    load: Load, between: Build, spoil: Callable[..., None]
) -> None:
    suite = load(between("a", max_value=1), between("b", max_value=1))
    spoil(lambda results: [each for each in results if each.expectation_config.kwargs["column"] == "b"])
    result = validate(suite, pa.table({"a": [0.0], "b": [0.0]}))
    assert [result.outcome(0, index) for index in range(2)] == ["errored", "passed"]


def test_an_exception_is_an_error_of_every_expectation(
    load: Load, between: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("out of order")

    monkeypatch.setattr(Batch, "validate", fail)
    result = validate(load(between("kl_end", max_value=1)), pa.table({"kl_end": [0.0]}))
    assert result.outcome(0, 0) == "errored"
    assert result.notes[0] == "Great Expectations failed: RuntimeError: out of order"


def test_an_exception_inside_one_expectation_names_its_message(
    load: Load, between: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise TypeError("metric broke")

    monkeypatch.setattr(gx.expectations.core.ExpectColumnValuesToBeBetween, "_validate", fail)
    result = validate(load(between("kl_end", max_value=1)), pa.table({"kl_end": [0.0]}))
    assert result.outcome(0, 0) == "errored"
    assert "metric broke" in result.notes[0]


def test_the_context_of_a_surrounding_flow_stays_the_current_one(load: Load, between: Build) -> None:
    own = gx.get_context(mode="ephemeral")
    try:
        validate(load(between("kl_end", max_value=1)), pa.table({"kl_end": [0.0]}))
        assert project_manager.get_current_project() is own
    finally:
        project_manager.set_project(None)


def test_validation_prints_nothing_and_writes_nothing(
    write: Callable[..., Path], between: Build, tmp_path: Path
) -> None:
    suite = write(between("kl_end", max_value=1))
    empty = tmp_path / "empty"
    empty.mkdir()
    program = (
        "import sys, pathlib, pyarrow as pa\n"
        "from rlchecks.health import load_suite, validate\n"
        "result = validate(load_suite(pathlib.Path(sys.argv[1]), ['kl_end']), pa.table({'kl_end': [0.0, 2.0]}))\n"
        "assert [result.outcome(row, 0) for row in range(2)] == ['passed', 'failed']\n"
    )
    environment = {**os.environ, "TMPDIR": str(empty), "HOME": str(empty), "PYTHONDONTWRITEBYTECODE": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        [sys.executable, "-c", program, str(suite)], cwd=empty, env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(empty.iterdir()) == []


NUMBERS = st.one_of(st.none(), st.floats(), st.sampled_from([0.0, -0.0, 1.0, 0.25, 1e300, 5e-324]))
LIMITS = st.floats(-2, 2) | st.sampled_from([0.25, 0.0, 1.0])


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(NUMBERS, min_size=1, max_size=20), limits=st.tuples(LIMITS, LIMITS), strict=st.booleans())
def test_every_outcome_follows_from_the_value_alone(
    load: Load, between: Build, values: list[float | None], limits: tuple[float, float], strict: bool
) -> None:
    low, high = min(limits), max(limits)
    if low == high:
        strict = False
    suite = load(between("c", min_value=low, max_value=high, strict_min=strict, strict_max=strict))
    for value, outcome in zip(values, outcomes(suite, pa.table({"c": pa.array(values, pa.float64())})), strict=True):
        if value is None or not np.isfinite(value):
            assert outcome == "missing"
        else:
            inside = low < value < high if strict else low <= value <= high
            assert outcome == ("passed" if inside else "failed")
