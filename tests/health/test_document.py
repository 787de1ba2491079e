from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from rlchecks.errors import SuiteError
from rlchecks.health import Suite, load_suite

Build = Callable[..., dict[str, Any]]
KNOWN = ("kl_end", "reward_end", "reward_gain", "clipped_ratio_late")


def test_a_suite_keeps_the_order_and_every_argument_of_the_file(
    write: Callable[..., Path], between: Build, in_set: Build, present: Build
) -> None:
    path = write(
        between("kl_end", max_value=2, strict_max=True, on_failure="warn", on_missing="ignore"),
        present("reward_end"),
        in_set("reward_gain", [1, 2.5]),
    )
    suite = load_suite(path, KNOWN)
    assert suite.name == "a suite"
    assert suite.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    first, second, third = suite.expectations
    assert (first.column, dict(first.kwargs)) == ("kl_end", {"max_value": 2.0, "strict_max": True})
    assert (first.on_failure, first.on_missing, first.severity) == ("warn", "ignore", "warning")
    assert (first.title, first.why, first.advice) == ("What is looked at.", "Why that is the limit.", "What to do.")
    assert second.type == "expect_column_values_to_not_be_null"
    assert third.value_set == (1.0, 2.5)


def test_the_reason_code_defaults_to_the_column_and_can_be_given(load: Callable[..., Suite], between: Build) -> None:
    plain, named = between("kl_end", max_value=1), between("reward_gain", min_value=0)
    named["meta"] |= {"code": "gain_not_confirmed", "code_passed": "gain_confirmed"}
    first, second = load(plain, named).expectations
    assert (first.code, first.code_passed) == ("health_kl_end", "health_kl_end")
    assert (second.code, second.code_passed) == ("gain_not_confirmed", "gain_confirmed")


def test_two_levels_on_one_column_are_two_expectations(load: Callable[..., Suite], between: Build) -> None:
    suite = load(between("kl_end", max_value=1, on_failure="warn"), between("kl_end", max_value=2))
    assert [spec.limits[1] for spec in suite.expectations] == [1.0, 2.0]


def test_what_great_expectations_adds_to_its_json_is_accepted(write: Callable[..., Path], present: Build) -> None:
    extra = {"id": None, "meta": {"great_expectations_version": "1.24.1"}, "notes": None}
    expectation = present("kl_end") | {"id": "0f", "notes": "seen", "description": None}
    assert len(load_suite(write(expectation, **extra), KNOWN).expectations) == 1


def test_a_byte_order_mark_is_no_obstacle(write: Callable[..., Path], present: Build) -> None:
    path = write(present("kl_end"))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert load_suite(path, KNOWN).expectations[0].column == "kl_end"


# What Great Expectations 1.24 drops, skips or weakens without a word, and contradictions.
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "mostly": ({"kwargs": {"mostly": 0.5}}, "kwargs.mostly is refused: it would pass a column with failing rows"),
    "mostly of one": ({"kwargs": {"mostly": 1}}, "kwargs.mostly is refused"),
    "row condition": (
        {"kwargs": {"row_condition": "a > 1"}},
        "kwargs.row_condition is refused: a condition that matches",
    ),
    "condition parser": ({"kwargs": {"condition_parser": "pandas"}}, "kwargs.condition_parser is refused"),
    "parameter": ({"kwargs": {"max_value": {"$PARAMETER": "limit"}}}, r"a \$PARAMETER is refused.*write the value"),
    "unknown argument": ({"kwargs": {"maximum": 1}}, "kwargs.maximum is no key that is known here"),
    "bad severity": ({"severity": "fatal"}, 'severity must be "critical" to agree with on_failure "hold"'),
    "severity of another effect": ({"severity": "warning"}, 'severity must be "critical"'),
    "no severity": ({"severity": ...}, "severity is required"),
    "unknown type": (
        {"type": "expect_column_values_to_be_nice"},
        "unknown type 'expect_column_values_to_be_nice'; known",
    ),
    "aggregate": (
        {"type": "expect_column_mean_to_be_between"},
        "unknown type 'expect_column_mean_to_be_between'; known",
    ),
    "no type": ({"type": ...}, "type is required: one of expect_column_values"),
    "text for a number": (
        {"kwargs": {"max_value": "1"}},
        "kwargs.max_value: input should be a valid number, found '1'",
    ),
    "flag for a number": ({"kwargs": {"max_value": True}}, "kwargs.max_value: .* found True"),
    "huge number": ({"kwargs": {"max_value": 10**400}}, "kwargs.max_value"),
    "no limit": ({"kwargs": {"max_value": ...}}, "kwargs: min_value or max_value is required"),
    "no limit but null": ({"kwargs": {"max_value": None}}, "min_value or max_value is required"),
    "limits in the wrong order": ({"kwargs": {"min_value": 3}}, "min_value 3 is above max_value 1"),
    "limits that exclude all": ({"kwargs": {"min_value": 1, "strict_min": True}}, "no value can satisfy it"),
    "no column": ({"kwargs": {"column": ...}}, "kwargs.column is required"),
    "no meta": ({"meta": ...}, "meta is required"),
    "no effect": ({"meta": {"on_failure": ...}}, "meta.on_failure is required"),
    "no effect of absence": ({"meta": {"on_missing": ...}}, "meta.on_missing is required"),
    "unknown effect": (
        {"meta": {"on_failure": "stop"}},
        "on_failure: input should be 'hold', 'reject' or 'warn', found 'stop'",
    ),
    "absence that passes": ({"meta": {"on_missing": "pass"}}, "on_missing: input should be 'hold', 'warn' or 'ignore'"),
    "empty reason": ({"meta": {"why": " "}}, "meta.why"),
    "unknown meta": ({"meta": {"on_mising": "hold"}}, "meta.on_mising is no key that is known here"),
    "code with markup": ({"meta": {"code": "<b>"}}, "meta.code"),
}


@pytest.mark.parametrize(("change", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_could_pass_unchecked_is_refused(
    write: Callable[..., Path], between: Build, change: dict[str, Any], message: str
) -> None:
    path = write(between("reward_end", min_value=0), changed(between("kl_end", max_value=1), change))
    with pytest.raises(SuiteError, match=message) as caught:
        load_suite(path, KNOWN)
    assert str(caught.value).startswith(f"{path}, expectations[1]")
    assert "\n" not in str(caught.value)


def changed(expectation: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """Apply a change; an ellipsis removes the key."""
    result = deepcopy(expectation)
    for key, value in change.items():
        if value is ...:
            del result[key]
        elif isinstance(value, dict) and isinstance(result[key], dict):
            result[key] = changed(result[key], value)
        else:
            result[key] = value
    return result


def test_an_empty_suite_is_refused(write: Callable[..., Path]) -> None:
    with pytest.raises(SuiteError, match="expectations: list should have at least 1 item"):
        load_suite(write(), KNOWN)


def test_the_number_of_further_errors_is_told(write: Callable[..., Path], between: Build) -> None:
    bad = between("kl_end", max_value=1, mostly=0.1) | {"severity": 3}
    with pytest.raises(SuiteError, match=r"\(1 more such errors\)"):
        load_suite(write(bad), KNOWN)


def test_an_unknown_column_is_refused_and_the_closest_are_named_first(
    write: Callable[..., Path], between: Build
) -> None:
    with pytest.raises(
        SuiteError, match=r"expectations\[0\]: unknown column 'reward_ends'; known are reward_end, "
    ) as caught:
        load_suite(write(between("reward_ends", min_value=0)), KNOWN)
    assert all(column in str(caught.value) for column in KNOWN)


def test_columns_that_differ_only_in_case_are_refused(write: Callable[..., Path], between: Build) -> None:
    path = write(between("kl_end", max_value=1), between("KL_end", max_value=1))
    with pytest.raises(SuiteError, match=r"expectations\[1\]: column 'KL_end' differs from another only in case"):
        load_suite(path, ("kl_end", "KL_end"))


@pytest.mark.parametrize("same", [{}, {"strict_max": False}])
def test_a_repeated_expectation_is_refused(write: Callable[..., Path], between: Build, same: dict[str, Any]) -> None:
    path = write(between("kl_end", max_value=1), between("kl_end", max_value=1.0, on_failure="warn", **same))
    with pytest.raises(SuiteError, match=r"expectations\[1\]: repeats expectations\[0\]"):
        load_suite(path, KNOWN)


def test_a_presence_check_has_one_effect(write: Callable[..., Path], present: Build) -> None:
    contradictory = changed(present("kl_end"), {"meta": {"on_missing": "ignore"}})
    with pytest.raises(SuiteError, match="on_missing must equal on_failure"):
        load_suite(write(contradictory), KNOWN)


@pytest.mark.parametrize("values", [[], [True, 1], ["a", 1], [None], [[1]]])
def test_a_value_set_is_of_one_kind_and_not_empty(write: Callable[..., Path], in_set: Build, values: list[Any]) -> None:
    with pytest.raises(SuiteError, match=r"expectations\[0\].kwargs.value_set"):
        load_suite(write(in_set("kl_end", values)), KNOWN)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not usable as JSON"),
        ("{", "not usable as JSON"),
        ("[]", "input should be a valid dictionary"),
        ('{"name": "a", "name": "b", "expectations": []}', "the key 'name' stands twice"),
        ('{"name": "a", "expectations": NaN}', "NaN is not a number"),
        ('{"name": "a", "expectations": [-Infinity]}', "-Infinity is not a number"),
        ("[" * 100_000, "not usable as JSON"),
        ('{"expectations": []}', "name is required"),
        ('{"name": "a", "expectation": []}', "expectations is required"),
    ],
)
def test_a_file_that_is_no_suite_is_refused_in_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "suite.json"
    path.write_text(text)
    with pytest.raises(SuiteError, match=message) as caught:
        load_suite(path, KNOWN)
    assert str(caught.value).startswith(str(path))


def test_a_limit_that_overflows_is_refused(write: Callable[..., Path], between: Build) -> None:
    path = write(between("kl_end", max_value=1))
    path.write_text(path.read_text().replace('"max_value": 1', '"max_value": 1e999'))
    with pytest.raises(SuiteError, match="max_value: input should be a finite number"):
        load_suite(path, KNOWN)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "suite.json"
    path.write_bytes(b"\x80\x81")
    with pytest.raises(SuiteError, match="not usable as JSON"):
        load_suite(path, KNOWN)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match=r"absent\.json: the suite cannot be read: No such file"):
        load_suite(tmp_path / "absent.json", KNOWN)


def test_one_changed_byte_changes_the_hash(write: Callable[..., Path], present: Build) -> None:
    path = write(present("kl_end"))
    before = load_suite(path, KNOWN)
    path.write_text(json.dumps(json.loads(path.read_text()), indent=1))
    after = load_suite(path, KNOWN)
    assert after.expectations == before.expectations
    assert after.sha256 != before.sha256
